# How many blocks: from a pilot beforehand, and while measuring by interval width only.

#' Blocks for a paired comparison, two-sided 5 %.
#'
#' @param sd of the block log-ratios; `ratio` the effect to find; `power` of finding it.
blocks_needed <- function(sd, ratio, power = 0.9, alpha = 0.05, most = 10000L) {
  effect <- abs(log(ratio)) / sd
  for (n in 3:most) {
    t <- stats::qt(1 - alpha / 2, n - 1)
    if (stats::pt(t, n - 1, ncp = effect * sqrt(n), lower.tail = FALSE) >= power) return(n)
  }
  NA_integer_
}

#' Further blocks until every 95 % half-width is at most `width`; looks at widths only, never at p or a verdict.
#'
#' @param halfwidths named half-widths on logs of the primary contrasts after `blocks` blocks.
#' @return 0 when enough, else a forecast of further blocks, up to `most` in all.
further_blocks <- function(halfwidths, blocks, width = log(1.05), least = 10L, most = 40L) {
  if (blocks < least) return(least - blocks)
  widest <- max(halfwidths)
  if (widest <= width || blocks >= most) return(0L)
  forecast <- ceiling(blocks * (widest / width)^2)
  as.integer(min(most, max(blocks + 1L, forecast)) - blocks)
}
