# Kalibera and Jones (2013): where the variance of repeated experiments lives, and how often to repeat each level.

#' Variances of the levels of a balanced nested experiment.
#'
#' @param data nested list, outermost level first (compilations, executions, measurements), balanced.
#' @return list: S (biased, S[1] the innermost level), T (unbiased; a negative one means none), mean, hw95 of the mean.
#' The first printing has T_i^2 = S_i^2 - S_{i-1}^2 / r_{i-1} wrong; this is the corrected form.
nested_variances <- function(data) {
  means <- list(nested_means(data, 0L))
  depth <- list_depth(data)
  s <- vapply(seq_len(depth), function(level) mean(unlist(spread_at(data, depth - level))), 0)
  repetitions <- vapply(seq_len(depth), function(level) repeats_at(data, depth - level), 0)
  t <- s - c(0, s[-depth] / repetitions[-depth])
  n <- repetitions[depth]
  list(S = s, T = t, mean = means[[1]], hw95 = stats::qt(0.975, n - 1) * sqrt(s[depth] / n), repetitions = repetitions)
}

list_depth <- function(x) if (is.list(x)) 1L + list_depth(x[[1]]) else 1L

nested_means <- function(x, ignore) if (is.list(x)) mean(vapply(x, nested_means, 0, ignore)) else mean(x)

#' Variances of the child means at a depth (0 = outermost).
spread_at <- function(x, depth) {
  if (depth > 0L) return(lapply(x, spread_at, depth - 1L))
  stats::var(if (is.list(x)) vapply(x, nested_means, 0, 0L) else x)
}

repeats_at <- function(x, depth) if (depth > 0L) repeats_at(x[[1]], depth - 1L) else length(x)

#' Best number of repetitions of each level below the outermost: sqrt(cost above / cost here * T here / T above).
#'
#' @param t T of nested_variances, innermost first; `costs` of one repetition per level, outermost first.
optimal_repetitions <- function(t, costs) {
  cost <- rev(costs)
  upper <- seq_along(t)[-1]
  sqrt(cost[upper] / cost[upper - 1] * pmax(0, t[upper - 1]) / t[upper])
}
