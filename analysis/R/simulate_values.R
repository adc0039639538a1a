# What a simulated run measures: plausible means from published.csv, effects as asked, and the noise of methods.md.

DEFAULT_NOISE <- list(block = 0.05, boot = 0.03, run = 0.05)
VARIANTS <- c("normal", "lognormal", "bimodal", "t3", "skewed", "outliers", "ar1")

#' Bytes, seconds, shares and rates as the dataset has them: printed units in SI base units.
UNIT_FACTORS <- c(s = 1, x = 1, "1" = 1, B = 1, count = 1, "1/s" = 1, "B/s" = 1, "%" = 0.01, "KiB" = 2^10,
                  "MiB" = 2^20, "GiB" = 2^30, "KiB/s" = 2^10, "MiB/s" = 2^20, "KB/s" = 1e3, "MB/s" = 1e6)

#' A plausible mean where the source prints none. Synthetic data decide nothing; figures only have to look like some.
FALLBACK_MEANS <- c(
  hit_ratio = 0.35, mfu_share = 0.5, demand_share = 0.9, device_share = 0.6, arc_share = 0.17, allocated_share = 0.5,
  capped = 0, writer_overlap = 1, compressratio = 1.6, clat_p50 = 4e-4, clat_p99 = 8e-3, clat_p999 = 3e-2
)
FALLBACK_BY_UNIT <- c(s = 10, x = 1.5, "1" = 0.4, B = 64 * 2^20, count = 5000, "1/s" = 400, "B/s" = 60 * 2^20)

#' The mean of every metric in every cell, before effects: named list of numeric vectors in the order of `cells`.
plausible_means <- function(plan, study_dir) {
  printed <- printed_means(study_dir)
  out <- lapply(plan$metrics, function(metric) {
    start <- rep(fallback_mean(metric), length(plan$cells))
    wanted <- metric$name
    rows <- if (is.null(printed)) NULL else printed[ours == wanted]
    if (is.null(rows) || !nrow(rows)) return(start)
    vapply(plan$cells, function(cell) nearest_printed(cell$levels, rows), 0)
  })
  stats::setNames(out, vapply(plan$metrics, `[[`, "", "name"))
}

fallback_mean <- function(metric) {
  known <- FALLBACK_MEANS[metric$name]
  if (is.na(known)) or_else(FALLBACK_BY_UNIT[[metric$unit]], 1) else unname(known)
}

#' published.csv in our units, with the factors that figures.yaml maps; NULL when the study has no such mapping.
printed_means <- function(study_dir) {
  spec <- file.path(study_dir, "figures.yaml")
  path <- file.path(study_dir, "published.csv")
  mapping <- if (file.exists(spec)) read_yaml_strict(spec)$published
  if (is.null(mapping) || !file.exists(path)) return(NULL)
  rows <- data.table::fread(path, colClasses = "character", na.strings = NULL)[metric %in% names(mapping$metrics)]
  rows[, ours := unlist(mapping$metrics)[metric]]
  rows[, value := suppressWarnings(as.numeric(value)) * UNIT_FACTORS[unit]]
  for (key in names(mapping$factors)) data.table::set(rows, j = mapping$factors[[key]], value = config_key(rows$config,
                                                                                                           key))
  rows[!is.na(value) & value > 0]
}

#' The value of one key in "a=1;b=2", NA where it is not said.
config_key <- function(config, key) {
  pattern <- sprintf("(^|.*;)%s=([^;]*)(;.*|$)", key)
  ifelse(grepl(pattern, config), sub(pattern, "\\2", config), NA_character_)
}

#' The geometric mean of the printed values that share most levels with a cell; what a row leaves open fits half.
nearest_printed <- function(levels, rows) {
  shared <- intersect(names(levels), names(rows))
  score <- numeric(nrow(rows))
  for (factor in shared) {
    have <- as.character(rows[[factor]])
    score <- score + ifelse(is.na(have), 0.5, as.numeric(have == levels[[factor]]))
  }
  exp(mean(log(rows$value[score == max(score)])))
}

