# What figures are drawn from: runs, block means with intervals, and the source's own numbers.

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

#' Valid runs of some metrics in the cells picked by `at`, one row per run, factors as ordered factors without `f_`.
run_values <- function(study, metrics, at = NULL) {
  cells <- match_cells(study$data, at)
  if (!length(cells)) abort(sprintf("%s: a figure asks for what is not there: %s", study$data$path,
                                    attr(cells, "absent")))
  wanted <- metrics
  long <- study$data$rows[metric %in% wanted & cell %in% cells & status == "ok"]
  columns <- paste0("f_", study$data$factors)
  wide <- data.table::dcast(long, as.formula(paste("cell + block + run + position +", paste(columns, collapse = " + "),
                                                   "~ metric")),
                            value.var = "value")
  for (factor in study$data$factors) {
    data.table::set(wide, j = factor, value = factor(wide[[paste0("f_", factor)]], levels = study$levels[[factor]]))
  }
  for (metric in setdiff(metrics, names(wide))) data.table::set(wide, j = metric, value = NA_real_)
  wide[, (columns) := NULL][]
}

#' Mean over blocks of block means, with a 95 % t interval, per group.
#'
#' @param log TRUE for geometric means and intervals on logs.
block_summary <- function(runs, value, by, log = FALSE) {
  work <- data.table::copy(runs)
  work[, v := if (log) log(get(value)) else get(value)]
  boots <- work[!is.na(v), .(v = mean(v)), by = c(by, "block")]
  out <- boots[, {
    s <- t_interval(v)
    .(mean = s$estimate, lo = s$ci95[1], hi = s$ci95[2], blocks = .N)
  }, by = by]
  if (log) out[, c("mean", "lo", "hi") := lapply(.(mean, lo, hi), exp)]
  out[]
}

#' published.csv in our words: one row per printed value, one column per mapped factor.
read_published <- function(path, mapping, levels) {
  must_exist(path, "published values")
  printed <- data.table::fread(path, colClasses = "character", na.strings = NULL)
  absent <- setdiff(c("config", "metric", "value"), names(printed))
  if (length(absent)) abort(sprintf("%s: column \"%s\" is missing", path, absent[1]))
  printed <- printed[metric %in% names(mapping$metrics)]
  printed[, value := as.numeric(value)]
  for (key in names(mapping$factors)) {
    pattern <- sprintf("(^|.*;)%s=([^;]*)(;.*|$)", key)
    found <- ifelse(grepl(pattern, printed$config), sub(pattern, "\\2", printed$config), NA_character_)
    name <- mapping$factors[[key]]
    data.table::set(printed, j = name, value = factor(found, levels = or_else(levels[[name]], unique(found))))
  }
  printed[, metric := unlist(mapping$metrics)[metric]]
  mapped <- unname(unlist(mapping$factors))
  printed[stats::complete.cases(printed[, mapped, with = FALSE])]
}

published_wide <- function(study, metrics) {
  wanted <- metrics
  factors <- unname(unlist(study$spec$published$factors))
  long <- study$published[metric %in% wanted]
  data.table::dcast(long, as.formula(paste(paste(factors, collapse = " + "), "~ metric")), value.var = "value")
}

label_of <- function(study, name) or_else(study$spec$labels[[name]], name)

unit_of <- function(study, name) {
  wanted <- name
  unit <- study$data$rows[metric == wanted, unit][1]
  if (is.na(unit) || unit %in% c("1", "x", "count")) "" else unit
}

#' All that the figures of a study need, read once.
read_figure_study <- function(study_dir, claims_path, published_path, schemas) {
  spec_path <- file.path(dirname(claims_path), "figures.yaml")
  spec <- read_yaml_strict(must_exist(spec_path, "figure list of the study"))
  check_schema(spec, read_yaml_strict(file.path(schemas, "figures.schema.yaml")), spec_path)
  claims <- read_claims(claims_path, file.path(schemas, "claims.schema.yaml"))
  data <- add_derived(read_dataset(file.path(study_dir, "dataset.csv")), claims$derived)
  check_same_study(data, claims, claims_path)
  levels <- factor_levels(data, study_dir)
  list(
    data = data, dir = study_dir, spec = spec, claims = claims, levels = levels,
    class = lowest_class(data$rows$validity_class),
    published = if (!is.null(spec$published)) read_published(published_path, spec$published, levels)
  )
}
