# The verdict procedure of methods 2.3: gate, count, negligible first, Holm in the family, then the sign.

ALPHA <- 0.05
# The least number of blocks that can decide a claim, and the greatest share of planned ones that may be missing.
MIN_BLOCKS <- 3L
MAX_LOST <- 0.2
VERDICTS <- c("REPLICATED", "NOT REPLICATED", "INCONCLUSIVE", "NOT TESTABLE HERE", "EFFECT FOUND", "EQUIVALENT",
              "EXPLORATORY")

verdict <- function(verdict, detail, ...) list(verdict = verdict, detail = detail, ...)

#' Steps 0 and 1: what stops a claim before any estimate is looked at; NULL when nothing does.
#'
#' There is no way to switch the class gate off.
stopped_early <- function(prepared) {
  claim <- prepared$claim
  if (claim$estimator$kind == "none") return(verdict("NOT TESTABLE HERE", "no estimator"))
  if (!is.null(prepared$absent)) return(verdict("NOT TESTABLE HERE", "absent"))
  if (match(prepared$class, CLASSES) < match(claim$min_class, CLASSES)) return(verdict("NOT TESTABLE HERE", "class"))
  if (claim$type == "lint") return(NULL)
  if (prepared$n == 0L) return(verdict("NOT TESTABLE HERE", "no data"))
  if (prepared$n < MIN_BLOCKS) return(verdict("INCONCLUSIVE", "n"))
  if (lost_share(prepared) > MAX_LOST) return(verdict("INCONCLUSIVE", "attrition"))
  NULL
}

#' Share of the planned blocks (for claims about single boots: of the planned boots) that is missing.
lost_share <- function(prepared) {
  planned <- prepared$planned * or_else(prepared$expected, 1L)
  have <- if (is.null(prepared$units)) prepared$n else data.table::uniqueN(prepared$units$unit)
  1 - have / planned
}

#' Statistics of every link of a claim: t interval, and TOST where the claim is an equality.
link_statistics <- function(prepared) {
  claim <- prepared$claim
  margin <- if (claim$type == "eq") abs(to_scale(claim$margin, claim$estimator$scale)) else NA_real_
  lapply(prepared$links, function(link) {
    s <- respect_bound(one_statistic(link), bound_side(link))
    s$link <- link
    s$margin <- margin
    # Neither side of an equality can be shown where the other end is open.
    if (claim$type == "eq") s$tost <- tost(s$estimate, s$se, s$df, link$null, margin)
    if (claim$type == "eq" && nzchar(bound_side(link))) s$tost$p <- 1
    s
  })
}

#' The t over blocks; Welch's t where the groups have no blocks in common; a model's fit where one stands in for it.
one_statistic <- function(link) {
  fit <- link$fit
  if (!is.null(fit)) return(t_statistics(length(link$d), fit$estimate, NA_real_, fit$se, fit$df, link$null))
  if (length(link$arms)) return(welch_contrast(link$arms, link$null, link$floor))
  t_interval(link$d, link$null, link$floor)
}

#' How many blocks a link has; without common blocks, boots of its smallest group.
link_size <- function(link) {
  if (length(link$arms)) min(vapply(link$arms, function(arm) length(arm$x), 0L)) else length(link$d)
}

#' The p-value a claim brings to its family, and the side it speaks for: "claimed" or "reversed".
claim_p <- function(claim, stats) {
  if (claim$type == "eq") return(list(p = max(vapply(stats, function(s) s$tost$p, 0)), side = "claimed"))
  right <- vapply(stats, side_p, 0, direction = claim$direction)
  wrong <- vapply(stats, side_p, 0, direction = opposite(claim$direction))
  if (claim$direction == "two-sided") {
    either <- pmin(1, 2 * pmin(right, wrong))
    return(list(p = if (claim$combine == "any") min(holm(either)) else max(either), side = "claimed"))
  }
  # A direction tested at two-sided 5 % is one side at 2.5 %, hence the factor 2; orders are one-sided by definition.
  sides <- if (claim$type == "ord") 1 else 2
  for_claim <- if (claim$combine == "any") min(holm(pmin(1, sides * right))) else max(pmin(1, sides * right))
  against <- if (claim$combine == "any") max(pmin(1, sides * wrong)) else min(1, sides * length(wrong) * min(wrong))
  if (for_claim <= against) list(p = for_claim, side = "claimed") else list(p = against, side = "reversed")
}

