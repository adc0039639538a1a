# GA over all studies and GB, the verdict matrix: every claim there, several campaigns side by side.

decided_results <- local({
  made <- NULL
  function() {
    if (!is.null(made)) return(made)
    made <<- tempfile("results-")
    for (name in FIGURE_STUDIES) {
      dir <- file.path(made, name)
      dir.create(dir, recursive = TRUE)
      file.copy(list.files(figure_campaign(name, series = FALSE), full.names = TRUE), dir)
      claims <- file.path(ROOT, "studies", name, "claims.yaml")
      write_tables(estimate_study(dir, claims, file.path(SCHEMAS, "claims.schema.yaml")), dir)
    }
    made
  }
})

all_claims <- function() {
  unlist(lapply(FIGURE_STUDIES, function(name) {
    vapply(read_yaml_strict(file.path(ROOT, "studies", name, "claims.yaml"))$claims, `[[`, "", "id")
  }))
}

decided_study <- function(name) {
  asked <- file.path(ROOT, "studies", name)
  read_figure_study(file.path(decided_results(), name), file.path(asked, "claims.yaml"),
                    file.path(asked, "published.csv"), SCHEMAS)
}

test_that("the forest of each study passes all lints and keeps every claim", {
  for (name in FIGURE_STUDIES) {
    study <- decided_study(name)
    figure <- draw_figure(study, figure_item(study, "GA"))
    findings <- lint_figure(figure)
    expect_true(all(findings$pass), info = paste(name, findings[!(pass), paste(lint, detail)]))
    expect_setequal(levels(figure$plots$claims$data$row), names(study$claims$claims))
  }
})

test_that("one page holds all claims, sorted by source, also those that cannot be tested here", {
  figure <- figure_overview(lapply(FIGURE_STUDIES, decided_study))
  findings <- lint_figure(figure)
  expect_true(all(findings$pass), info = paste(findings[!(pass), paste(lint, detail)]))
  rows <- rev(levels(figure$plots$claims$data$row))
  expect_setequal(rows, all_claims())
  expect_equal(rows[1], "S0-01")
  expect_false(is.unsorted(source_order(figure$plots$claims$data$source[match(rows, figure$plots$claims$data$claim)])))
  expect_true("NOT TESTABLE HERE" %in% figure$plots$claims$data$verdict)
})

test_that("the matrix has a column per campaign, with its class, and refuses a folder without verdicts", {
  here <- decided_results()
  other <- tempfile("other-")
  dir.create(other)
  file.copy(here, other, recursive = TRUE)
  there <- file.path(other, basename(here))
  path <- file.path(there, "fio-cache", "verdicts.csv")
  changed <- data.table::fread(path, colClasses = "character", na.strings = NULL)
  data.table::fwrite(changed[, data_class := "V"], path)
  figure <- figure_matrix(c(here = here, "site B" = there))
  expect_true(all(lint_figure(figure)$pass))
  shown <- data.table::rbindlist(lapply(figure$plots, function(plot) plot$data))
  expect_setequal(shown$claim, all_claims())
  expect_setequal(levels(shown$campaign), c("here\n(E)", "site B\n(E, V)"))
  expect_match(figure$caption, "Class E \\(emulated\\), Class V \\(virtualised\\)")
  expect_match(banner_text(figure), "^Columns of class E: EMULATED")
  expect_error(figure_matrix(c(here = tempdir())), "no study with a verdicts.csv")
  expect_error(named_words("here", "--campaigns"), "expected LABEL=DIR")
})
