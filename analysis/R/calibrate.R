# Self-check by simulation: simulated campaigns go through the production path, CSV in and verdict out, and the rates
# at which intervals cover and verdicts fall are compared with those that methods state.

CALIBRATION <- "calibration"
# Data sets in one simulated campaign: every metric is a data set of its own.
PER_CAMPAIGN <- 500L
GENERATOR_SD <- c(block = 0.05, boot = 0.03, run = 0.05)

#' One data set of the generator: cells a and b on logs, runs of a block together.
#'
#' @param effect how much a lies above b; `slope` added per run to both; `drift` per run to a alone.
draw_pair <- function(blocks, runs = 3L, effect = 0, sd = GENERATOR_SD, variant = "normal", slope = 0, drift = 0) {
  k <- rep(seq_len(runs), blocks)
  shared <- rep(stats::rnorm(blocks, 0, sd[["block"]]), each = runs) + slope * k
  arm <- function() {
    rep(stats::rnorm(blocks, 0, sd[["boot"]]), each = runs) + run_noise(list(run = k), sd[["run"]], variant)
  }
  list(a = effect + shared + drift * k + arm(), b = shared + arm())
}

#' Block log-ratios with a given sd, one run a boot.
draw_ratio <- function(blocks, effect, sd) {
  draw_pair(blocks, 1L, effect, c(block = 0.05, boot = 0, run = sd / sqrt(2)))
}

#' dataset.csv of a campaign with `sets` data sets.
#'
#' @param draw function() returning list(a, b) of logs; `missing` share of runs that are lost.
#' @param shared FALSE when a and b were never measured in the same block.
calibration_rows <- function(sets, blocks, runs, draw, missing = 0, shared = TRUE) {
  grid <- data.table::CJ(set = seq_len(sets), cell = c("a", "b"), block = seq_len(blocks), run = seq_len(runs))
  y <- unlist(lapply(seq_len(sets), function(i) draw()))
  lost <- stats::runif(nrow(grid)) < missing
  if (!shared) grid[cell == "b", block := block + blocks]
  data.table::data.table(
    study = CALIBRATION, campaign = "simulated", protocol = "improved", cell = grid$cell, block = grid$block,
    boot = paste0(grid$cell, "/", grid$block), run = grid$run, position = match(grid$cell, c("a", "b")),
    status = ifelse(lost, "failed", "ok"), reason = ifelse(lost, "simulated: the run was lost", ""), flags = "",
    metric = sprintf("m%05d", grid$set), unit = "s", higher_is_better = "false",
    value = ifelse(lost, "", sprintf("%.15g", exp(y))), resolution = "", f_config = grid$cell, bound = "",
    validity_class = "V", synthetic = "false", mode = "boot", image = "simulated", image_digest = "", kernel = "none",
    zfs = "none", accel = "none", cpu_model = "none", host = "simulated", started_at = "2026-01-01T00:00:00Z",
    duration_s = "1", prereg = "", raw = "raw"
  )
}

#' claims.yaml with one claim for every data set: a against b on logs; `family` claims share a Holm family.
calibration_claims <- function(sets, type = "dir", stat = "mean", margin = NULL, family = 1L) {
  items <- lapply(seq_len(sets), function(i) {
    term <- function(weight, cell) list(weight = weight, where = list(config = cell))
    list(id = sprintf("S9-%05d", i), type = type, min_class = "V", statement = "a differs from b",
         family = sprintf("F%d", (i - 1L) %/% family), published = "", published_effect = NULL, null_value = 1,
         margin = margin, delta0 = NULL, notes = NULL,
         estimator = list(kind = "contrast", metric = sprintf("m%05d", i), scale = "log", stat = stat,
                          terms = list(term(1, "a"), term(-1, "b"))))
  })
  list(study = CALIBRATION, source = list(id = "S9", title = "t", author = "a", date = "2000-01-01"), claims = items)
}

#' Decide `sets` simulated data sets through the files that production reads.
#'
#' @return data.table: estimate, lo, hi (95 %, logs), p (adjusted), n, verdict, detail, one row per data set.
calibrate_sets <- function(sets, blocks, runs, draw, schema, seed, ..., missing = 0, shared = TRUE) {
  seeded(seed)
  parts <- lapply(split(seq_len(sets), (seq_len(sets) - 1L) %/% PER_CAMPAIGN), function(chunk) {
    rows <- calibration_rows(length(chunk), blocks, runs, draw, missing, shared)
    calibration_outcomes(rows, calibration_claims(length(chunk), ...), schema)
  })
  data.table::rbindlist(parts)
}

calibration_outcomes <- function(rows, claims, schema) {
  with_campaign(rows, claims, function(dir) {
    decided <- decide_study(dir, file.path(dir, "claims.yaml"), schema)
    data.table::rbindlist(lapply(decided$outs, function(out) {
      s <- if (length(out$stats)) out$stats[[1]] else t_interval(numeric())
      data.table::data.table(estimate = s$estimate, lo = s$ci95[1], hi = s$ci95[2], p = out$p_adj, n = s$n,
                             verdict = out$verdict, detail = out$detail)
    }))
  })
}

#' Write a campaign into a folder of its own, use it, and take the folder away.
with_campaign <- function(rows, claims, use) {
  dir <- file.path(tempfile("calibration-"), CALIBRATION)
  dir.create(dir, recursive = TRUE)
  on.exit(unlink(dirname(dir), recursive = TRUE))
  data.table::fwrite(rows, file.path(dir, "dataset.csv"), eol = "\n")
  yaml::write_yaml(claims, file.path(dir, "claims.yaml"))
  use(dir)
}

seeded <- function(seed) set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")

#' Half-width of the central 99.9 % binomial band about p in `sims` simulations, and what two printed decimals hide.
monte_carlo <- function(p, sims, rounding = 0) stats::qnorm(0.9995) * sqrt(p * (1 - p) / sims) + rounding

#' One line of the table of results.
#'
#' @param stated the rate that methods state, as text; `low`, `high` what is accepted.
#' @param control TRUE for a negative control: a wrong method, accepted when it is seen to be wrong.
checked <- function(check, case, sims, found, stated, low, high, control = FALSE) {
  data.table::data.table(check = check, case = case, sims = as.integer(sims), found = found, stated = stated, low = low,
                         high = high, control = control, pass = found >= low & found <= high)
}

covers <- function(outcomes, truth) mean(outcomes$lo < truth & truth < outcomes$hi)
