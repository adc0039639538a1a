# Relations that a sidecar declares: FILE.audit.yaml beside FILE.csv says what follows from what.

AUDIT_SCHEMA <- "audit.schema.yaml"

#' Findings of a sidecar.
#'
#' @param rows from read_printed(); `sidecar` path; `schema` path of its schema, or NULL to trust it.
audit_declared <- function(rows, sidecar, schema = NULL) {
  spec <- read_yaml_strict(sidecar)
  if (!is.null(schema)) check_schema(spec, read_yaml_strict(schema), sidecar)
  found <- lapply(seq_along(spec$relations), function(i) {
    relation <- spec$relations[[i]]
    relation$at <- sprintf("%s: relations[%d] (%s)", sidecar, i - 1L, relation$what)
    check_relation(relation)
    made <- data.table::rbindlist(declared_relation(relation, rows))
    if (!nrow(made)) abort(sprintf("%s: no row to check", relation$at),
                           "expected that its metrics and levels are in the table; see where, printed and at()")
    made
  })
  data.table::rbindlist(c(list(audit_none()), found))
}

#' What each kind cannot do without.
RELATION_NEEDS <- list(
  formula = c("printed", "formula"), ratio = c("printed", "of", "by"), sum = c("printed", "parts"),
  conversion = c("printed", "from", "factor"), mean = "printed", drift = "of", bound = "quantity",
  constant = "quantity", multiple = c("printed", "step")
)

check_relation <- function(relation) {
  missing <- setdiff(RELATION_NEEDS[[relation$kind]], names(relation))
  if (length(missing)) abort(sprintf("%s: key \"%s\" is missing", relation$at, missing[1]),
                             sprintf("a relation of kind %s needs: %s", relation$kind,
                                     paste(RELATION_NEEDS[[relation$kind]], collapse = ", ")))
  if (relation$kind == "bound" && is.null(relation$at_most) && is.null(relation$at_least)) {
    abort(sprintf("%s: no bound", relation$at), "expected at_most or at_least")
  }
}

declared_relation <- function(relation, rows) {
  relation$over <- or_else(relation$over, "run")
  known <- unique(c(rows$metric, unlist(lapply(rows$config, names))))
  usable <- with_value(rows)
  switch(relation$kind,
    bound = declared_bound(relation, usable, known), constant = declared_constant(relation, usable, known),
    drift = declared_series(relation, usable, known, "of"), mean = declared_series(relation, usable, known, "printed"),
    multiple = declared_multiple(relation, usable, known), declared_formula(relation, usable, known)
  )
}

#' ratio, sum and conversion are formulas with a shorter spelling.
formula_of <- function(relation) {
  switch(relation$kind,
    ratio = sprintf("(%s) / (%s)", relation$of, relation$by),
    sum = paste(unlist(relation$parts), collapse = " + "),
    conversion = sprintf("(%s) * (%s)", relation$from, relation$factor),
    relation$formula
  )
}

#' Rows that a relation looks at: `where` holds columns (table, metric, statistic, row_id, unit, source) or levels.
where_rows <- function(relation, rows) {
  keep <- rep(TRUE, nrow(rows))
  for (key in names(relation$where)) {
    wanted <- as.character(unlist(relation$where[[key]]))
    column <- if (key == "row_id") "id" else key
    have <- if (column %in% c("id", "table", "metric", "statistic", "unit", "source")) rows[[column]] else
      vapply(rows$config, function(c) if (key %in% names(c)) c[[key]] else "", "")
    keep <- keep & have %in% wanted
  }
  rows[keep]
}

scene_of <- function(row, rows, relation) {
  used <- new.env()
  assign("ids", character(), used)
  list(rows = rows[source == row$source], table = row$table, config = row$config[[1]], over = relation$over,
       used = used)
}

declared_formula <- function(relation, rows, known) {
  node <- parse_formula(formula_of(relation), known, relation$at)
  name <- relation$printed
  if (!name %in% rows$metric) abort_unknown(sprintf("%s: printed", relation$at), name, unique(rows$metric))
  by_row(where_rows(relation, rows[metric == name]), function(row) {
    scene <- scene_of(row, rows, relation)
    range <- eval_formula(node, scene)
    if (anyNA(range)) return(NULL)
    worst <- if (row$statistic %in% c("claim", "comment") || !is.null(relation$premise)) "suspect" else "impossible"
    compare_printed(row, declared_name(relation, row, rows), show_formula(node, scene), range,
                    unique(get("ids", scene$used)), declared_hint(relation), text = row$text, worst = worst)
  })
}

declared_name <- function(relation, row, rows) {
  label <- label_row(row, rows)
  if (nzchar(label)) sprintf("%s (%s)", relation$what, label) else relation$what
}

declared_hint <- function(relation) {
  paste0(if (!is.null(relation$premise)) sprintf(" Not possible if %s.", relation$premise),
         if (!is.null(relation$note)) sprintf(" %s", relation$note), "")
}

