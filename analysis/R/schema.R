# YAML with its traps closed, checked against the same JSON Schema files that Python and the editor read.

#' Read YAML; every sequence stays a list, and a bare off, on, yes or no is an error that says what to quote.
read_yaml_strict <- function(path) {
  must_exist(path, "file")
  bare <- character()
  word <- function(x) {
    if (tolower(x) %in% c("true", "false")) return(tolower(x) == "true")
    # A handler must not stop, or R falls back to its own reading; y and n are words in YAML as Python reads it.
    if (!tolower(x) %in% c("y", "n")) bare <<- c(bare, x)
    x
  }
  handlers <- list(seq = as.list, "bool#yes" = word, "bool#no" = word)
  value <- tryCatch(
    yaml::yaml.load_file(path, handlers = handlers),
    error = function(e) abort(sprintf("%s: not YAML: %s", path, conditionMessage(e)))
  )
  if (length(bare)) abort(sprintf("%s: bare %s would be read as a boolean", path, bare[1]),
                          sprintf("write \"%s\" in quotes", bare[1]))
  value
}

#' Check a value against a JSON Schema (the subset used in workflows/schemas: type, enum, required, properties,
#' additionalProperties, items, minItems, anyOf, $ref, pattern, exclusiveMinimum, minimum).
#'
#' @return invisibly TRUE; aborts at the first fault, naming its place.
check_schema <- function(value, schema, where, root = schema) {
  fault <- schema_fault(value, schema, where, root)
  if (!is.null(fault)) abort(fault$what, fault$expected)
  invisible(TRUE)
}

schema_fault <- function(value, schema, where, root) {
  if (!is.null(schema[["$ref"]])) schema <- root[["$defs"]][[sub("^#/\\$defs/", "", schema[["$ref"]])]]
  checks <- list(fault_type, fault_enum, fault_pattern, fault_bounds, fault_any, fault_object, fault_array)
  for (check in checks) {
    fault <- check(value, schema, where, root)
    if (!is.null(fault)) return(fault)
  }
  NULL
}

fault <- function(what, expected = character()) list(what = what, expected = expected)

is_object <- function(x) is.list(x) && (length(x) == 0L || !is.null(names(x)))

has_type <- function(value, type) {
  switch(type,
    null = is.null(value),
    object = is_object(value),
    array = is.list(value) && is.null(names(value)),
    string = is.character(value) && length(value) == 1L,
    integer = is.numeric(value) && length(value) == 1L && value == round(value),
    number = is.numeric(value) && length(value) == 1L,
    boolean = is.logical(value) && length(value) == 1L,
    FALSE
  )
}

fault_type <- function(value, schema, where, root) {
  types <- unlist(schema$type)
  if (is.null(types) || any(vapply(types, function(type) has_type(value, type), logical(1)))) return(NULL)
  hint <- if (is.logical(value) || (is.numeric(value) && "string" %in% types)) "quote it" else character()
  fault(sprintf("%s: wrong kind of value", where), c(paste("expected:", paste(types, collapse = " or ")), hint))
}

fault_enum <- function(value, schema, where, root) {
  if (is.null(schema$enum) || (is.character(value) && value %in% unlist(schema$enum))) return(NULL)
  shown <- if (is.character(value)) value else "(not a word)"
  fault(sprintf("%s: unknown value \"%s\"", where, shown), paste("known:", paste(unlist(schema$enum), collapse = ", ")))
}

fault_pattern <- function(value, schema, where, root) {
  if (is.null(schema$pattern) || grepl(schema$pattern, value)) return(NULL)
  fault(sprintf("%s: \"%s\" has the wrong form", where, value), paste("expected:", schema$pattern))
}

fault_bounds <- function(value, schema, where, root) {
  if (!is.numeric(value)) return(NULL)
  low <- c(schema$minimum, schema$exclusiveMinimum)
  if (is.null(low)) return(NULL)
  bad <- if (is.null(schema$minimum)) value <= low else value < low
  if (bad) fault(sprintf("%s: %s is too small", where, value), paste("minimum:", low))
}

fault_any <- function(value, schema, where, root) {
  if (is.null(schema$anyOf)) return(NULL)
  faults <- lapply(schema$anyOf, function(option) schema_fault(value, option, where, root))
  if (any(vapply(faults, is.null, logical(1)))) return(NULL)
  faults[[1]]
}

fault_object <- function(value, schema, where, root) {
  if (is.null(schema$properties) && is.null(schema$additionalProperties)) return(NULL)
  if (!is_object(value)) return(NULL)
  missing <- setdiff(unlist(schema$required), names(value))
  if (length(missing)) return(fault(sprintf("%s: key \"%s\" is missing", where, missing[1])))
  for (key in names(value)) {
    inner <- schema$properties[[key]]
    if (is.null(inner)) inner <- schema$additionalProperties
    if (isFALSE(inner)) {
      return(fault(sprintf("%s: unknown key \"%s\"", where, key),
                   paste("known:", paste(names(schema$properties), collapse = ", "))))
    }
    found <- if (is.list(inner)) schema_fault(value[[key]], inner, paste0(where, ".", key), root)
    if (!is.null(found)) return(found)
  }
  NULL
}

fault_array <- function(value, schema, where, root) {
  if (is.null(schema$items) || !has_type(value, "array")) return(NULL)
  if (length(value) < max(0, schema$minItems)) return(fault(sprintf("%s: too few items", where)))
  for (i in seq_along(value)) {
    label <- if (is_object(value[[i]]) && is.character(value[[i]]$id)) value[[i]]$id else i - 1L
    found <- schema_fault(value[[i]], schema$items, sprintf("%s[%s]", where, label), root)
    if (!is.null(found)) return(found)
  }
  NULL
}
