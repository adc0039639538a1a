# Where the project's own files are, and short ways to a decision.

SCHEMAS <- file.path(ROOT, "workflows", "schemas")
STUDY <- file.path(ROOT, "studies", "compression-levels")
CLAIMS <- file.path(STUDY, "claims.yaml")
PASSING_LINT <- function() {
  path <- tempfile(fileext = ".json")
  findings <- data.frame(figure = "G3a", plot = "ours", lint = "zero_base", layer = "GeomCol", pass = TRUE, value = 1,
                         quotation = FALSE, detail = "")
  jsonlite::write_json(list(study = "compression-levels", findings = findings), path, auto_unbox = TRUE)
  path
}

decide_rows <- function(rows, claims = CLAIMS, planned = max(rows$block), lint = PASSING_LINT()) {
  dir <- write_campaign(rows, planned = planned)
  on.exit(unlink(dir, recursive = TRUE))
  estimate_study(dir, claims, file.path(SCHEMAS, "claims.schema.yaml"), lint)
}

verdicts_of <- function(rows, ...) {
  v <- decide_rows(rows, ...)$verdicts
  stats::setNames(v$verdict, v$claim)
}

#' Write claims of one's own for a test.
own_claims <- function(...) {
  base <- list(statement = "a claim", family = "T", published = "", published_effect = NULL, null_value = 1,
               margin = NULL, delta0 = NULL,
               notes = NULL, min_class = "V")
  items <- lapply(list(...), function(item) c(item, base[setdiff(names(base), names(item))]))
  path <- tempfile(fileext = ".yaml")
  yaml::write_yaml(list(study = "compression-levels", source = list(id = "T1", title = "t", author = "a",
      date = "2000-01-01"), claims = items), path)
  # write_yaml has no null in lists; keys that were NULL come back as explicit nulls here.
  path
}