#' One row per configuration that a quantity can be worked out in: those of its first metric.
quantity_rows <- function(node, relation, rows) {
  first <- intersect(all.vars(node), rows$metric)[1]
  where_rows(relation, rows[metric == first])
}

#' A quantity that cannot pass a bound; under a premise, passing it refutes the premise.
declared_bound <- function(relation, rows, known) {
  node <- parse_formula(relation$quantity, known, relation$at)
  upper <- !is.null(relation$at_most)
  limit <- parse_formula(if (upper) relation$at_most else relation$at_least, known, relation$at)
  by_row(quantity_rows(node, relation, rows), function(row) {
    scene <- scene_of(row, rows, relation)
    value <- eval_formula(node, scene)
    bound <- eval_formula(limit, scene)
    if (anyNA(value) || anyNA(bound)) return(NULL)
    over <- if (upper) value[["lo"]] > bound[["hi"]] else value[["hi"]] < bound[["lo"]]
    verdict <- if (!over) "ok" else if (is.null(relation$premise)) "impossible" else "suspect"
    said <- sprintf("%s%s is %s the bound %s%s.%s", show_formula(node, scene), bound_value(node, value),
                    if (over) (if (upper) "above" else "below") else "within", show_formula(limit, scene),
                    bound_value(limit, bound), if (over) declared_hint(relation) else "")
    text <- if (is.name(node)) row$text else show_plain(value[["point"]])
    audit_row(row, declared_name(relation, row, rows), bound, verdict, said, get("ids", scene$used), text)
  })
}

#' The value of a formula, unless it is a number or a name, whose value has just been shown.
bound_value <- function(node, value) if (is.call(node)) sprintf(" = %s", show_plain(value[["point"]])) else ""

#' A quantity that should not change from run to run: its spread says how well an explanation fits.
declared_constant <- function(relation, rows, known) {
  node <- parse_formula(relation$quantity, known, relation$at)
  mine <- quantity_rows(node, relation, rows)
  scenes <- by_row(mine, function(row) scene_of(row, rows, relation))
  values <- vapply(scenes, function(scene) eval_formula(node, scene)[["point"]], 0)
  values <- values[!is.na(values)]
  if (length(values) < 2L) return(list())
  share <- stats::sd(values) / mean(values)
  ok <- share <= or_else(relation$within, 0.05)
  shown <- paste(sprintf("%.1f", values), collapse = ", ")
  said <- sprintf("%s over %s: %s (sd/mean %.1f %%).%s", if (ok) "Constant" else "Not constant", relation$over, shown,
                  100 * share, if (ok) declared_hint(relation) else "")
  used <- unlist(lapply(scenes, function(scene) get("ids", scene$used)))
  range <- c(point = mean(values), lo = min(values), hi = max(values))
  list(audit_row(mine[1], relation$what, range, if (ok) "ok" else "suspect", said, used, text = "-"))
}

#' Means and series that no column `run` gives away: the values along `over`.
declared_series <- function(relation, rows, known, key) {
  name <- relation[[key]]
  if (!name %in% rows$metric) abort_unknown(sprintf("%s: %s", relation$at, key), name, unique(rows$metric))
  mine <- where_rows(relation, rows[metric == or_else(relation$of, name) & statistic == "single"])
  mine <- mine[vapply(config, function(c) relation$over %in% names(c), TRUE)]
  mine <- mine[order(suppressWarnings(as.numeric(vapply(config, function(c) c[[relation$over]], ""))))]
  if (nrow(mine) < 2L) return(list())
  if (key == "of") return(list(compare_drift(mine[1], rows, mine)))
  target <- where_rows(relation, rows[metric == name & statistic == "mean"])
  unlist(by_row(target, function(row) list(compare_mean(row, rows, mine), compare_sd(row, rows, mine))), FALSE)
}

#' A mean of whole steps times their number is a multiple of the step.
declared_multiple <- function(relation, rows, known) {
  node <- parse_formula(relation$printed, known, relation$at)
  step <- relation$step
  by_row(quantity_rows(node, relation, rows), function(row) {
    times <- if (isTRUE(row$n > 1)) row$n else 1
    half <- last_digit(row$text) / 2
    range <- scale_range(as_range(row$value, half), times)
    near <- round(row$value * times / step) * step
    ok <- near >= range[["lo"]] - 1e-9 && near <= range[["hi"]] + 1e-9
    said <- sprintf("%s \u00d7 %s is %s, %s multiple of %s.%s", row$text, show_plain(times),
                    show_fixed(row$value * times, 1), if (ok) "a" else "no", show_plain(step), declared_hint(relation))
    audit_row(row, declared_name(relation, row, rows), c(point = near, lo = near, hi = near),
              if (ok) "ok" else "impossible", said)
  })
}
