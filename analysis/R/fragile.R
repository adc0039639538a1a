# Fragility: would the verdict change without one block, without the flagged outliers, or with the mixed model?

#' What the verdict of every claim hangs on.
#'
#' @param prepared,outs as decided with all data; `mixed` from mixed_models(), or NULL when it was not asked for.
#' @return data.table, one row per claim: `fragile` ("true", "false", "not assessed" when fewer than four blocks leave
#'   nothing to leave out, "" for what is not decided) and `why`, the changes that turn the verdict.
fragility <- function(data, prepared, outs, mixed = NULL) {
  words <- vapply(outs, `[[`, "", "verdict")
  lints <- vapply(prepared, function(item) item$claim$type == "lint", TRUE)
  decided <- !lints & words %in% c("REPLICATED", "NOT REPLICATED", "EFFECT FOUND", "EQUIVALENT", "INCONCLUSIVE")
  enough <- vapply(prepared, function(item) item$n > MIN_BLOCKS, TRUE)
  asked <- decided & enough
  if (!any(asked)) return(fragility_table(decided, enough, rep("", length(prepared))))
  without <- lapply(data$blocks, function(block) changes(prepared, words, function(item) without_block(item, block)))
  names(without) <- paste("without block", data$blocks)
  flagged <- outlier_rows(data)
  others <- list(
    "without the flagged outliers" = if (length(flagged)) changes_without_rows(data, prepared, words, flagged),
    "with the mixed model" = if (!is.null(mixed)) changes_with_model(prepared, words, mixed)
  )
  turned <- do.call(cbind, c(without, Filter(Negate(is.null), others)))
  fragility_table(decided, enough, apply(turned, 1, function(x) paste(colnames(turned)[x], collapse = "; ")))
}

fragility_table <- function(decided, enough, why) {
  word <- ifelse(!decided, "", ifelse(!enough, "not assessed", ifelse(nzchar(why), "true", "false")))
  data.table::data.table(fragile = word, why = ifelse(word == "true", why, ""))
}

changes <- function(prepared, words, drop) {
  again <- vapply(decide_all(lapply(prepared, drop)), `[[`, "", "verdict")
  again != words
}

#' The mixed model's estimate, standard error and df in place of the t over blocks, where there is one.
changes_with_model <- function(prepared, words, mixed) {
  swapped <- Map(function(item, models) {
    item$links <- lapply(seq_along(item$links), function(i) {
      link <- item$links[[i]]
      if (length(models) && !is.na(models[[i]]$estimate)) link$fit <- models[[i]]
      link
    })
    item
  }, prepared, mixed)
  vapply(decide_all(swapped), `[[`, "", "verdict") != words
}

#' One block fewer, planned and present alike, so that attrition is not what changes the verdict.
without_block <- function(item, block) {
  if (item$claim$type == "lint") return(item)
  item$planned <- item$planned - 1L
  item$links <- lapply(item$links, function(link) {
    link$d <- link$d[names(link$d) != as.character(block)]
    link$arms <- lapply(link$arms, function(arm) list(weight = arm$weight, x = arm$x[names(arm$x) != block]))
    link
  })
  if (length(item$links)) item$n <- min(vapply(item$links, link_size, 0L))
  if (!is.null(item$units)) {
    dropped <- block
    item$units <- item$units[block != dropped]
    item$complete <- setdiff(item$complete, dropped)
    item$n <- length(item$complete)
  }
  item
}

changes_without_rows <- function(data, prepared, words, flagged) {
  data$rows <- data.table::copy(data$rows)
  data$rows[row %in% flagged, c("status", "value") := list("invalid", NA_real_)]
  data$cache <- new.env()
  again <- lapply(prepared, function(item) {
    if (!any(item$rows %in% flagged)) return(item)
    made <- prepare_claim_data(data, item$claim, item$planned, item$lint)
    # What is left out is not missing: what is asked is what the rest would say.
    made$planned <- max(made$n, 1L)
    if (!is.null(made$units)) made$expected <- data.table::uniqueN(made$units$unit) / made$planned
    made
  })
  kept <- vapply(again, function(item) item$n >= MIN_BLOCKS, TRUE)
  vapply(decide_all(again), `[[`, "", "verdict") != words & kept
}

#' Rows that stand out among the runs of their cell (kept in every estimate, only flagged).
outlier_rows <- function(data) {
  usable <- data$rows[status == "ok" & !is.na(value)]
  found <- usable[, .(row = row[flag_outliers(value)]), by = .(cell, metric)]
  sort(found$row)
}

#' Median +- 3 (p90 - p10), with at least 10 values, or modified z > 3.5 (Iglewicz and Hoaglin), with at least 5.
#'
#' @return logical vector.
flag_outliers <- function(x) {
  bounds <- outlier_bounds(x)
  wide <- if (length(x) >= 10L) x < bounds[1] | x > bounds[2] else rep(FALSE, length(x))
  z <- if (length(x) >= 5L) abs(modified_z(x)) > 3.5 else rep(FALSE, length(x))
  wide | z
}

outlier_bounds <- function(x) {
  spread <- unname(stats::quantile(x, 0.9) - stats::quantile(x, 0.1))
  stats::median(x) + c(-3, 3) * spread
}

#' 0.6745 (x - median) / MAD; zero where the MAD is zero, since nothing can then be said about scale.
modified_z <- function(x) {
  deviation <- stats::median(abs(x - stats::median(x)))
  if (deviation == 0) return(rep(0, length(x)))
  0.6745 * (x - stats::median(x)) / deviation
}
