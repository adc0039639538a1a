# Levels that a claim can do without, such as a filesystem that needs another system: left out of it, and said.

#' The claim as these data can be asked it.
#'
#' @return the claim; when the data lack levels that it `may_lack`, expanded anew without them, and `lacking` says
#'   which.
without_lacking <- function(claim, data) {
  gone <- lacking_levels(claim$estimator$may_lack, data)
  if (!length(gone)) return(claim)
  claim$estimator <- drop_levels(claim$estimator, gone)
  if (length(unlist(claim$published_effect)) > 1L) claim["published_effect"] <- list(NULL)
  claim$lacking <- paste(Map(function(factor, levels) sprintf("%s %s", factor, paste(levels, collapse = ", ")),
                             names(gone), gone), collapse = "; ")
  expand_claim(claim)
}

#' By factor, the levels that no cell of the data has.
lacking_levels <- function(may_lack, data) {
  gone <- lapply(stats::setNames(names(may_lack), names(may_lack)), function(factor) {
    setdiff(unlist(may_lack[[factor]]), data$cells[[paste0("f_", factor)]])
  })
  Filter(length, gone)
}

#' Without these levels wherever an estimator lists levels: orders, pairs, repetitions and averages.
drop_levels <- function(x, gone) {
  if (!is.list(x)) return(x)
  if (!is.null(x$over)) x$levels <- keep_levels(x$levels, gone[[x$over]])
  for (name in intersect(c("where", "at", "foreach"), names(x))) {
    for (factor in intersect(names(gone), names(x[[name]]))) {
      x[[name]][[factor]] <- keep_levels(x[[name]][[factor]], gone[[factor]])
    }
  }
  lapply(x, drop_levels, gone)
}

keep_levels <- function(levels, gone) as.list(setdiff(unlist(levels), gone))
