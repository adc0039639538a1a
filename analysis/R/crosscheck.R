# The mixed model beside the t over blocks: a cross-check, and one of the ways a verdict can prove fragile.

MIXED_PACKAGES <- c("lme4", "lmerTest", "pbkrtest")
# Above this many runs a balanced link is fitted to its boot means: Kenward and Roger's matrices grow with the square.
MOST_RUNS <- 240L

#' Fit y ~ cell + position + (1 | block) + (1 | block:cell) and take the link's contrast, Kenward-Roger.
#'
#' A trend has (1 + run | block:cell) and its contrast is one of slopes. Terms that cannot be fitted are dropped and
#' named: block:cell needs more than one run per boot, and a singular fit loses it, too.
#' @return list: estimate, se, df, lo, hi (95 %, working scale), note ("" when nothing was dropped; NA numbers when it
#'   failed, and then the t over blocks stands alone).
lmer_contrast <- function(data, link) {
  failed <- function(why) {
    list(estimate = NA_real_, se = NA_real_, df = NA_real_, lo = NA_real_, hi = NA_real_, note = why)
  }
  why <- why_not_mixed(link)
  if (!is.null(why)) return(failed(why))
  rows <- contrast_rows(data, link)
  if (data.table::uniqueN(rows$data$block) < 2L) return(failed("one block: no mixed model"))
  fitted <- if (rows$stat == "slope") fit_slopes(rows$data) else fit_mixed(rows$data)
  if (is.null(fitted$fit)) return(failed(fitted$note))
  found <- mixed_contrast(fitted$fit, rows)
  if (is.null(found)) return(failed("Kenward-Roger failed"))
  c(found, list(note = paste(c(rows$note, fitted$note)[nzchar(c(rows$note, fitted$note))], collapse = "; ")))
}

#' What a mixed model of one metric cannot say; NULL when it can.
why_not_mixed <- function(link) {
  absent <- MIXED_PACKAGES[!vapply(MIXED_PACKAGES, requireNamespace, TRUE, quietly = TRUE)]
  if (length(absent)) return(sprintf("R package %s is not installed", absent[1]))
  one <- function(key) unique(vapply(link$terms, function(term) paste(deparse(term[[key]]), collapse = ""), ""))
  if (length(link$arms)) return("groups without common blocks")
  if (length(one("metric")) > 1L) return("several metrics")
  linear <- length(one("stat")) == 1L && link$terms[[1]]$stat %in% c("mean", "slope")
  if (!linear) return("not a contrast of means or slopes")
  if (length(one("transform")) > 1L) return("several transformations")
  other <- length(one("runs")) > 1L || length(one("on")) > 1L || !is.null(link$terms[[1]]$on)
  if (other) return("a slope on another metric")
}

#' The runs behind a link, and the weight of every cell.
contrast_rows <- function(data, link) {
  parts <- lapply(link$terms, function(term) {
    cells <- as.character(match_cells(data, term$where))
    data.table::data.table(cell = cells, weight = term$weight / length(cells))
  })
  weights <- data.table::rbindlist(parts)[, .(weight = sum(weight)), by = cell][order(cell)]
  first <- link$terms[[1]]
  name <- first$metric
  rows <- data$rows[metric == name & cell %in% weights$cell & status == "ok"]
  if (!is.null(first$runs)) rows <- rows[run %in% unlist(first$runs)]
  how <- or_else(first$transform, link$scale)
  rows <- rows[, .(y = transformed(value, how), cell = factor(cell, levels = weights$cell),
                   block = factor(block), position = position - mean(position), run = run - mean(run))]
  small <- if (nrow(rows) > MOST_RUNS && first$stat == "mean") boot_means(rows)
  list(data = or_else(small, rows), weights = weights$weight, stat = first$stat,
       note = if (is.null(small)) "" else "on boot means")
}

#' Boot means when every boot has the same number of runs, as then they say all that the runs say; NULL otherwise.
boot_means <- function(rows) {
  if (data.table::uniqueN(rows[, .N, by = .(block, cell)]$N) > 1L) return(NULL)
  rows[, .(y = mean(y), position = position[1], run = 0), by = .(block, cell)]
}

fixed_part <- function(rows, cells) {
  if (data.table::uniqueN(rows$position) > 1L) paste(cells, "+ position") else cells
}

