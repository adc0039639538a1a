# What every cell measured, in plain numbers: means of three kinds, spread at two levels, a median without assumptions.

#' One row per cell and metric. Descriptive: the validity class of the rows says what may be concluded from it.
cell_summary <- function(data) {
  rows <- data$rows
  ok <- rows[status == "ok"]
  lost <- rows[, .(lost = sum(status != "ok")), by = .(cell, metric)]
  boots <- ok[, .(v = mean(value), s2 = if (.N > 1L) stats::var(value) else NA_real_,
                  steady = .N >= SNIA_ROUNDS && is_steady(value[order(run)])), by = .(cell, metric, block)]
  out <- ok[, c(list(unit = unit[1], class = lowest_class(validity_class), blocks = data.table::uniqueN(block),
                     runs = .N), means_of(value), list(outliers = sum(flag_outliers(value)))), by = .(cell, metric)]
  spread <- boots[, c(list(sd_blocks = if (.N > 1L) stats::sd(v) else NA_real_, sd_runs = sqrt(mean(s2, na.rm = TRUE)),
                           steady_boots = sum(steady)), median_of(v)), by = .(cell, metric)]
  table <- merge(merge(lost, out, by = c("cell", "metric"), all.x = TRUE, sort = FALSE), spread,
                 by = c("cell", "metric"), all.x = TRUE, sort = FALSE)
  table <- merge(data$cells, table, by = "cell", sort = FALSE)
  for (column in names(which(vapply(table, is.numeric, TRUE)))) {
    data.table::set(table, j = column, value = exact(table[[column]]))
  }
  table[]
}

SNIA_ROUNDS <- 5L

is_steady <- function(y) mean(y) > 0 && snia_steady(utils::tail(y, SNIA_ROUNDS))$steady

#' Arithmetic for equal durations, harmonic for equal work, geometric for ratios between configurations.
means_of <- function(value) {
  positive <- all(value > 0)
  none <- list(arithmetic = mean(value), geometric = NA_real_, harmonic = NA_real_)
  m <- if (positive) means_of_rates(value) else none
  list(arithmetic_mean = m$arithmetic, geometric_mean = m$geometric, harmonic_mean = m$harmonic)
}

median_of <- function(v) {
  ranks <- median_ci_ranks(length(v))
  ordered <- sort(v)
  list(median = stats::median(v), median_lo = ordered[ranks$lo], median_hi = ordered[ranks$hi])
}
