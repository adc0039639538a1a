# Intervals and tests on a handful of block contrasts. Everything here takes and returns plain numbers.

#' Student t over blocks (methods 1.2): the one engine for nearly all claims.
#'
#' @param d one contrast per block, on the claim's scale (logs of ratios, or differences).
#' @param null the value under test, same scale.
#' @param floor smallest believable sd: resolution / sqrt(12) on the claim's scale.
#' @return list: n, estimate, sd, floor_used, se, df, ci95, ci90, p (two-sided against null), p_greater, p_less.
t_interval <- function(d, null = 0, floor = 0) {
  n <- length(d)
  spread <- if (n > 1) stats::sd(d) else NA_real_
  floor_used <- n > 1 && floor > 0 && spread < floor
  if (floor_used) spread <- floor
  t_statistics(n, if (n) mean(d) else NA_real_, spread, spread / sqrt(n), n - 1, null, floor_used)
}

#' What a t with these numbers says: intervals at 95 and 90 %, and p against the null, two-sided and by side.
t_statistics <- function(n, estimate, sd, se, df, null, floor_used = FALSE) {
  distance <- estimate - null
  t <- if (is.na(se)) NA_real_ else if (se > 0) distance / se else if (distance == 0) 0 else sign(distance) * Inf
  list(
    n = n, estimate = estimate, sd = sd, floor_used = floor_used, se = se, df = df,
    ci95 = t_range(estimate, se, df, 0.95), ci90 = t_range(estimate, se, df, 0.90),
    p = p_t(-abs(t), df) * 2, p_greater = p_t(-t, df), p_less = p_t(t, df)
  )
}

#' Welch's t for a contrast of groups that share no blocks, with Satterthwaite's df.
#'
#' @param arms list of list(weight, x): the boots of each group, on the claim's scale; `floor` as in t_interval.
welch_contrast <- function(arms, null = 0, floor = 0) {
  n <- vapply(arms, function(arm) length(arm$x), 0L)
  weights <- vapply(arms, `[[`, 0, "weight")
  estimate <- if (all(n > 0)) sum(weights * vapply(arms, function(arm) mean(arm$x), 0)) else NA_real_
  if (any(n < 2)) return(t_statistics(min(n), estimate, NA_real_, NA_real_, 0, null))
  spread <- vapply(arms, function(arm) stats::sd(arm$x), 0)
  floored <- pmax(spread, floor)
  parts <- weights^2 * floored^2 / n
  df <- if (sum(parts) > 0) sum(parts)^2 / sum(parts^2 / (n - 1)) else min(n) - 1
  t_statistics(min(n), estimate, NA_real_, sqrt(sum(parts)), df, null, any(floored > spread))
}

p_t <- function(t, df) if (is.na(t) || df < 1) NA_real_ else stats::pt(t, df)

#' Two-sided t interval at a level.
t_range <- function(estimate, se, df, level) {
  if (is.na(se) || df < 1) return(c(NA_real_, NA_real_))
  estimate + c(-1, 1) * stats::qt((1 + level) / 2, df) * se
}

#' TOST (Schuirmann 1987): two one-sided t tests against null - margin and null + margin.
#'
#' @return list: p_lo, p_hi, p (the larger one); equivalent at level a when p < a.
tost <- function(estimate, se, df, null, margin) {
  p_lo <- p_t_stat(estimate - (null - margin), se, df)
  p_hi <- p_t_stat((null + margin) - estimate, se, df)
  list(p_lo = p_lo, p_hi = p_hi, p = max(p_lo, p_hi))
}

p_t_stat <- function(distance, se, df) {
  if (is.na(se) || df < 1) return(NA_real_)
  if (se == 0) return(as.numeric(distance <= 0))
  stats::pt(distance / se, df, lower.tail = FALSE)
}

#' Holm (1979); a missing p stays missing and does not count.
holm <- function(p) stats::p.adjust(p, "holm")

inside <- function(range, low, high) !anyNA(range) && range[1] > low && range[2] < high
disjoint <- function(range, low, high) !anyNA(range) && (range[2] < low || range[1] > high)

#' Ratio of two independent groups by Welch's t on logs.
#'
#' @param x,y positive values.
#' @return list: ratio, lo, hi (95 %), df, se (of the log ratio), p.
welch_log_ratio <- function(x, y, level = 0.95) {
  if (any(c(x, y) <= 0)) abort("log of non-positive value", "expected values > 0")
  if (min(length(x), length(y)) < 2) return(list(ratio = exp(mean(log(x)) - mean(log(y))), lo = NA, hi = NA, df = NA,
                                                 se = NA, p = NA))
  a <- stats::var(log(x)) / length(x)
  b <- stats::var(log(y)) / length(y)
  se <- sqrt(a + b)
  df <- se^4 / (a^2 / (length(x) - 1) + b^2 / (length(y) - 1))
  estimate <- mean(log(x)) - mean(log(y))
  range <- exp(t_range(estimate, se, df, level))
  list(ratio = exp(estimate), lo = range[1], hi = range[2], df = df, se = se,
       p = 2 * stats::pt(-abs(estimate / se), df))
}

#' Ratio of two means from printed mean, sd and n: delta method on logs, Welch-Satterthwaite df.
#'
#' @return list: ratio, lo, hi, df, se (of the log ratio).
delta_log_ratio <- function(mean_x, sd_x, n_x, mean_y, sd_y, n_y, level = 0.95) {
  a <- (sd_x / mean_x)^2 / n_x
  b <- (sd_y / mean_y)^2 / n_y
  df <- (a + b)^2 / (a^2 / (n_x - 1) + b^2 / (n_y - 1))
  range <- exp(t_range(log(mean_x / mean_y), sqrt(a + b), df, level))
  list(ratio = mean_x / mean_y, lo = range[1], hi = range[2], df = df, se = sqrt(a + b))
}

#' Prediction interval for a replication of a published log effect: p +- t sqrt(se_pub^2 + se_rep^2).
#'
#' @return the interval as ratios.
prediction_interval <- function(published, se_published, se_replication, df, level = 0.95) {
  exp(t_range(log(published), sqrt(se_published^2 + se_replication^2), df, level))
}

#' Fieller interval of a ratio of means, separate variances and Welch's df; NA with a reason when the denominator may
#' be zero.
fieller <- function(x, y, level = 0.95) {
  a <- stats::var(x) / length(x)
  b <- stats::var(y) / length(y)
  df <- (a + b)^2 / (a^2 / (length(x) - 1) + b^2 / (length(y) - 1))
  ratio <- mean(x) / mean(y)
  t <- stats::qt((1 + level) / 2, df)
  g <- t^2 * b / mean(y)^2
  if (g >= 1) return(list(ratio = ratio, lo = NA_real_, hi = NA_real_,
                          reason = "the interval of the denominator covers 0"))
  half <- t / abs(mean(y)) * sqrt(a * (1 - g) + ratio^2 * b)
  range <- (ratio + c(-1, 1) * half) / (1 - g)
  list(ratio = ratio, lo = range[1], hi = range[2], reason = NA_character_)
}

#' sd that a timer of this resolution cannot hide: uniform rounding error.
resolution_floor <- function(resolution) resolution / sqrt(12)
