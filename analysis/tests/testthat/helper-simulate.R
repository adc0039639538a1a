# A simulated campaign of study compression-levels, in the form of dataset.csv. Class S unless a test says otherwise.

LEVELS <- c("off", "lzjb", "lz4", "gzip-2", "gzip", "gzip-9", "zstd")
RATIO <- c(off = 1, lzjb = 1.47, lz4 = 1.62, "gzip-2" = 2.35, gzip = 2.52, "gzip-9" = 2.522, zstd = 2.61)
WRITE <- c(off = 126, lzjb = 133, lz4 = 128, "gzip-2" = 234, gzip = 437, "gzip-9" = 469, zstd = 190)
MEDIA_WRITE <- c(off = 137, lzjb = 136, lz4 = 137, "gzip-2" = 264, gzip = 274, "gzip-9" = 283, zstd = 205)

#' @param blocks,runs number of blocks, and of runs in each boot; `class` validity class of the rows;
#'   `sd` block-to-block, boot-to-boot and run-to-run noise on logs; `truth` scales all effects on time (1 = as
#'   published).
simulate_campaign <- function(blocks = 3L, runs = 1L, class = "S", seed = 1L, sd = c(0.02, 0.01, 0.01), truth = 1) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  cells <- data.table::CJ(compression = LEVELS, corpus = c("text", "media"), pct = c("50", "75"), sorted = FALSE)
  cells[, cell := paste(compression, corpus, pct, sep = "_")]
  boots <- data.table::rbindlist(lapply(seq_len(blocks), function(b) {
    shift <- stats::rnorm(1, 0, sd[1])
    order <- sample(nrow(cells))
    one <- data.table::copy(cells)[, c("block", "position") := list(b, match(seq_len(.N), order))]
    one[, level := shift + stats::rnorm(.N, 0, sd[2])][]
  }))
  rows <- boots[rep(seq_len(.N), each = runs)][, run := rep(seq_len(runs), times = nrow(boots))]
  measured <- metrics_of_levels(rows, sd[3], truth)
  finish_dataset(measured, class)
}

metrics_of_levels <- function(rows, noise, truth) {
  base <- ifelse(rows$corpus == "text", WRITE[rows$compression], MEDIA_WRITE[rows$compression])
  off <- ifelse(rows$corpus == "text", WRITE["off"], MEDIA_WRITE["off"])
  threads <- ifelse(rows$pct == "50", 2, 3)
  faster <- ifelse(rows$pct == "50" & grepl("gzip", rows$compression), 1.45, 1)
  jitter <- function(x, s = noise) x * exp(rows$level + stats::rnorm(nrow(rows), 0, s))
  write <- round(jitter(off * (base / off)^truth * faster / 60), 3)
  read <- round(jitter(83 / 60), 3)
  ratio <- ifelse(rows$corpus == "text", RATIO[rows$compression], 1)
  logical <- 64 * 2^20
  busy <- threads / 4 * ifelse(grepl("gzip", rows$compression), 1, 0.4) * exp(stats::rnorm(nrow(rows), 0, noise))
  data.table::data.table(
    rows, write_time = write, read_time = read, total_time = round(write + read, 3), compressratio = round(ratio, 4),
    write_cpu_busy = pmin(1, busy), read_cpu_busy = 0.2, wr_iss_threads = threads, thread_cap = threads / 4,
    logical_bytes = logical, used_bytes = round(logical / ratio), pool_bytes_read = round(logical / ratio),
    pool_bytes_written = round(1.05 * logical / ratio)
  )
}

METRICS <- c(write_time = "s", read_time = "s", total_time = "s", compressratio = "x", write_cpu_busy = "1",
             read_cpu_busy = "1", wr_iss_threads = "count", thread_cap = "1", logical_bytes = "B", used_bytes = "B",
             pool_bytes_read = "B", pool_bytes_written = "B")
RESOLUTION <- c(write_time = "0.001", read_time = "0.001", total_time = "0.02")

finish_dataset <- function(measured, class) {
  long <- data.table::melt(measured, measure.vars = names(METRICS), variable.name = "metric", value.name = "value",
                           variable.factor = FALSE)
  data.table::data.table(
    study = "compression-levels", campaign = "simulated", protocol = "improved", cell = long$cell, block = long$block,
    boot = sprintf("b%02d-%s", long$block,
                   long$cell), run = long$run, position = long$position, status = "ok", reason = "",
    flags = "", metric = long$metric, unit = unname(METRICS[long$metric]),
    higher_is_better = ifelse(grepl("time|used|written", long$metric), "false",
                              ifelse(long$metric == "compressratio", "true", "")),
    value = sprintf("%.10g", long$value), resolution = ifelse(is.na(RESOLUTION[long$metric]), "",
        RESOLUTION[long$metric]),
    f_compression = long$compression, f_corpus = long$corpus, f_zio_taskq_batch_pct = long$pct,
    bound = ifelse(grepl("gzip", long$compression), "CPU-bound", "device-bound"), validity_class = class,
    synthetic = if (class == "S") "true" else "false", mode = "clone", image = "simulated", image_digest = "",
    kernel = "none",
    zfs = "none", accel = "none", cpu_model = "none", host = "none", started_at = "2026-11-21T00:00:00Z",
    duration_s = "1",
    prereg = "", raw = sprintf("raw/%s/block-%02d", long$cell, long$block)
  )
}

#' Make runs fail: no value in any metric, with a reason.
fail_runs <- function(rows, cell_name, block_number, why = "gate: clock ratio 1.4", status_word = "invalid") {
  rows <- data.table::copy(rows)
  rows[cell == cell_name & block == block_number, c("status", "reason", "value") := list(status_word, why, "")][]
}

#' Write dataset.csv and plan.json into a fresh study folder.
write_campaign <- function(rows, dir = tempfile("study-"), planned = max(rows$block)) {
  dir.create(dir, recursive = TRUE, showWarnings = FALSE)
  data.table::fwrite(rows, file.path(dir, "dataset.csv"), eol = "\n")
  cells <- unique(rows[, .(id = cell, f_compression, f_corpus, f_zio_taskq_batch_pct)])
  levels <- lapply(seq_len(nrow(cells)), function(i) {
    list(id = cells$id[i], levels = list(compression = cells$f_compression[i], corpus = cells$f_corpus[i],
                                         zio_taskq_batch_pct = cells$f_zio_taskq_batch_pct[i]))
  })
  order <- unique(rows[, .(block, position, cell)])
  plan <- list(study = "compression-levels", campaign = "simulated", scale = "smoke", seed = 1, blocks = planned,
               cells = levels,
               order = order, predicted_s = 400)
  jsonlite::write_json(plan, file.path(dir, "plan.json"), auto_unbox = TRUE, pretty = TRUE)
  dir
}
