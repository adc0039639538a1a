# Trends over the runs of a boot, and their robust twins.

#' Median of pairwise slopes.
theil_sen <- function(y, x = seq_along(y)) {
  pairs <- utils::combn(length(y), 2)
  stats::median((y[pairs[2, ]] - y[pairs[1, ]]) / (x[pairs[2, ]] - x[pairs[1, ]]))
}

ols_slope <- function(y, x = seq_along(y)) stats::cov(x, y) / stats::var(x)

#' Kendall's tau against the order, with a two-sided p by enumeration of all orders (n <= 8), also with ties.
kendall_exact <- function(y) {
  n <- length(y)
  if (n > 8L) abort(sprintf("an exact Kendall test enumerates %d! orders", n),
                    "use stats::cor.test for more than 8 runs")
  seen <- kendall_score(y)
  scores <- apply(permutations(n), 1, function(order) kendall_score(y[order]))
  list(tau = stats::cor(seq_len(n), y, method = "kendall"), p = mean(abs(scores) >= abs(seen)))
}

kendall_score <- function(y) {
  pairs <- utils::combn(length(y), 2)
  sum(sign(y[pairs[2, ]] - y[pairs[1, ]]))
}

permutations <- function(n) {
  if (n == 1L) return(matrix(1L))
  smaller <- permutations(n - 1L)
  do.call(rbind, lapply(seq_len(n), function(first) {
    cbind(first, matrix(setdiff(seq_len(n), first)[smaller], nrow = nrow(smaller)))
  }))
}

#' Page's L over blocks for an order stated beforehand: rows are blocks, columns the order claimed.
#'
#' @return list: L, E, V (no correction for ties), z.
page_test <- function(data) {
  k <- ncol(data)
  b <- nrow(data)
  ranks <- t(apply(data, 1, rank))
  l <- sum(seq_len(k) * colSums(ranks))
  e <- b * k * (k + 1)^2 / 4
  v <- b * k^2 * (k + 1) * (k^2 - 1) / 144
  list(L = l, E = e, V = v, z = (l - e) / sqrt(v))
}

#' One-sided p of Page's L: normal without ties; with ties mid-ranks, where the exact p is refused and permutations of
#' each block stand in.
#'
#' @return list: L, p, how.
page_p <- function(data, seed, times = 1999L) {
  seen <- page_test(data)
  ties <- any(apply(data, 1, anyDuplicated) > 0L)
  if (!ties) return(list(L = seen$L, p = stats::pnorm(seen$z, lower.tail = FALSE), how = "normal"))
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  # Rows are blocks: every block is shuffled on its own.
  draws <- replicate(times, page_test(t(apply(data, 1, sample)))$L)
  list(L = seen$L, p = (1 + sum(draws >= seen$L - 1e-9)) / (times + 1), how = "ties: mid-ranks, permutation p")
}
