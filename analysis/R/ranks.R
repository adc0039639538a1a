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

#' Hodges and Lehmann's shift between two samples with the exact interval of the rank-sum test.
#'
#' @return list: estimate, lo, hi, note: with ties the ranks are mid-ranks and no exact interval is claimed.
hodges_lehmann <- function(x, y, level = 0.95) {
  ties <- anyDuplicated(c(x, y)) > 0L
  if (min(length(x), length(y)) < 4L) {
    return(list(estimate = stats::median(outer(x, y, `-`)), lo = NA_real_, hi = NA_real_,
                note = "fewer than 4 values a group have no 95 % interval"))
  }
  found <- suppressWarnings(stats::wilcox.test(unname(x), unname(y), conf.int = TRUE, conf.level = level,
                                               exact = !ties))
  list(estimate = unname(found$estimate), lo = found$conf.int[1], hi = found$conf.int[2],
       note = if (ties) "ties: mid-ranks, the exact interval is refused" else "exact")
}

#' Arithmetic, geometric and harmonic mean of rates: equal time, ratios between configurations, equal work.
means_of_rates <- function(x) list(arithmetic = mean(x), geometric = exp(mean(log(x))), harmonic = 1 / mean(1 / x))
