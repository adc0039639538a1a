# series.csv and latency.csv of a simulated campaign (docs/series.md): made up, and only to be drawn.

#' @param dir a campaign folder with dataset.csv; `cells` a pattern: series of these cells only; `seconds` per run.
write_series <- function(dir, cells = "", seconds = 60L, seed = 1L) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  boots <- series_boots(dir, cells, 1L)
  rows <- data.table::rbindlist(lapply(seq_len(nrow(boots)), function(i) boot_series(boots[i], seconds)))
  data.table::fwrite(rows, file.path(dir, "series.csv"), eol = "\n")
  invisible(rows)
}

series_boots <- function(dir, cells, runs) {
  data <- data.table::fread(file.path(dir, "dataset.csv"), colClasses = "character",
                            select = c("study", "cell", "block", "run", "status"))
  unique(data[status == "ok" & grepl(cells, cell) & as.integer(run) <= runs])
}

boot_series <- function(boot, seconds) {
  t <- seq_len(seconds)
  wobble <- function(x, sd = 0.05) x * exp(stats::rnorm(length(x), 0, sd))
  full <- round(seconds * 0.45)
  arc <- pmin(64 * 2^20, 64 * 2^20 * t / full)
  bursts <- ifelse(t > full & t %% 7 < 4, 0.05, 1)
  packs <- grepl("gzip|lz4", boot$cell)
  busy <- pmin(1, wobble(rep(if (packs) 0.7 else 0.3, seconds)))
  samples <- list(
    arc_size = list(wobble(arc, 0.01), "B"), arc_c_max = list(rep(64 * 2^20, seconds), "B"),
    memory_used = list(wobble(200 * 2^20 + arc, 0.01), "B"), cpu_user = list(wobble(busy * 0.2), "1"),
    cpu_system = list(wobble(busy * 0.6), "1"), cpu_iowait = list(wobble(rep(0.1, seconds)), "1"),
    cpu_busy = list(busy, "1"), lock_contentions = list(wobble(200 + 900 * (t > full), 0.3), "1/s"),
    disk_write_rate = list(wobble(60 * 2^20 * bursts, 0.1), "B/s"),
    disk_read_rate = list(wobble(rep(2 * 2^20, seconds), 0.3), "B/s"),
    bandwidth = list(wobble(ifelse(t < 10, 20, 45) * 2^20, 0.08), "B/s")
  )
  rows <- lapply(names(samples), function(name) series_rows(boot, t, name, samples[[name]][[1]], samples[[name]][[2]]))
  open <- seq(0, seconds - 5, by = 5)
  rows <- c(rows, list(
    series_rows(boot, open, "txg_open", rep(5, length(open)), "s"),
    series_rows(boot, open + 5, "txg_quiesce", wobble(rep(0.2, length(open))), "s"),
    series_rows(boot, open + 5.2, "txg_sync", wobble(rep(2.5, length(open)), 0.2), "s"),
    series_rows(boot, 1, "phase_write", seconds * 0.6, "s"),
    series_rows(boot, 1 + seconds * 0.6, "phase_read", seconds * 0.4 - 1, "s")
  ))
  data.table::rbindlist(rows)
}

series_rows <- function(boot, t, name, value, unit) {
  data.table::data.table(study = boot$study, cell = boot$cell, block = boot$block, run = boot$run, t_s = t,
                         series = name, value = signif(value, 6), unit = unit)
}

#' Hits of about 80 us and misses of about 6 ms, their share by run, second by second, in fio's bins.
write_latencies <- function(dir, cells = "", seconds = 20L, per_second = 300L, runs = 2L, over_time = TRUE, seed = 1L) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  boots <- series_boots(dir, cells, runs)
  rows <- data.table::rbindlist(lapply(seq_len(nrow(boots)), function(i) {
    boot_latencies(boots[i], seconds, per_second)
  }))
  if (!over_time) rows <- rows[, .(count = sum(count)), by = .(study, cell, block, run, op, bin_s)]
  data.table::fwrite(rows, file.path(dir, "latency.csv"), eol = "\n")
  invisible(rows)
}

boot_latencies <- function(boot, seconds, per_second) {
  n <- seconds * per_second
  hit <- stats::runif(n) < 0.1 + 0.35 * (as.integer(boot$run) - 1)
  ns <- round(1e9 * stats::rlnorm(n, log(ifelse(hit, 8e-5, 6e-3)), ifelse(hit, 0.25, 0.5)))
  rows <- data.table::data.table(study = boot$study, cell = boot$cell, block = boot$block, run = boot$run, op = "read",
                                 bin_s = fio_bin_value(fio_bin(ns)) / 1e9,
                                 t_s = rep(seq_len(seconds) - 1, each = per_second))
  rows[, .(count = .N), by = .(study, cell, block, run, op, bin_s, t_s)]
}
