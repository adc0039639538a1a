# Sample sizes from a pilot: blocks for the effects of interest, and runs for each boot.

PLAN_RATIOS <- c(1.05, 1.10, 1.25)

#' Upper confidence limit of a standard deviation (Browne 1995): a pilot's own is too small half of the time.
cautious_sd <- function(sd, df, level = 0.8) if (df < 1) NA_real_ else sd * sqrt(df / stats::qchisq(1 - level, df))

#' One row per primary contrast: its spread in the pilot, and the blocks that find an effect with a power of 0.9.
#'
#' @param links from primary_links(); on the log scale effects are ratios, else differences of once, twice and five
#'   times the smallest effect of interest.
pilot_table <- function(links, power = 0.9) {
  data.table::rbindlist(lapply(links, function(link) {
    s <- t_interval(unname(link$d), floor = link$floor)
    careful <- cautious_sd(s$sd, s$df)
    effects <- if (link$scale == "log") log(PLAN_RATIOS) else link$width * c(1, 2, 5)
    need <- function(effect, sd) if (is.na(sd)) NA_integer_ else blocks_for_effect(abs(effect) / sd, power)
    shown <- if (link$scale == "log") sprintf("x%.2f", PLAN_RATIOS) else sprintf("%.3g", effects)
    published <- link$published - link$null
    data.table::data.table(
      claim = link$claim, link = link$link, pilot_blocks = s$n, sd = exact(s$sd), cautious_sd = exact(careful),
      effect = c(shown, "published"),
      blocks = vapply(c(effects, published), need, 0L, sd = s$sd),
      cautious_blocks = vapply(c(effects, published), need, 0L, sd = careful)
    )
  }))
}

#' Runs per boot that spend the least time for a given precision (Kalibera and Jones 2013).
#'
#' @param costs seconds of one boot (without its runs) and of one run.
#' @return one row per metric of the primary contrasts: variance between boots and between runs on logs, best runs.
runs_per_boot <- function(data, links, costs) {
  metrics <- unique(unlist(lapply(links, function(link) vapply(link$terms, `[[`, "", "metric"))))
  data.table::rbindlist(lapply(metrics, function(name) {
    rows <- data$rows[metric == name & status == "ok" & value > 0]
    boots <- rows[, .(v = if (.N > 1L) stats::var(log(value)) else NA_real_, m = mean(log(value)), n = .N),
                  by = .(cell, block)]
    within <- mean(boots$v, na.rm = TRUE)
    between <- mean(boots[, .(v = if (.N > 1L) stats::var(m) else NA_real_), by = cell]$v, na.rm = TRUE)
    row <- data.table::data.table(metric = name, runs = max(boots$n), var_runs = exact(within), var_boots = "",
                                  best_runs = NA_real_, note = "one run per boot: the levels cannot be told apart")
    if (is.nan(within) || is.nan(between)) return(row)
    boot <- max(0, between - within / mean(boots$n))
    best <- if (boot > 0) sqrt(costs[["boot"]] / costs[["run"]] * within / boot) else Inf
    row[, c("var_boots", "best_runs", "note") := list(exact(boot), max(1, ceiling(min(best, 99))),
                                                      if (boot > 0) "" else "boots differ no more than their runs")]
  }))
}

#' Seconds of a boot and of a run in it, from timing.json; equal when nothing is known.
costs_of <- function(study_dir, runs) {
  path <- file.path(study_dir, "timing.json")
  if (!file.exists(path)) return(c(boot = 1, run = 1))
  median <- jsonlite::read_json(path)$median_s
  c(boot = median$prepare + median$overhead, run = max(1e-3, median$measure / max(1, runs)))
}
