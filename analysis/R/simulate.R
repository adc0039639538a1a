# A simulated campaign of any study, written in the formats that figures, estimates and the report read.
# The rows are synthetic and class S: they exercise the pipeline and decide nothing about ZFS.

#' Simulate a campaign of a study.
#'
#' @param study_dir studies/<name>; `scale`, `blocks`, `seed` as in a plan; `effects` a list (or NULL): noise, variant,
#'   missing, runs, metrics (by name: mean, at, trend, noise, variant) and identities (metric = arithmetic on others).
#' @param class a class other than S is a pretence, and only tests may ask for it.
#' @return list: plan, rows (dataset.csv as data.table of text), facts, timing.
simulate_study <- function(study_dir, scale = "smoke", blocks = 3L, seed = 1L, effects = NULL, class = "S") {
  plan <- simulate_plan(study_dir, scale, as.integer(blocks), as.integer(seed))
  effects <- merge_lists(own_effects(plan$study), effects)
  check_effects(effects, plan)
  boots <- plan_boots(plan)
  runs <- plan_runs(plan, boots, effects$runs)
  set.seed(seed + 1L, "Mersenne-Twister", "Inversion", "Rejection")
  values <- simulate_metrics(plan, runs, plausible_means(plan, study_dir), effects)
  runs[, lost := stats::runif(.N) < or_else(effects$missing, 0)]
  runs[, duration := round(12 + 2 * stats::rnorm(.N)^2, 3)]
  timing <- simulate_timing(plan, runs)
  plan$predicted_s <- timing$predicted_s
  list(plan = plan, rows = dataset_rows(plan, runs, values, class), timing = timing, facts = simulate_facts(class))
}

#' Effects that make a study's data hang together, where the package has them (inst/simulate/<study>.yaml).
own_effects <- function(study) {
  path <- file.path(or_else(get0("PACKAGE_HOME"), "."), "inst", "simulate", paste0(study, ".yaml"))
  if (file.exists(path)) read_yaml_strict(path) else list()
}

check_effects <- function(effects, plan) {
  known <- c("noise", "variant", "missing", "runs", "metrics", "identities")
  for (key in names(effects)) if (!key %in% known) abort_unknown("effects: key", key, known)
  names <- vapply(plan$metrics, `[[`, "", "name")
  for (key in c(names(effects$metrics), names(effects$identities))) {
    if (!key %in% names) abort_unknown("effects: metric", key, names)
  }
}

#' @return named list: one numeric vector per metric, over the runs.
simulate_metrics <- function(plan, runs, means, effects) {
  noise <- merge_lists(DEFAULT_NOISE, effects$noise)
  out <- lapply(plan$metrics, function(metric) {
    y <- simulate_metric(runs, means[[metric$name]], or_else(effects$metrics[[metric$name]], list()), noise,
                         or_else(effects$variant, "normal"), metric$unit)
    to_resolution(y, metric$resolution)
  })
  names(out) <- names(means)
  functions <- list(min = pmin, max = pmax)
  for (name in names(effects$identities)) {
    parsed <- parse(text = effects$identities[[name]])[[1]]
    check_arithmetic(parsed, names(out), name)
    out[[name]] <- eval(parsed, c(out, functions), baseenv())
  }
  out
}

to_resolution <- function(y, resolution) if (is.null(resolution)) y else pmax(1, round(y / resolution)) * resolution

