# What figures are drawn from: runs, block means with intervals, ratios within blocks.

#' Levels of a factor in the order of the plan; without a plan, in the order of the alphabet.
factor_levels <- function(data, study_dir) {
  path <- file.path(study_dir, "plan.json")
  cells <- if (file.exists(path)) jsonlite::read_json(path)$cells
  out <- lapply(data$factors, function(factor) {
    planned <- unique(unlist(lapply(cells, function(cell) cell$levels[[factor]])))
    seen <- sort(unique(data$cells[[paste0("f_", factor)]]))
    c(intersect(planned, seen), setdiff(seen, planned))
  })
  stats::setNames(out, data$factors)
}

#' Every level that a study file names, by factor: what a figure may ask for, measured or not.
declared_levels <- function(path) {
  if (!file.exists(path)) return(list())
  factors <- read_yaml_strict(path)$factors
  lapply(factors, function(levels) if (is.null(names(levels))) unlist(levels) else names(levels))
}

#' Levels in the order of the study file, which is the order that its author thought of.
study_levels <- function(data, study_dir, declared) {
  planned <- factor_levels(data, study_dir)
  out <- lapply(names(planned), function(factor) {
    c(intersect(declared[[factor]], planned[[factor]]), setdiff(planned[[factor]], declared[[factor]]))
  })
  stats::setNames(out, names(planned))
}

#' Leave a figure: the study has such cells, but this campaign did not measure them.
not_measured <- function(why) {
  stop(structure(class = c("zassay_absent", "error", "condition"), list(message = why, call = NULL)))
}

#' Cells picked by `at`. A level that the study knows but the campaign left out ends the figure; one it does not know is
#' a mistake in figures.yaml.
figure_cells <- function(study, at) {
  cells <- pick_cells(study$data, at)
  if (length(cells)) return(cells)
  known <- all(vapply(names(at), function(name) all(unlist(at[[name]]) %in% study$declared[[name]]), TRUE))
  why <- attr(cells, "absent")
  if (known) not_measured(sprintf("not measured in this campaign: %s", why))
  abort(sprintf("%s: a figure asks for what is not there: %s", study$data$path, why))
}

#' As match_cells, but a picture of all cells side by side mixes nothing: what may not be averaged is checked there.
pick_cells <- function(data, at) {
  keep <- rep(TRUE, nrow(data$cells))
  for (factor in names(at)) {
    if (!factor %in% data$factors) return(no_cells(sprintf("factor %s is not in the data", factor)))
    have <- data$cells[[paste0("f_", factor)]]
    missing <- setdiff(unlist(at[[factor]]), have)
    if (length(missing) == length(unlist(at[[factor]]))) {
      return(no_cells(sprintf("%s \"%s\" is not in the data", factor, missing[1])))
    }
    keep <- keep & have %in% unlist(at[[factor]])
  }
  found <- data$cells$cell[keep]
  if (length(found)) found else no_cells(sprintf("no cell has %s", show_where(at)))
}

#' A mark is made of the runs of one cell; whoever averages over a factor must have said so by pinning it.
check_one_cell <- function(study, item, table, by) {
  factors <- intersect(study$data$factors, names(table))
  mixed <- Filter(function(name) any(table[, data.table::uniqueN(get(name)), by = by]$V1 > 1L), factors)
  if (!length(mixed)) return(invisible(table))
  abort(sprintf("figure %s would average over %s", item$id, paste(mixed, collapse = ", ")),
        sprintf("pin it under at, or name it as a facet, in studies/%s/figures.yaml", study$spec$study))
}

#' Valid runs of some metrics in the cells picked by `at`, one row per run, factors as ordered factors without `f_`;
#' `capped` marks runs cut off at their time limit, whose times are lower bounds.
run_values <- function(study, metrics, at = NULL) {
  wanted <- metrics
  cells <- figure_cells(study, at)
  long <- study$data$rows[metric %in% wanted & cell %in% cells & status == "ok"]
  if (!nrow(long)) not_measured(sprintf("no valid run of %s", paste(metrics, collapse = ", ")))
  columns <- paste0("f_", study$data$factors)
  wide <- data.table::dcast(long, as.formula(paste("cell + block + run + position +", paste(columns, collapse = " + "),
                                                   "~ metric")),
                            value.var = "value")
  for (factor in study$data$factors) {
    levels <- union(pinned_order(at[[factor]]), study$levels[[factor]])
    data.table::set(wide, j = factor, value = factor(wide[[paste0("f_", factor)]], levels = levels))
  }
  for (metric in setdiff(metrics, names(wide))) data.table::set(wide, j = metric, value = NA_real_)
  cut <- unique(long[grepl("capped", flags, fixed = TRUE), .(cell, block, run)])
  wide[, capped := FALSE]
  if (nrow(cut)) wide[cut, capped := TRUE, on = c("cell", "block", "run")]
  wide[, (columns) := NULL][]
}

