# Formulas of a sidecar: arithmetic on printed numbers, worked out with the ranges that rounding leaves.

AUDIT_OPERATORS <- c("+", "-", "*", "/", "(")
AUDIT_FUNCTIONS <- c("at", "previous")

#' Parse and check a formula once; numbers, metric names, configuration keys, + - * / ( ), at(x, key = "level") to look
#' in other rows, previous(x) for the run before.
parse_formula <- function(text, known, where) {
  text <- as.character(text)
  parsed <- tryCatch(str2lang(text), error = function(e) {
    abort(sprintf("%s: not arithmetic: %s", where, text), "expected something like write_time + read_time")
  })
  check_formula(parsed, known, where)
  parsed
}

check_formula <- function(node, known, where) {
  if (is.numeric(node)) return(invisible())
  if (is.name(node)) {
    if (!as.character(node) %in% known) abort_unknown(sprintf("%s: name", where), as.character(node), known)
    return(invisible())
  }
  verb <- if (is.call(node) && is.name(node[[1]])) as.character(node[[1]]) else deparse1(node)
  legal <- c(AUDIT_OPERATORS, AUDIT_FUNCTIONS)
  if (!verb %in% legal) abort_unknown(sprintf("%s: function", where), verb, legal)
  if (verb == "at") check_formula_at(node, where)
  parts <- as.list(node)[if (verb == "at") 2 else -1]
  for (part in parts) check_formula(part, known, where)
}

check_formula_at <- function(node, where) {
  given <- as.list(node)[-(1:2)]
  named <- length(given) && !is.null(names(given)) && all(nzchar(names(given)))
  if (!named || !all(vapply(given, is.character, TRUE))) {
    abort(sprintf("%s: at() without levels: %s", where, deparse1(node)), "expected at(metric, key = \"level\")")
  }
}

#' Work a formula out for one configuration.
#'
#' @param scene list: rows (all of the table), table, config, over (the key that numbers runs), must (keys that a row
#'   has to have), used (an environment that collects the ids of rows).
#' @return c(point, lo, hi), NA where a row is not there.
eval_formula <- function(node, scene) {
  if (is.numeric(node)) return(as_range(node))
  if (is.name(node)) return(look_up(as.character(node), scene))
  verb <- as.character(node[[1]])
  if (verb %in% AUDIT_FUNCTIONS) return(eval_formula(node[[2]], moved_scene(verb, node, scene)))
  parts <- lapply(as.list(node)[-1], eval_formula, scene = scene)
  if (verb == "(") return(parts[[1]])
  if (length(parts) == 1L) return(if (verb == "-") subtract_ranges(as_range(0), parts[[1]]) else parts[[1]])
  do <- switch(verb, "+" = add_ranges, "-" = subtract_ranges, "*" = multiply_ranges, "/" = divide_ranges)
  do(parts[[1]], parts[[2]])
}

moved_scene <- function(verb, node, scene) {
  if (verb == "at") {
    levels <- vapply(as.list(node)[-(1:2)], identity, "")
    scene$config[names(levels)] <- levels
    scene$must <- names(levels)
    return(scene)
  }
  now <- suppressWarnings(as.numeric(scene$config[scene$over]))
  scene$config[scene$over] <- if (is.na(now)) "" else show_plain(now - 1)
  # Before the first run there is none; a row that has no run at all is no run before it.
  scene$must <- scene$over
  scene
}

#' A metric's printed number in this configuration, or a number of the configuration itself.
look_up <- function(name, scene) {
  found <- scene$rows[metric == name]
  if (!nrow(found)) return(as_range(suppressWarnings(as.numeric(scene$config[name]))))
  has <- vapply(found$config, function(c) all(scene$must %in% names(c)), TRUE)
  near <- rows_agreeing(found[has], scene$config, table = scene$table)
  if (nrow(near) != 1L) return(as_range(NA_real_))
  assign("ids", c(get("ids", scene$used), near$id), scene$used)
  rounded(near$value, near$res)
}

#' A formula with its numbers in place of the names.
show_formula <- function(node, scene) {
  if (is.numeric(node)) return(show_plain(node))
  if (is.name(node)) return(show_plain(look_up(as.character(node), scene)[["point"]]))
  verb <- as.character(node[[1]])
  if (verb %in% AUDIT_FUNCTIONS) return(show_formula(node[[2]], moved_scene(verb, node, scene)))
  parts <- vapply(as.list(node)[-1], show_formula, "", scene = scene)
  if (verb == "(") return(sprintf("(%s)", parts))
  if (length(parts) == 1L) return(paste0(verb, parts))
  paste(parts[1], if (verb == "*") "\u00d7" else verb, parts[2])
}
