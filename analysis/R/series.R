# Within a run: batch means, effective sample size, warm-up, steady state. Diagnostic only, never used for verdicts.

#' Non-overlapping batch means (Schmeiser 1982; Glynn and Whitt 1991).
#'
#' @return list: mean of the batch means, se = sd / sqrt(batches). Values that do not fill the last batch are left out.
batch_means <- function(y, batches = 10L) {
  size <- length(y) %/% batches
  if (size < 1L) abort(sprintf("%d values do not fill %d batches", length(y), batches))
  values <- colMeans(matrix(y[seq_len(size * batches)], nrow = size))
  list(mean = mean(values), se = stats::sd(values) / sqrt(batches), values = values)
}

#' Effective sample size: n var / spectral density at 0 of a fitted AR model. Fewer than 10 marks a run as short.
effective_size <- function(y) {
  variance <- stats::var(y)
  if (variance == 0) return(0)
  fit <- stats::ar(y, aic = TRUE)
  length(y) * variance / (fit$var.pred / (1 - sum(fit$ar))^2)
}

#' Effective size by Geyer's initial monotone sequence: autocorrelations added in pairs while they stay positive.
effective_size_geyer <- function(y) {
  n <- length(y)
  rho <- stats::acf(y, plot = FALSE, lag.max = n - 1)$acf[, 1, 1]
  pairs <- rho[seq(1, n - 1, 2)] + rho[seq(2, n, 2)]
  keep <- match(TRUE, pairs <= 0, nomatch = length(pairs) + 1L) - 1L
  n / (2 * sum(cummin(pairs[seq_len(keep)])) - 1)
}

#' Integrated autocorrelation time of an AR(1), and the effective size that follows.
ar1_effective_size <- function(phi, n = NULL) {
  tau <- (1 + phi) / (1 - phi)
  list(tau = tau, ess = if (is.null(n)) NULL else n / tau)
}

#' MSER-m truncation: drop the first k batches that minimise sum of squares / (remaining)^2, searching the first half.
#'
#' @return number of observations to drop.
mser <- function(y, batch = 5L) {
  n <- length(y) %/% batch
  z <- colMeans(matrix(y[seq_len(n * batch)], nrow = batch))
  score <- vapply(seq_len(n %/% 2 + 1L) - 1L, function(k) {
    rest <- z[(k + 1L):n]
    sum((rest - mean(rest))^2) / length(rest)^2
  }, 0)
  (which.min(score) - 1L) * batch
}

#' Optimal partitioning (exact), normal cost in mean and variance.
#'
#' @param penalty 3 log n for reporting, 15 log n after Barrett et al. (2017).
#' @return last index of every segment but the final one; integer(0) when nothing changes.
changepoints <- function(y, penalty = 3 * log(length(y)), least = 5L) {
  n <- length(y)
  best <- c(-penalty, rep(Inf, n))
  from <- integer(n)
  for (end in least:n) {
    starts <- c(0L, if (end >= 2L * least) least:(end - least))
    costs <- best[starts + 1L] + segment_costs(y, starts, end) + penalty
    best[end + 1L] <- min(costs)
    from[end] <- starts[which.min(costs)]
  }
  trace_back(from, n)
}

segment_costs <- function(y, starts, end) {
  vapply(starts, function(start) {
    part <- y[(start + 1L):end]
    # A constant segment has no likelihood; the floor keeps it finite and still very cheap.
    variance <- max(mean((part - mean(part))^2), 1e-10)
    length(part) * (log(2 * pi) + log(variance) + 1)
  }, 0)
}

trace_back <- function(from, end) {
  found <- integer()
  while (from[end] > 0L) {
    end <- from[end]
    found <- c(end, found)
  }
  found
}

#' SNIA steady state over a window of rounds: range at most 20 % of the mean, drift along the fitted line at most 10 %.
snia_steady <- function(y) {
  slope <- ols_slope(y)
  if (abs(slope) < 1e-12 * max(abs(y))) slope <- 0
  range <- (max(y) - min(y)) / mean(y)
  excursion <- abs(slope) * (length(y) - 1) / mean(y)
  list(avg = mean(y), range = range, slope = slope, slope_exc = excursion, steady = range <= 0.2 && excursion <= 0.1)
}

LEAST_EFFECTIVE <- 10

#' What a run's own trace says (Barrett et al. 2017): flat, warm-up, slowdown, unsteady or too short, from its last
#' stable segment; and whether it is too autocorrelated to speak for itself.
#'
#' @param y one value per second, higher is faster unless `higher_is_better` is FALSE.
#' @return list: class, segments (last index of each), means, ess, flag ("short" when fewer than ten effective values).
classify_run <- function(y, higher_is_better = TRUE, least = 5L) {
  if (length(y) < 3L * least) return(list(class = "too short", segments = length(y), means = mean(y), ess = NA_real_,
                                          flag = "short"))
  ends <- c(changepoints(y, least = least), length(y))
  means <- mapply(function(from, to) mean(y[from:to]), c(1L, utils::head(ends, -1) + 1L), ends)
  ess <- effective_size(y)
  list(class = run_class(means, ends, length(y), higher_is_better), segments = ends, means = means, ess = ess,
       flag = if (stats::var(y) > 0 && ess < LEAST_EFFECTIVE) "short" else "")
}

#' A change inside the last half is no steady state; else the last segment against the first says which way it went.
run_class <- function(means, ends, n, higher_is_better) {
  k <- length(means)
  if (k == 1L) return("flat")
  if (ends[k - 1L] > n / 2) return("unsteady")
  faster <- if (higher_is_better) means[k] > means[1] else means[k] < means[1]
  if (faster) "warm-up" else "slowdown"
}
