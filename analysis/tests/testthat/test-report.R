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

page <- read_whole(file.path(results, "report.html"))
text <- gsub("\\s+", " ", gsub("<[^>]*>", "", gsub("(?s)<(script|style|title)\\b.*?</\\1>", "", page, perl = TRUE)))
catalogue <- list.files(dirname(STUDY))
claims_of_all <- unlist(lapply(Sys.glob(file.path(dirname(STUDY), "*", "claims.yaml")), function(path) {
  vapply(read_yaml_strict(path)$claims, `[[`, "", "id")
}))

test_that("the first screen has the campaign, its conclusion, how each source came out, and then the sources", {
  expect_match(text, sprintf("Of the %d claims of ", length(claims_of_all)))
  expect_match(text, "5 are replicated and [0-9]+ are not testable here: ")
  expect_match(text, "11 because this host emulates the CPU, so times are not evidence \\(counts are\\)")
  at <- vapply(c("<h1>", "class=\"conclusion\"", "class=\"sortable summary\"", "What was claimed", "What we did",
                 "What held", "How sure we are", "What could not be decided, and why"),
               function(words) regexpr(words, page, fixed = TRUE)[1], 0)
  expect_true(all(at > 0))
  expect_false(is.unsorted(at))
})

test_that("every claim of the catalogue is accounted for, once in the table and once with its reason", {
  table <- sub("(?s).*<table class=\"sortable claims cards\">(.*?)</table>.*", "\\1", page, perl = TRUE)
  rows <- regmatches(table, gregexpr("<a href=\"#claim-[^\"]+\"", table))[[1]]
  expect_setequal(sub("\"", "", sub(".*#claim-", "", rows)), claims_of_all)
  expect_equal(length(rows), length(claims_of_all))
  reasons <- regmatches(table, gregexpr("data-label=\"Why\"><div>[^<]+", table))[[1]]
  expect_equal(length(reasons), length(claims_of_all))
})

test_that("the page is one file: nothing is fetched", {
  expect_false(grepl("<(script|img|link|iframe)[^>]*(src|href)=\"(https?:)?//", page))
  expect_false(grepl("@import|url\\(http", page))
  expect_gte(lengths(regmatches(page, gregexpr("<img ", page))), 5L)
  expect_false(grepl("<img [^>]*src=\"(?!data:)", page, perl = TRUE))
})

test_that("failures are listed with their reasons, times of this class are withheld", {
  expect_match(text, "gate: steal 3 % &gt; 1 %", fixed = TRUE)
  cells <- sub("(?s).*<h3>Cells</h3>(.*?)</table>.*", "\\1", page, perl = TRUE)
  expect_false(grepl("write time", cells))
  expect_match(cells, "compressratio")
  expect_match(cells, "CPU-bound")
})

test_that("ids are unique, anchors resolve, and links to files lead to files and rows that exist", {
  ids <- regmatches(page, gregexpr(" id=\"[^\"]+\"", page))[[1]]
  expect_false(any(duplicated(ids)))
  anchors <- sub("href=\"#", "", sub("\"$", "", regmatches(page, gregexpr("href=\"#[^\"]+\"", page))[[1]]))
  expect_true(all(sprintf(" id=\"%s\"", anchors) %in% ids))
  links <- sub("\"$", "", sub("^href=\"", "", unique(regmatches(page, gregexpr("href=\"[^#\"][^\"]+\"", page))[[1]])))
  files <- unique(sub("#.*$", "", links))
  expect_true(all(file.exists(file.path(results, files[!grepl("/raw/", files)]))))
  expect_equal(lost_sources(links, page, results, file.path(results, "cited")), character())
})

test_that("a mean on the page is the mean of the rows that it links to", {
  data <- data.table::fread(file.path(campaign, "dataset.csv"))
  row <- sub("(?s).*<tr id=\"cell-compression-levels-gzip_text_75\">(.*?)</tr>.*", "\\1", page, perl = TRUE)
  pattern <- "(?s).*data-label=\"compressratio\"[^>]*><div><a class=\"num\" href=\"([^\"]*)\">([^<]*)<.*"
  cell <- sub(pattern, "\\1 \\2", row, perl = TRUE)
  parts <- strsplit(cell, " ", fixed = TRUE)[[1]]
  lines <- expand_ranges(sub(".*#row=", "", parts[1]))
  expect_equal(unique(data$metric[lines - 1L]), "compressratio")
  expect_equal(as.numeric(parts[2]), signif(mean(as.numeric(data$value[lines - 1L])), 4))
})

test_that("a rebuilt report is the same, byte for byte, and so is what it cites", {
  files <- file.path(results, c("report.html", "cited/claims.csv", "cited/method.csv", "cited/campaign.json"))
  before <- tools::md5sum(files)
  expect_equal(call_exec("report", "--results", results, "--studies", "compression-levels")$status, 0L)
  expect_identical(before, tools::md5sum(files))
})

test_that("the build fails on a number without a source, and leaves the report as it was", {
  templates <- tempfile("templates-")
  dir.create(templates)
  file.copy(list.files(file.path(ROOT, "analysis", "inst", "report"), full.names = TRUE), templates)
  build <- function() {
    build_report(results, "compression-levels", dirname(STUDY), file.path(results, "report.html"), templates,
                 file.path(ROOT, "config", "config.yaml"))
  }
  before <- tools::md5sum(file.path(results, "report.html"))
  source <- read_whole(file.path(templates, "source.html"))
  writeLines(sub("<h3>What held</h3>", "<h3>What held</h3><p>Writes took 1.9 times as long.</p>", source, fixed = TRUE),
             file.path(templates, "source.html"))
  expect_error(build(), "without a source.*Writes took 1.9 times as long", class = "zassay_problem")
  expect_identical(before, tools::md5sum(file.path(results, "report.html")))
  expect_false(dir.exists(file.path(results, "cited.part")))
  writeLines(source, file.path(templates, "source.html"))
  build()
  expect_identical(before, tools::md5sum(file.path(results, "report.html")))
})

test_that("mistakes are one clear line each, without a traceback", {
  wrong <- list(
    list(call_exec("report", "--results", results, "--studies", "compresion-levels"), 'unknown "compresion-levels"'),
    list(call_exec("report", "--results", results, "--studies", "compression-levels", "--config", "none.yaml"),
         "configuration is missing: none.yaml"),
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
