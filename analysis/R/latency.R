# fio's latency histogram bins, and percentiles of merged bins.

#' Index of the bin of a latency (fio's plat bins: 64 linear bins per octave).
#'
#' @param v latency, non-negative whole number (ns).
fio_bin <- function(v) {
  vapply(v, function(x) {
    if (x < 128) return(x)
    shift <- floor(log2(x)) - 6
    (shift + 1) * 64 + (x %/% 2^shift) %% 64
  }, 0)
}

#' The middle of a bin, within 1/128 of every value in it.
fio_bin_value <- function(index) {
  vapply(index, function(i) {
    if (i < 128) return(i)
    shift <- i %/% 64 - 1
    base <- (64 + i %% 64) * 2^shift
    base + 2^(shift - 1)
  }, 0)
}

#' Percentile of counts by value: the first bin at which the cumulative count reaches p N.
#'
#' @param counts named numeric, the names are latencies.
histogram_percentile <- function(counts, p) {
  values <- as.numeric(names(counts))
  order <- order(values)
  cumulative <- cumsum(unlist(counts)[order])
  # p is a percentage; the tiny slack keeps 0.75 * 200 from being 150.00000000000003.
  values[order][which(cumulative >= p / 100 * sum(unlist(counts)) - 1e-9)[1]]
}

#' Histograms of several jobs or intervals added up: percentiles are taken from the sum, never averaged.
merge_histograms <- function(...) {
  all <- c(...)
  tapply(unlist(all), names(all), sum)
}
