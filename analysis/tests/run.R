#!/usr/bin/env Rscript
# All tests of the R package, from its source tree; the last line says how many passed and failed.
# With arguments: only the files whose names contain one of them.
here <- gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]), fixed = TRUE)
here <- dirname(dirname(normalizePath(here)))
source(file.path(here, "exec", "load.R"))
need(c("testthat", "data.table", "ggplot2", "patchwork", "svglite", "ragg", "jsonlite", "yaml", "cli", "digest"))
suppressPackageStartupMessages({
  library(testthat)
  library(ggplot2)
  library(patchwork)
})
home <- load_zassay(here)
home$ROOT <- dirname(here)
options(cli.num_colors = 1L, cli.width = 500L, width = 120L)
wanted <- commandArgs(TRUE)
results <- as.data.frame(testthat::test_dir(
  file.path(here, "tests", "testthat"), filter = if (length(wanted)) paste(wanted, collapse = "|"), env = home,
  load_package = "none", stop_on_failure = FALSE, reporter = testthat::SummaryReporter$new(show_praise = FALSE,
      max_reports = 50L)
))
failed <- sum(results$failed) + sum(results$error)
cat(sprintf("%d passed, %d failed\n", sum(results$passed), failed))
quit(save = "no", status = as.integer(failed > 0 || sum(results$passed) == 0))