#' The boots of a plan: one row per turn, with the factor levels as columns f_*.
plan_boots <- function(plan) {
  turns <- data.table::rbindlist(plan$order)
  ids <- vapply(plan$cells, `[[`, "", "id")
  turns[, at := match(cell, ids)]
  for (name in unlist(plan$factors)) {
    levels <- vapply(plan$cells, function(cell) cell$levels[[name]], "")
    data.table::set(turns, j = paste0("f_", name), value = levels[turns$at])
  }
  turns
}

#' Runs of all boots: as many as the cell's workload asks for, or `runs` of each.
plan_runs <- function(plan, boots, runs = NULL) {
  asked <- vapply(plan$cells, function(cell) as.integer(or_else(cell$settings$workload$runs, 1L)), 0L)
  count <- if (is.null(runs)) asked[boots$at] else rep(as.integer(runs), nrow(boots))
  out <- boots[rep(seq_len(.N), count)]
  out[, run := sequence(count)][]
}

#' One metric over all runs: log y = mean + effects + block + boot + trend * run + run noise.
#'
#' @param spec list: `at` (effects with where, runs, ratio or set), trend (log per run), noise, variant.
simulate_metric <- function(runs, means, spec, noise, variant, unit) {
  noise <- merge_lists(noise, spec$noise)
  centre <- if (is.null(spec$mean)) means[runs$at] else rep(spec$mean, nrow(runs))
  add <- rep(0, nrow(runs))
  for (effect in spec$at) {
    hit <- matches(runs, effect)
    if (!is.null(effect$set)) centre[hit] <- effect$set
    add[hit] <- add[hit] + log(or_else(effect$ratio, 1)) + or_else(effect$trend, 0) * (runs$run[hit] - 1)
  }
  block <- stats::rnorm(max(runs$block), 0, noise$block)[runs$block]
  boot <- stats::rnorm(nrow(runs), 0, noise$boot)[match(boot_key(runs), boot_key(runs))]
  drift <- or_else(spec$trend, 0) * (runs$run - 1)
  y <- centre * exp(add + block + boot + drift + run_noise(runs, noise$run, or_else(spec$variant, variant)))
  within_unit(y, unit)
}

boot_key <- function(runs) paste(runs$cell, runs$block)

matches <- function(runs, effect) {
  keep <- rep(TRUE, nrow(runs))
  for (name in names(effect$where)) {
    column <- paste0("f_", name)
    if (!column %in% names(runs)) abort_unknown("effects: factor", name, sub("^f_", "", grep("^f_", names(runs),
                                                                                           value = TRUE)))
    keep <- keep & runs[[column]] %in% unlist(effect$where[[name]])
  }
  if (!is.null(effect$runs)) keep <- keep & runs$run %in% unlist(effect$runs)
  if (!is.null(effect$blocks)) keep <- keep & runs$block %in% unlist(effect$blocks)
  keep
}

#' The variants of the generator (methods, self-check); a shift common to all cells leaves every contrast alone.
run_noise <- function(runs, sd, variant) {
  n <- length(runs$run)
  switch(variant,
    normal = stats::rnorm(n, 0, sd),
    lognormal = stats::rnorm(n, 0, 0.35),
    bimodal = stats::rnorm(n, 0, sd) + 0.3 * (stats::runif(n) < 0.3),
    t3 = sd * stats::rt(n, 3) / sqrt(3),
    skewed = sd * (stats::rexp(n) - 1),
    outliers = stats::rnorm(n, 0, sd) - 0.5 * (stats::runif(n) < 0.05),
    ar1 = ar1_noise(runs, sd, 0.6),
    abort_unknown("effects: variant", variant, VARIANTS)
  )
}

#' Runs of a boot that remember the one before.
ar1_noise <- function(runs, sd, phi) {
  z <- stats::rnorm(length(runs$run), 0, sd)
  for (i in seq_along(z)[-1]) if (runs$run[i] > 1L) z[i] <- phi * z[i - 1] + sqrt(1 - phi^2) * z[i]
  z
}

#' Shares stay at or under 1, counts whole.
within_unit <- function(y, unit) switch(unit, "1" = pmin(y, 1), count = round(y), B = round(y), y)
