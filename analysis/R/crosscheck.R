# The mixed model beside the t over blocks: a cross-check, never the verdict.

#' Fit log(y) ~ cell + position + (1 | block) + (1 | block:cell) and take the link's contrast, Kenward-Roger.
#'
#' Terms that cannot be fitted are dropped and named: block:cell needs more than one run per boot, and a singular fit
#' loses it, too. lme4, lmerTest and pbkrtest are loaded only here.
#' @return list: estimate, lo, hi (95 %, working scale), note ("" when nothing was dropped; NA numbers when it failed).
lmer_contrast <- function(data, link) {
  failed <- function(why) list(estimate = NA_real_, lo = NA_real_, hi = NA_real_, note = why)
  if (link$scale != "log" || any(vapply(link$terms, `[[`, "",
                                        "stat") != "mean")) return(failed("not a contrast of means of logs"))
  if (length(unique(vapply(link$terms, `[[`, "", "metric"))) > 1L) return(failed("several metrics"))
  rows <- contrast_rows(data, link)
  fitted <- fit_mixed(rows$data)
  if (is.null(fitted$fit)) return(failed(fitted$note))
  weights <- c(rows$weights, rep(0, length(lme4::fixef(fitted$fit)) - length(rows$weights)))
  found <- tryCatch(suppressMessages(lmerTest::contest1D(fitted$fit, weights, ddf = "Kenward-Roger", confint = TRUE)),
                    error = function(e) NULL)
  if (is.null(found)) return(failed("Kenward-Roger failed"))
  list(estimate = found$Estimate, lo = found$lower, hi = found$upper, note = fitted$note)
}

#' The runs behind a link, and the weight of every cell.
contrast_rows <- function(data, link) {
  parts <- lapply(link$terms, function(term) {
    cells <- as.character(match_cells(data, term$where))
    data.table::data.table(cell = cells, weight = term$weight / length(cells))
  })
  weights <- data.table::rbindlist(parts)[, .(weight = sum(weight)), by = cell][order(cell)]
  name <- link$terms[[1]]$metric
  rows <- data$rows[metric == name & cell %in% weights$cell & status == "ok"]
  rows <- rows[, .(y = log(value), cell = factor(cell, levels = weights$cell), block = factor(block),
                   position = position - mean(position))]
  list(data = rows, weights = weights$weight)
}

fit_mixed <- function(rows) {
  several <- any(rows[, .N, by = .(block, cell)]$N > 1L)
  shifted <- data.table::uniqueN(rows$position) > 1L
  fixed <- if (shifted) "y ~ 0 + cell + position" else "y ~ 0 + cell"
  full <- paste(fixed, "+ (1 | block) + (1 | block:cell)")
  plain <- paste(fixed, "+ (1 | block)")
  fit <- try_lmer(if (several) full else plain, rows)
  if (several && !is.null(fit) && lme4::isSingular(fit)) return(list(fit = try_lmer(plain, rows),
      note = "singular: block:cell dropped"))
  said <- if (several) "" else "one run per boot: no block:cell term"
  list(fit = fit, note = if (is.null(fit)) "the mixed model failed" else said)
}

try_lmer <- function(formula, rows) {
  tryCatch(suppressMessages(suppressWarnings(lmerTest::lmer(stats::as.formula(formula), data = rows, REML = TRUE))),
           error = function(e) NULL)
}

#' Words for the estimates table: does the mixed model disagree by more than 10 % of the half-width?
crosscheck_note <- function(s, mixed) {
  if (is.na(mixed$estimate)) return(mixed$note)
  half <- diff(s$ci95) / 2
  off <- abs(mixed$estimate - s$estimate) > 0.1 * half || abs((mixed$hi - mixed$lo) / 2 - half) > 0.1 * half
  paste(c(if (off) "differs from the t over blocks by more than 10 % of its half-width" else "agrees",
          mixed$note[nzchar(mixed$note)]),
        collapse = "; ")
}

#' Fill the lmer columns of the estimates that were not withheld.
add_crosscheck <- function(estimates, data, outs) {
  for (id in names(outs)) {
    for (s in outs[[id]]$stats) {
      mixed <- lmer_contrast(data, s$link)
      shown <- exact(from_scale(c(mixed$estimate, mixed$lo, mixed$hi), s$link$scale))
      at <- which(estimates$claim == id & estimates$link == s$link$id)
      data.table::set(estimates, at, c("lmer_estimate", "lmer_lo", "lmer_hi", "lmer_note"),
                      list(shown[1], shown[2], shown[3], crosscheck_note(s, mixed)))
    }
  }
  estimates
}
