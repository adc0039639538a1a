# Order statistics: intervals for medians and quantiles that assume no distribution.

#' Ranks j, n + 1 - j of the narrowest symmetric interval for the median with at least `level` coverage.
#'
#' @return list: lo, hi (NA when n is too small), coverage of the interval, or of the widest one when there is none.
#' @source Le Boudec (2010); David and Nagaraja.
median_ci_ranks <- function(n, level = 0.95) {
  coverage <- function(j) 1 - 2 * stats::pbinom(j - 1, n, 0.5)
  good <- Filter(function(j) coverage(j) >= level, seq_len(floor(n / 2)))
  if (!length(good)) return(list(lo = NA_integer_, hi = NA_integer_, coverage = coverage(1)))
  list(lo = max(good), hi = n + 1L - max(good), coverage = coverage(max(good)))
}

#' Binomial ranks for quantile p of n values, normal-width start widened until the coverage is reached.
#'
#' @return list: lo, hi, coverage = P(lo <= B < hi) for B binomial.
quantile_ci_ranks <- function(n, p, level = 0.95) {
  lo <- stats::qbinom((1 - level) / 2, n, p)
  hi <- stats::qbinom((1 + level) / 2, n, p) + 1
  list(lo = lo, hi = hi, coverage = stats::pbinom(hi - 1, n, p) - stats::pbinom(lo - 1, n, p))
}

#' Least n at which the largest value is an upper 95 % bound of quantile p: 1 - p^n >= level.
least_n_for_bound <- function(p, level = 0.95) as.integer(ceiling(log(1 - level) / log(p)))

#' Arithmetic, geometric and harmonic mean of rates: equal time, ratios between configurations, equal work.
means_of_rates <- function(x) list(arithmetic = mean(x), geometric = exp(mean(log(x))), harmonic = 1 / mean(1 / x))
