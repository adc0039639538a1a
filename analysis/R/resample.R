# Bootstrap for statistics without a linear form: blocks only, and never with fewer than 20 of them.

LEAST_BLOCKS <- 20L

#' BCa interval of a statistic, acceleration by jackknife (Efron and Tibshirani 1993).
#'
#' @param x one value per block; `statistic` a function of such values; `level` coverage; `times` resamples.
bca_interval <- function(x, statistic, level = 0.95, times = 2000L, seed = 1L) {
  if (length(x) < LEAST_BLOCKS) abort(sprintf("a bootstrap over %d blocks would cover far less than it says",
                                              length(x)), "at least 20 blocks")
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  theta <- statistic(x)
  draws <- vapply(seq_len(times), function(i) statistic(sample(x, replace = TRUE)), 0)
  z0 <- stats::qnorm(mean(draws < theta))
  z <- stats::qnorm(c((1 - level) / 2, (1 + level) / 2))
  a <- jackknife_acceleration(x, statistic)
  ends <- stats::pnorm(z0 + (z0 + z) / (1 - a * (z0 + z)))
  list(theta = theta, lo = unname(stats::quantile(draws, ends[1])), hi = unname(stats::quantile(draws, ends[2])),
       acceleration = a)
}

jackknife_acceleration <- function(x, statistic) {
  left_out <- vapply(seq_along(x), function(i) statistic(x[-i]), 0)
  away <- mean(left_out) - left_out
  sum(away^3) / (6 * sum(away^2)^1.5)
}

plug_in_variance <- function(x) mean((x - mean(x))^2)

#' Every resample of a tiny sample, for known answers.
enumerate_resamples <- function(x, statistic = mean) {
  n <- length(x)
  grid <- as.matrix(expand.grid(rep(list(seq_len(n)), n)))
  apply(grid, 1, function(row) statistic(x[row]))
}

#' Every two-level resample: groups with replacement, then values inside each drawn group.
enumerate_two_level <- function(groups) {
  inner <- lapply(groups, function(g) enumerate_resamples(g))
  outer <- as.matrix(expand.grid(rep(list(seq_along(groups)), length(groups))))
  unlist(apply(outer, 1, function(row) rowMeans(expand.grid(inner[row])), simplify = FALSE))
}

#' Population variance, as enumeration needs it.
population_variance <- function(x) mean((x - mean(x))^2)