#' Several levels pinned in an order are drawn in that order.
pinned_order <- function(levels) if (length(levels) > 1L) unlist(levels)

#' Runs of several metrics, one row per run and metric; with `ratio`, one row per boot: the ratio of its mean (on logs)
#' to that of the reference level in the same block, all other factors equal.
long_values <- function(study, item, metrics) {
  runs <- run_values(study, metrics, item$at)
  if (!is.null(item$ratio)) return(ratio_values(study, item$ratio, runs, metrics))
  data.table::melt(runs, measure.vars = metrics, variable.name = "metric", variable.factor = FALSE,
                   na.rm = TRUE)
}

#' @param ratio over (a factor), reference (a level), perhaps levels (those that are drawn).
ratio_values <- function(study, ratio, runs, metrics) {
  check_factor_name(study, ratio$over)
  key <- c("block", study$data$factors)
  long <- data.table::melt(runs, measure.vars = metrics, variable.name = "metric", variable.factor = FALSE,
                           na.rm = TRUE)
  for (name in metrics) check_positive_runs(runs, name, study)
  boots <- long[, .(log_value = mean(log(value)), capped = any(capped)), by = c(key, "metric")]
  is_base <- as.character(boots[[ratio$over]]) == ratio$reference
  base <- boots[is_base, c(setdiff(key, ratio$over), "metric", "log_value"), with = FALSE]
  data.table::setnames(base, "log_value", "base")
  out <- boots[!is_base][base, on = c(setdiff(key, ratio$over), "metric"), nomatch = NULL]
  if (length(ratio$levels)) out <- out[as.character(out[[ratio$over]]) %in% unlist(ratio$levels)]
  if (!nrow(out)) not_measured(sprintf("no block has both %s \"%s\" and another level of it", ratio$over,
                                       ratio$reference))
  out[, c("run", "value") := list(1L, exp(log_value - base))][]
}

#' Mean over blocks of block means, with a 95 % t interval, per group.
#'
#' @param log TRUE for geometric means and intervals on logs.
block_summary <- function(runs, value, by, log = FALSE) {
  work <- data.table::copy(runs)
  data.table::set(work, j = "v", value = if (log) log(work[[value]]) else work[[value]])
  boots <- work[!is.na(v), .(v = mean(v)), by = c(by, "block")]
  out <- boots[, {
    s <- t_interval(v)
    .(mean = s$estimate, lo = s$ci95[1], hi = s$ci95[2], blocks = .N)
  }, by = by]
  if (log) out[, c("mean", "lo", "hi") := lapply(.(mean, lo, hi), exp)]
  out[]
}

#' Block means where a boot has several runs; none where a run is a block.
block_means <- function(runs, by, log = FALSE) {
  if (all(runs[, data.table::uniqueN(run), by = c(by, "block")]$V1 == 1L)) return(runs[0])
  middle <- if (log) function(x) exp(mean(log(x))) else mean
  runs[, .(value = middle(value), run = 1L, capped = any(capped)), by = c(by, "block")]
}

check_positive_runs <- function(runs, metrics, study) {
  for (metric in metrics) {
    bad <- any(runs[[metric]] <= 0, na.rm = TRUE)
    if (bad) abort(sprintf("%s: metric %s has values <= 0, which have no ratio", study$data$path, metric))
  }
}

label_of <- function(study, name) or_else(study$spec$labels[[name]], gsub("_", " ", name))

unit_of <- function(study, name) {
  unit <- base_unit(study, name)
  if (unit %in% c("1", "x", "count")) "" else unit
}

#' All that the figures of a study need, read once.
read_figure_study <- function(study_dir, claims_path, published_path, schemas) {
  spec_path <- file.path(dirname(claims_path), "figures.yaml")
  spec <- read_yaml_strict(must_exist(spec_path, "figure list of the study"))
  check_schema(spec, read_yaml_strict(file.path(schemas, "figures.schema.yaml")), spec_path)
  claims <- read_claims(claims_path, file.path(schemas, "claims.schema.yaml"))
  data <- add_derived(read_dataset(file.path(study_dir, "dataset.csv")), claims$derived)
  check_same_study(data, claims, claims_path)
  units <- unique(data$rows[, .(metric, unit)])
  study <- list(
    data = data, dir = study_dir, spec = spec, claims = claims,
    declared = declared_levels(file.path(dirname(claims_path), "study.yaml")),
    class = lowest_class(data$rows$validity_class), units = stats::setNames(units$unit, units$metric)
  )
  study$levels <- study_levels(data, study_dir, study$declared)
  if (!is.null(spec$published)) study$published <- read_published(published_path, study)
  for (name in unique(names(study$published$levels))) study$levels[[name]] <- study$published$levels[[name]]
  study
}
