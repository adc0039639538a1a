# Derived metrics: plain arithmetic on metrics of the same run, written in claims.yaml and never executed as R at large.

ARITHMETIC <- c("+", "-", "*", "/", "(", "min", "max", "log", "sqrt", "abs")

#' Add the derived metrics of a claims file to a dataset; a run in which an ingredient is missing has no derived value.
#'
#' @param data from read_dataset().
#' @param derived named list of expressions, such as `list(cpu_per_gib = "cpu_seconds / (logical_bytes / 1073741824)")`.
add_derived <- function(data, derived) {
  for (name in names(derived)) data$rows <- rbind(data$rows, derive_rows(data, name, derived[[name]]), fill = TRUE)
  data$cache <- new.env()
  data
}

derive_rows <- function(data, name, text) {
  parsed <- tryCatch(parse(text = text)[[1]], error = function(e) {
    abort(sprintf("derived.%s: not arithmetic: %s", name, text))
  })
  check_arithmetic(parsed, unique(data$rows$metric), name)
  inputs <- intersect(all.vars(parsed), data$rows$metric)
  pick <- data$rows[metric %in% inputs & status == "ok"]
  keys <- c("cell", "block", "run")
  wide <- data.table::dcast(pick, cell + block + run ~ metric, value.var = "value")
  functions <- list(min = pmin, max = pmax)
  computed <- eval(parsed, c(as.list(wide), functions), baseenv())
  first <- unique(pick[metric == inputs[1]], by = keys)[wide, on = keys]
  first[, c("metric", "unit", "value", "resolution") := list(name, "1", computed, NA_real_)]
  first[!is.na(value), names(data$rows), with = FALSE]
}

check_arithmetic <- function(node, metrics, name) {
  if (is.numeric(node)) return(invisible())
  if (is.name(node)) {
    if (!as.character(node) %in% metrics) abort_unknown(sprintf("derived.%s: metric", name), as.character(node),
                                                        metrics)
    return(invisible())
  }
  verb <- as.character(node[[1]])
  if (!verb %in% ARITHMETIC) abort_unknown(sprintf("derived.%s: function", name), verb, ARITHMETIC)
  for (part in as.list(node)[-1]) check_arithmetic(part, metrics, name)
}
