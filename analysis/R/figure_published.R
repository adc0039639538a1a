# The source's own numbers, in our words and our base units, so that they can stand beside ours.

# What the source printed as a measured number; claims in its text and comments of others are not.
PRINTED_STATISTICS <- c("mean", "median", "single", "ratio")

#' published.csv: one row per printed value, one column per mapped factor (NA where the row does not say).
#'
#' @return list: rows, and levels by factor, ours first, then those that only the source has.
read_published <- function(path, study) {
  must_exist(path, "published values")
  mapping <- study$spec$published
  printed <- data.table::fread(path, colClasses = "character", na.strings = NULL)
  absent <- setdiff(c("config", "metric", "value", "unit", "table", "statistic"), names(printed))
  if (length(absent)) abort(sprintf("%s: column \"%s\" is missing", path, absent[1]))
  printed <- printed[metric %in% names(mapping$metrics) & statistic %in% PRINTED_STATISTICS]
  printed[, printed_metric := metric][, metric := unlist(mapping$metrics)[printed_metric]]
  base <- vapply(printed$metric, function(metric) base_unit(study, metric), "")
  where <- sprintf("%s: row %s", path, or_else(printed$row_id, ""))
  printed[, value := from_printed(as.numeric(value), unit, base, where)]
  levels <- list()
  for (key in names(mapping$factors)) {
    name <- mapping$factors[[key]]
    words <- printed_levels(printed$config, key, mapping$levels[[name]])
    if (name == "run") {
      data.table::set(printed, j = name, value = as.integer(words))
    } else {
      levels[[name]] <- with_printed_levels(study, name, words)
      data.table::set(printed, j = name, value = factor(words, levels = levels[[name]]))
    }
  }
  # Columns called study or table would hide our own variables of these names.
  data.table::setnames(printed, "table", "printed_in")
  keep <- c("metric", "printed_metric", "value", "printed_in", unname(unlist(mapping$factors)))
  list(rows = printed[!is.na(value), keep, with = FALSE], levels = levels)
}

#' The level that a row names under a key, in our words.
printed_levels <- function(config, key, translation) {
  words <- config_key(config, key)
  known <- words %in% names(translation)
  words[known] <- unlist(translation)[words[known]]
  words
}

#' Our levels and the source's in the order of the study file; after them what only the source has.
with_printed_levels <- function(study, name, words) {
  if (is.null(study$levels[[name]])) abort_unknown("figures.yaml: published: factor", name, study$data$factors)
  all <- union(study$levels[[name]], unique(words[!is.na(words)]))
  c(intersect(study$declared[[name]], all), setdiff(all, study$declared[[name]]))
}

#' Printed rows of some metrics for a figure that spreads over `needs`: those must be said; pins must agree where they
#' are said; a run number counts only where runs are drawn.
published_rows <- function(study, item, metrics, needs) {
  rows <- study$published$rows
  if (is.null(rows)) return(NULL)
  wanted <- metrics
  rows <- rows[metric %in% wanted]
  mapped <- unname(unlist(study$spec$published$factors))
  at <- or_else(item$published_at, item$at)
  for (name in intersect(mapped, setdiff(names(at), needs))) {
    rows <- rows[is.na(get(name)) | as.character(get(name)) %in% unlist(at[[name]])]
  }
  if ("run" %in% setdiff(mapped, needs)) rows <- rows[is.na(run)]
  unsaid <- setdiff(intersect(needs, study$data$factors), mapped)
  rows <- spread_over(study, rows, unsaid)
  for (name in intersect(mapped, needs)) rows <- rows[!is.na(get(name))]
  rows
}

#' A factor that the source does not have: its numbers stand beside every level of ours.
spread_over <- function(study, rows, factors) {
  for (name in factors) {
    seen <- study$levels[[name]]
    rows <- rows[rep(seq_len(.N), each = length(seen))]
    data.table::set(rows, j = name, value = factor(rep(seen, length.out = nrow(rows)), levels = seen))
  }
  rows
}

#' The same with one column per metric.
published_wide <- function(study, item, metrics, needs) {
  rows <- published_rows(study, item, metrics, needs)
  if (is.null(rows) || !nrow(rows)) return(NULL)
  check_one_each(study, rows, c(needs, "metric"))
  data.table::dcast(rows, as.formula(paste(paste(needs, collapse = " + "), "~ metric")), value.var = "value")
}

check_one_each <- function(study, rows, by) {
  twice <- rows[duplicated(rows[, by, with = FALSE])]
  if (!nrow(twice)) return(invisible())
  abort(sprintf("%s: published.csv has several values of %s for one mark", study$claims$study, twice$printed_metric[1]),
        "tell them apart in figures.yaml: published_at")
}

#' Printed ratios, or ratios of what stands in one table of the source.
published_ratio <- function(study, item, metrics, needs) {
  ratio <- item$ratio
  if (!is.null(ratio$published)) {
    rows <- published_rows(study, item, ratio$published, union(needs, ratio$over))
    if (!is.null(rows)) check_one_each(study, rows, needs)
    return(if (!is.null(rows)) rows[, metric := metrics[1]][])
  }
  rows <- published_rows(study, item, metrics, union(needs, ratio$over))
  if (is.null(rows) || !nrow(rows)) return(NULL)
  paired <- pair_published(rows, ratio$over, ratio$reference, needs)
  paired[, value := value / base][]
}

#' Each printed value with that of the reference level in the same table of the source, all else equal.
pair_published <- function(rows, over, reference, needs) {
  keys <- c("printed_in", "metric", setdiff(needs, over))
  is_base <- as.character(rows[[over]]) == reference
  base <- rows[is_base, c(keys, "value"), with = FALSE]
  data.table::setnames(base, "value", "base")
  rows[!is_base][base, on = keys, nomatch = NULL]
}
