# claims.yaml of every study against the list of claims it was written from, where that list is at hand; and against
# its own study.yaml, so that a misspelt factor, level or metric cannot pass for one that these data lack.

REFERENCE <- Sys.getenv("ZASSAY_REFERENCE", file.path(dirname(ROOT), "shared", "reference"))
STUDIES <- basename(dirname(Sys.glob(file.path(ROOT, "studies", "*", "claims.yaml"))))
# Levels that a claim names although no guest of ours has them.
FOREIGN <- list(filesystem = "ufs", os = c("linux", "freebsd", "illumos"))

claims_of <- function(study) {
  read_claims(file.path(ROOT, "studies", study, "claims.yaml"), file.path(SCHEMAS, "claims.schema.yaml"))
}

study_of <- function(study) read_yaml_strict(file.path(ROOT, "studies", study, "study.yaml"))

#' "log 2" or "0" or "-1" of the list, on the scale of claims.yaml.
listed_null <- function(text, scale) {
  if (text %in% c("-", "")) return(NULL)
  value <- if (startsWith(text, "log ")) as.numeric(sub("log ", "", text)) else as.numeric(text)
  if (scale == "log" && !startsWith(text, "log ") && value == 0) 1 else value
}

#' "x1.25 about 2.571", "+-0.2" or "none" of the list; an interval stands in magnitude_interval instead.
listed_margin <- function(text) {
  number <- regmatches(text, regexpr("(?<=^x|^\\+-)[0-9.]+", text, perl = TRUE))
  if (length(number)) as.numeric(number) else NULL
}

#' The scale on which a claim's null stands.
scale_of <- function(claim) {
  requirements <- claim$estimator$require
  if (length(requirements)) or_else(requirements[[1]]$scale, claim$estimator$scale) else claim$estimator$scale
}

test_that("types, classes, nulls, margins and families are those of the list", {
  path <- file.path(REFERENCE, "claims.csv")
  skip_if_not(file.exists(path), sprintf("%s is not here, and is no part of the project", path))
  listed <- data.table::fread(path, colClasses = "character", na.strings = NULL)
  mine <- do.call(c, lapply(STUDIES, function(study) unname(claims_of(study)$claims)))
  names(mine) <- vapply(mine, `[[`, "", "id")
  expect_setequal(names(mine), listed$id)
  for (line in seq_len(nrow(listed))) {
    row <- listed[line]
    id <- row$id
    claim <- mine[[id]]
    expect_equal(claim$type, row$type, info = id)
    expect_equal(claim$min_class, row$min_class, info = id)
    uncounted <- claim$type %in% c("det", "lint") || claim$estimator$kind == "none"
    if (!claim$type %in% c("det", "lint")) {
      expect_equal(claim$family, if (grepl("(", row$source, fixed = TRUE)) "Q" else row$source, info = id)
    }
    if (!uncounted) expect_equal(claim$null_value, listed_null(row$null_value, scale_of(claim)), info = id)
    if (claim$type == "eq" || !uncounted) expect_equal(claim$margin, listed_margin(row$margin), info = id)
    if (startsWith(row$margin, "[")) expect_length(claim$magnitude_interval, 2)
  }
})

#' All wheres of an estimator, wherever they stand, as factor = levels.
wheres_of <- function(x) {
  if (!is.list(x)) return(list())
  own <- c(x[intersect(c("where", "at", "foreach"), names(x))], if (!is.null(x$over)) {
    list(stats::setNames(list(c(x$levels, x$reference)), x$over))
  })
  unname(c(own, unlist(lapply(unname(x), wheres_of), recursive = FALSE)))
}

metrics_of <- function(x) if (is.list(x)) c(x$metric, unlist(lapply(unname(x), metrics_of))) else character()

expect_known <- function(used, known, whose) expect_equal(setdiff(used, known), character(), info = whose)

test_that("every factor, level and metric of a claim is one of its study's", {
  for (study in STUDIES) {
    claims <- claims_of(study)
    known <- study_of(study)
    levels <- lapply(known$factors, function(levels) if (is.null(names(levels))) unlist(levels) else names(levels))
    measured <- names(known$metrics)
    for (text in claims$derived) expect_known(all.vars(parse(text = text)), measured, study)
    for (claim in claims$claims) {
      expect_known(metrics_of(claim$estimator), c(measured, names(claims$derived)), claim$id)
      for (where in wheres_of(claim$estimator)) for (factor in names(where)) {
        expect_known(factor, c(names(levels), names(FOREIGN)), claim$id)
        expect_known(unlist(where[[factor]]), c(levels[[factor]], FOREIGN[[factor]]), claim$id)
      }
    }
  }
})

test_that("a misspelt level would be found", {
  found <- wheres_of(list(at = list(a = "1"), terms = list(list(weight = 1, where = list(b = "2"))),
                          pairs = list(over = "c", levels = list("3", "4"), reference = "3")))
  expect_setequal(unlist(lapply(found, names)), c("a", "b", "c"))
  expect_setequal(unlist(found), c("1", "2", "3", "4", "3"))
})