#' dataset.csv: one row per metric of a run, in the order of the plan.
dataset_rows <- function(plan, runs, values, class) {
  k <- length(plan$metrics)
  has <- vapply(plan$metrics, function(metric) vapply(plan$cells, measures, TRUE, plan = plan, metric = metric$name),
                logical(length(plan$cells)))
  has <- t(matrix(has, ncol = k)[runs$at, , drop = FALSE])
  at <- col(has)[has]
  which <- row(has)[has]
  word <- function(key) vapply(plan$metrics, function(metric) as.character(or_else(metric[[key]], "")), "")[which]
  y <- matrix(unlist(values), nrow = nrow(runs))[cbind(at, which)]
  lost <- runs$lost[at]
  head <- data.table::data.table(
    study = plan$study, campaign = plan$campaign, protocol = cell_words(plan, runs, "protocol", "improved")[at],
    cell = runs$cell[at], block = runs$block[at], boot = paste0(runs$cell, "/", runs$block)[at], run = runs$run[at],
    position = runs$position[at], status = ifelse(lost, "failed", "ok"),
    reason = ifelse(lost, "simulated: the run was lost", ""), flags = "", metric = word("name"), unit = word("unit"),
    higher_is_better = c(higher = "true", lower = "false", none = "")[word("better")],
    value = ifelse(lost, "", sprintf("%.10g", y)), resolution = word("resolution")
  )
  data.table::data.table(head, runs[at, paste0("f_", unlist(plan$factors)), with = FALSE], dataset_tail(plan, runs,
                                                                                                       at, class))
}

dataset_tail <- function(plan, runs, at, class) {
  started <- as.POSIXct("2026-01-01", tz = "UTC") + cumsum(runs$duration)
  data.table::data.table(
    bound = "device-bound", validity_class = class, synthetic = if (class == "S") "true" else "false", mode = "clone",
    image = cell_words(plan, runs, "image", "simulated")[at], image_digest = "", kernel = "none", zfs = "none",
    accel = "none", cpu_model = "simulated", host = "simulated",
    started_at = format(started, "%Y-%m-%dT%H:%M:%S.000+00:00")[at], duration_s = sprintf("%.10g", runs$duration)[at],
    prereg = plan$prereg, raw = sprintf("raw/%s/block-%02d", runs$cell, runs$block)[at]
  )
}

cell_words <- function(plan, runs, key, other) {
  vapply(plan$cells, function(cell) as.character(or_else(cell$settings[[key]], other)), "")[runs$at]
}

simulate_timing <- function(plan, runs) {
  total <- sum(runs[, sum(duration), by = .(cell, block)]$V1)
  share <- list(measure = 0.4, prepare = 0.4, overhead = 0.2)
  list(predicted_s = round(1.05 * total, 1), actual_s = round(total, 1), runs = length(plan$order),
       median_s = lapply(share, function(x) round(x * stats::median(runs$duration), 3)),
       stages_s = lapply(share, function(x) round(x * total, 1)),
       steps_median_s = list(create = 3.2, facts = 1.9, measure.read = 0.6, measure.write = 4.4))
}

simulate_facts <- function(class) {
  list(simulated = list(
    accelerator = list(name = "none", seconds = 0, why = "no guest ran: these data were simulated"), clock_ratio = 1,
    guest = list(kernel = "none", zfs_module = "none"), host = list(id = "simulated", cpu_model = "simulated"),
    validity = list(class = class, evidence = list(why = "simulated"), nested = FALSE)
  ))
}

#' Write a simulated campaign as the stages of a real one would have left it.
#'
#' @param raw TRUE to leave a folder with a status.json for every boot, so that links to it lead somewhere.
write_simulated <- function(made, dir, raw = TRUE) {
  dir.create(dir, recursive = TRUE, showWarnings = FALSE)
  data.table::fwrite(made$rows, file.path(dir, "dataset.csv"), eol = "\n", qmethod = "double")
  for (name in c("plan", "facts", "timing")) {
    jsonlite::write_json(made[[name]], file.path(dir, paste0(name, ".json")), auto_unbox = TRUE, pretty = TRUE,
                         digits = NA, null = "null")
  }
  if (raw) for (path in unique(made$rows$raw)) {
    dir.create(file.path(dir, path), recursive = TRUE, showWarnings = FALSE)
    writeLines('{"status": "ok", "reason": "", "simulated": true}', file.path(dir, path, "status.json"))
  }
  invisible(dir)
}

#' Only a test may give simulated rows another class than S.
check_pretence <- function(class) {
  if (!class %in% CLASSES) abort_unknown("--class", class, CLASSES)
  if (class != "S" && !nzchar(Sys.getenv("ZASSAY_PRETEND"))) {
    abort(sprintf("--class %s: simulated rows are class S", class),
          "a test may pretend another class with ZASSAY_PRETEND=1 in its environment")
  }
}