opposite <- function(direction) switch(direction, greater = "less", less = "greater", direction)

side_p <- function(s, direction) switch(direction, greater = s$p_greater, less = s$p_less, min(s$p_greater, s$p_less))

#' Decide every claim of a study at once, because Holm needs the family.
#'
#' @param prepared list from prepare_estimates().
#' @return list of verdicts (verdict, detail, stats, p, p_adj), in the order given.
decide_all <- function(prepared) {
  early <- lapply(prepared, stopped_early)
  stats <- Map(function(item, stop) if (is.null(stop) && length(item$links)) link_statistics(item), prepared, early)
  ps <- Map(function(item, s) if (length(s)) claim_p(item$claim, s), prepared, stats)
  p <- vapply(ps, function(x) if (is.null(x)) NA_real_ else x$p, 0)
  adjusted <- adjust_by_family(p, prepared)
  Map(function(item, stop, s, test, p_adj) {
    out <- if (is.null(stop)) decide(item, s, test, p_adj) else stop
    out <- say_censoring(out, item)
    if (item$claim$exploratory && is.null(stop)) out <- verdict("EXPLORATORY", "exploratory")
    c(out, list(stats = s, p = or_else(test$p, NA_real_), p_adj = p_adj))
  }, prepared, early, stats, ps, adjusted)
}

adjust_by_family <- function(p, prepared) {
  families <- vapply(prepared, function(item) {
    if (is.null(item$claim$family) || item$claim$exploratory) NA_character_ else item$claim$family
  }, "")
  out <- p
  for (family in unique(stats::na.omit(families))) {
    members <- which(families == family)
    out[members] <- holm(p[members])
  }
  out
}

decide <- function(item, stats, test, p_adj) {
  switch(item$claim$type,
    eq = decide_equal(stats, p_adj), ord = decide_order(test, p_adj), det = decide_predicate(item$units),
    lint = decide_lint(item$lint), decide_direction(item$claim, stats, test, p_adj)
  )
}

#' dir, trend, disp: negligible first, then the sign.
decide_direction <- function(claim, stats, test, p_adj) {
  delta0 <- default_delta0(claim)
  small <- vapply(stats, function(s) inside(s$ci90, s$link$null - delta0, s$link$null + delta0), TRUE)
  negligible <- if (claim$combine == "any") all(small) else any(small)
  if (claim$direction == "two-sided") return(decide_two_sided(claim, stats, p_adj, negligible))
  if (negligible) {
    at_threshold <- any(vapply(stats, function(s) abs(s$link$null) > 1e-12, TRUE))
    return(verdict("NOT REPLICATED", if (at_threshold) "at the threshold" else "negligible"))
  }
  if (p_adj >= ALPHA) return(verdict("INCONCLUSIVE", "interval"))
  if (test$side == "claimed") verdict("REPLICATED", "") else verdict("NOT REPLICATED", "contradicted")
}

#' No sign was published: REPLICATED is not available.
decide_two_sided <- function(claim, stats, p_adj, negligible) {
  if (negligible) return(verdict("EQUIVALENT", "within the margin"))
  if (p_adj >= ALPHA) return(verdict("INCONCLUSIVE", "interval"))
  # Where one link is enough, the clearest one says which way.
  p <- vapply(stats, function(s) s$p, 0)
  speaking <- if (claim$combine == "any") stats[which.min(p)] else stats
  up <- unique(vapply(speaking, function(s) s$estimate > s$link$null, TRUE))
  verdict("EFFECT FOUND", if (length(up) > 1L) "both ways" else if (up) "positive" else "negative")
}