fit_mixed <- function(rows) {
  several <- any(rows[, .N, by = .(block, cell)]$N > 1L)
  fixed <- fixed_part(rows, "y ~ 0 + cell")
  full <- paste(fixed, "+ (1 | block) + (1 | block:cell)")
  plain <- paste(fixed, "+ (1 | block)")
  fit <- try_lmer(if (several) full else plain, rows)
  if (several && !is.null(fit) && lme4::isSingular(fit) && no_boot_variance(fit)) {
    return(list(fit = try_lmer(plain, rows), note = "singular: block:cell dropped"))
  }
  said <- if (several) "" else "one run per boot: no block:cell term"
  list(fit = fit, note = if (is.null(fit)) "the mixed model failed" else said)
}

#' A block variance of zero is singular, too, and no reason to drop the boots.
no_boot_variance <- function(fit) lme4::VarCorr(fit)[["block:cell"]][1, 1] < 1e-10 * stats::sigma(fit)^2

fit_slopes <- function(rows) {
  fixed <- fixed_part(rows, "y ~ 0 + cell + cell:run")
  fit <- try_lmer(paste(fixed, "+ (1 | block) + (1 + run | block:cell)"), rows)
  if (!is.null(fit) && !lme4::isSingular(fit)) return(list(fit = fit, note = ""))
  simpler <- try_lmer(paste(fixed, "+ (1 | block:cell) + (0 + run | block:cell)"), rows)
  said <- if (is.null(simpler)) "the mixed model failed" else "singular: correlation and block dropped"
  list(fit = simpler, note = said)
}

try_lmer <- function(formula, rows) {
  tryCatch(suppressMessages(suppressWarnings(lmerTest::lmer(stats::as.formula(formula), data = rows, REML = TRUE))),
           error = function(e) NULL)
}

mixed_contrast <- function(fit, rows) {
  names <- names(lme4::fixef(fit))
  cells <- paste0("cell", levels(rows$data$cell), if (rows$stat == "slope") ":run")
  weights <- stats::setNames(numeric(length(names)), names)
  if (!all(cells %in% names)) return(NULL)
  weights[cells] <- rows$weights
  found <- tryCatch(suppressMessages(lmerTest::contest1D(fit, weights, ddf = "Kenward-Roger", confint = TRUE)),
                    error = function(e) NULL)
  if (is.null(found) || anyNA(found[c("Estimate", "Std. Error", "df")])) return(NULL)
  list(estimate = found$Estimate, se = found[["Std. Error"]], df = found$df, lo = found$lower, hi = found$upper)
}

#' The mixed model of every link that was decided, by claim.
mixed_models <- function(data, outs) {
  lapply(outs, function(out) lapply(out$stats, function(s) lmer_contrast(data, s$link)))
}

#' Words for the estimates table: does the mixed model disagree by more than 10 % of the half-width, and in what?
crosscheck_note <- function(s, mixed) {
  if (is.na(mixed$estimate)) return(paste0("t over blocks alone: ", mixed$note))
  half <- diff(s$ci95) / 2
  moved <- abs(mixed$estimate - s$estimate) / half
  wider <- (mixed$hi - mixed$lo) / 2 / half
  said <- c(if (moved > 0.1) sprintf("warning: the estimate differs by %.0f %% of the half-width", 100 * moved),
            if (abs(wider - 1) > 0.1) sprintf("warning: the half-width is %.2f times that of the t over blocks", wider))
  paste(c(if (is.null(said)) "agrees" else said, mixed$note[nzchar(mixed$note)]), collapse = "; ")
}

#' Fill the lmer columns of the estimates that were not withheld.
add_crosscheck <- function(estimates, outs, mixed) {
  for (id in names(outs)) {
    for (i in seq_along(outs[[id]]$stats)) {
      s <- outs[[id]]$stats[[i]]
      m <- mixed[[id]][[i]]
      shown <- exact(from_scale(c(m$estimate, m$lo, m$hi), s$link$scale))
      at <- which(estimates$claim == id & estimates$link == s$link$id)
      data.table::set(estimates, at, c("lmer_estimate", "lmer_lo", "lmer_hi", "lmer_note"),
                      list(shown[1], shown[2], shown[3], crosscheck_note(s, m)))
    }
  }
  estimates
}
