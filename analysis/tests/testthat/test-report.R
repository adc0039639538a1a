# The entry points, end to end, and the page they make.

results <- tempfile("results-")
dir.create(results)
campaign <- file.path(results, "compression-levels")
local({
  rows <- fail_runs(simulate_campaign(4L, class = "E"), "zstd_media_50", 2L, why = "gate: steal 3 % > 1 %")
  write_campaign(rows, campaign)
  jsonlite::write_json(list(accelerator = "tcg", cpu = list(model = "QEMU", vcpus = 4)),
                       file.path(campaign, "facts.json"), auto_unbox = TRUE)
  jsonlite::write_json(list(predicted_s = 400, actual_s = 431,
                            stages_s = list(measure = 300, prepare = 100), steps_median_s = list(create = 3.9)),
                       file.path(campaign, "timing.json"), auto_unbox = TRUE)
})
call_exec <- function(name, ...) {
  text <- suppressWarnings(system2(file.path(ROOT, "analysis", "exec", name), c(...), stdout = TRUE, stderr = TRUE))
  list(text = paste(text, collapse = "\n"), status = or_else(attr(text, "status"), 0L))
}
lint <- file.path(campaign, "figures", "lint.json")
common <- c("--study-dir", campaign, "--claims", CLAIMS)

test_that("figures, estimate, figures, report run as commands", {
  for (step in list(list("figures", common, "--set", "data"), list("estimate", common, "--lint", lint),
                    list("figures", common, "--set", "claims"),
                    list("report", "--results", results, "--studies", "compression-levels"))) {
    made <- call_exec(step[[1]], unlist(step[-1]))
    expect_equal(made$status, 0L, info = made$text)
  }
  expect_true(file.exists(file.path(results, "report.html")))
})

page <- paste(readLines(file.path(results, "report.html"), warn = FALSE), collapse = "\n")

test_that("the first screen has the conclusion, then the verdicts", {
  expect_match(page,
               paste0("Of 16 claims, 5 are replicated and 11 are not testable here \\(this host emulates the CPU, ",
                              "so times are not evidence; counts are\\)\\."))
  expect_lt(regexpr("Of 16 claims", page), regexpr("class=\"sortable verdicts\"", page))
  expect_lt(regexpr("class=\"sortable verdicts\"", page), regexpr("What was claimed", page))
})

test_that("the page is one file: nothing is fetched", {
  expect_false(grepl("<(script|img|link|iframe)[^>]*(src|href)=\"(https?:)?//", page))
  expect_false(grepl("@import|url\\(http", page))
  expect_equal(lengths(regmatches(page, gregexpr("<img ", page))), 5L)
  expect_false(grepl("<img [^>]*src=\"(?!data:)", page, perl = TRUE))
})

test_that("failures are listed with their reasons, times of this class are withheld", {
  expect_match(page, "gate: steal 3 % &gt; 1 %")
  expect_match(page, "What could not be decided, and why")
  cells <- sub("(?s).*<h3>Cells</h3>(.*?)</table>.*", "\\1", page, perl = TRUE)
  expect_false(grepl("write time", cells))
  expect_match(cells, "compressratio")
})

test_that("ids are unique, anchors resolve, and links to files lead to rows that exist", {
  ids <- regmatches(page, gregexpr(" id=\"[^\"]+\"", page))[[1]]
  expect_false(any(duplicated(ids)))
  anchors <- sub("href=\"#", "", sub("\"$", "", regmatches(page, gregexpr("href=\"#[^\"]+\"", page))[[1]]))
  expect_true(all(sprintf(" id=\"%s\"", anchors) %in% ids))
  links <- unique(regmatches(page, gregexpr("href=\"compression-levels/[^\"]+\"", page))[[1]])
  links <- sub("\"$", "", sub("^href=\"", "", links))
  files <- sub("#.*$", "", links)
  expect_true(all(file.exists(file.path(results, files[!grepl("/raw/", files)]))))
  rows <- links[grepl("dataset.csv#row=", links)]
  lines <- length(readLines(file.path(campaign, "dataset.csv")))
  expect_true(all(as.integer(unlist(strsplit(sub(".*#row=", "", rows), ";"))) <= lines))
})

test_that("a rebuilt report is the same, byte for byte", {
  before <- tools::md5sum(file.path(results, "report.html"))
  expect_equal(call_exec("report", "--results", results, "--studies", "compression-levels")$status, 0L)
  expect_identical(before, tools::md5sum(file.path(results, "report.html")))
})

test_that("mistakes are one clear line each, without a traceback", {
  wrong <- list(
    list(call_exec("report", "--results", results, "--studies", "compresion-levels"), 'unknown "compresion-levels"'),
    list(call_exec("estimate", "--study-dir", tempdir(), "--claims", CLAIMS), "dataset is missing"),
    list(call_exec("estimate", "--study-dir", campaign), "--claims is missing"),
    list(call_exec("figures", common, "--set", "some"), 'unknown "some"')
  )
  for (case in wrong) {
    expect_equal(case[[1]]$status, 1L)
    expect_match(case[[1]]$text, case[[2]], fixed = TRUE)
    expect_false(grepl("Traceback|Backtrace|Execution halted", case[[1]]$text))
  }
  file.rename(file.path(campaign, "facts.json"), file.path(campaign, "facts.kept"))
  made <- call_exec("report", "--results", results, "--studies", "compression-levels", "--out",
                    file.path(results, "other.html"))
  file.rename(file.path(campaign, "facts.kept"), file.path(campaign, "facts.json"))
  expect_match(made$text, "report input is missing: .*facts.json")
  expect_false(file.exists(file.path(results, "other.html")))
})

test_that("--help works", {
  for (name in c("estimate", "figures", "report")) expect_match(call_exec(name, "--help")$text, "Usage: analysis/exec/")
})