#' eq: TOST of every link; refuted when an interval lies outside the margin (Bonferroni over the links, as any one
#' refutes).
decide_equal <- function(stats, p_adj) {
  if (p_adj < ALPHA) return(verdict("REPLICATED", ""))
  outside <- vapply(stats, function(s) {
    range <- bounded(t_range(s$estimate, s$se, s$df, 1 - ALPHA / length(stats)), bound_side(s$link))
    disjoint(range, s$link$null - s$margin, s$link$null + s$margin)
  }, TRUE)
  if (any(outside)) verdict("NOT REPLICATED", "contradicted") else verdict("INCONCLUSIVE", "interval")
}

#' ord: intersection-union over the links.
decide_order <- function(test, p_adj) {
  if (p_adj >= ALPHA) return(verdict("INCONCLUSIVE", "interval"))
  if (test$side == "claimed") verdict("REPLICATED", "") else verdict("NOT REPLICATED", "contradicted")
}

#' det: all true, all false, or mixed; a unit is true when everything required of it is.
decide_predicate <- function(units) {
  by_unit <- units[, .(ok = all(ok)), by = unit]
  if (all(by_unit$ok)) return(verdict("REPLICATED", "", held = nrow(by_unit), of = nrow(by_unit)))
  if (!any(by_unit$ok)) return(verdict("NOT REPLICATED", "contradicted", held = 0L, of = nrow(by_unit)))
  verdict("INCONCLUSIVE", "mixed", held = sum(by_unit$ok), of = nrow(by_unit))
}

decide_lint <- function(lint) {
  lint <- lint[quotation == FALSE]
  if (all(lint$pass)) return(verdict("REPLICATED", "", held = nrow(lint), of = nrow(lint)))
  verdict("NOT REPLICATED", "contradicted", held = sum(lint$pass), of = nrow(lint))
}

#' A run that was cut off bounds an estimate from one side: nothing is excluded beyond the other, nor tested there.
#'
#' @param side "", "lower" (the truth lies above), "upper" or "both".
respect_bound <- function(s, side) {
  if (!nzchar(side)) return(s)
  s$ci95 <- bounded(s$ci95, side)
  s$ci90 <- bounded(s$ci90, side)
  if (side != "upper") s$p_less <- 1
  if (side != "lower") s$p_greater <- 1
  s$p <- min(1, 2 * min(s$p_less, s$p_greater))
  s
}

bounded <- function(range, side) {
  if (side %in% c("lower", "both")) range[2] <- Inf
  if (side %in% c("upper", "both")) range[1] <- -Inf
  range
}

bound_side <- function(link) or_else(link$censored, "")

#' What is left open because runs were cut off says so.
say_censoring <- function(out, item) {
  censored <- any(nzchar(vapply(item$links, bound_side, "")))
  if (censored && out$verdict == "INCONCLUSIVE" && out$detail == "interval") out$detail <- "censored"
  out
}

#' Magnitude, a field of its own: consistent, different, undetermined, or not assessable.
#'
#' @param s statistics of one link on the working scale.
magnitude <- function(claim, s) {
  band <- magnitude_band(claim, s$link$published)
  if (is.null(band)) return("not assessable")
  if (inside(s$ci90, band[1], band[2])) return("consistent")
  if (disjoint(s$ci95, band[1], band[2])) return("different")
  "undetermined"
}

#' The band in which an effect agrees with the published one; NULL when it would cover "no effect".
magnitude_band <- function(claim, published) {
  scale <- claim$estimator$scale
  if (!is.null(claim$magnitude_interval)) return(sort(to_scale(claim$magnitude_interval, scale)))
  if (is.na(published) || is.null(claim$margin) || claim$type %in% c("eq", "det", "lint")) return(NULL)
  reach <- if (scale == "log") max(log(1.25), 0.25 * abs(published)) else 0.25 * abs(published)
  band <- published + c(-1, 1) * reach
  if (band[1] <= 0 && band[2] >= 0) NULL else band
}
