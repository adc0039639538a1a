# The code itself: files are small, schemas agree with Python's reading of them (lintr runs in tests/test_linters.py).

files <- list.files(file.path(ROOT, "analysis"), "[.](R|Rmd)$|^(audit|compare|estimate|figures|report)$",
                    recursive = TRUE, full.names = TRUE)

test_that("no file is larger than 16 KiB, vectors apart", {
  expect_true(all(file.size(files) < 16 * 1024), info = paste(basename(files)[file.size(files) >= 16 * 1024],
      collapse = " "))
})

test_that("no name is given twice: all files share one environment, and the later one would win", {
  sources <- list.files(file.path(ROOT, "analysis", "R"), "[.]R$", full.names = TRUE)
  lines <- unlist(lapply(sources, readLines, warn = FALSE))
  given <- sub(" <- .*", "", grep("^[A-Za-z_.]+ <- ", lines, value = TRUE))
  expect_identical(given[duplicated(given)], character())
})

test_that("claims and figures satisfy their schemas as Python reads them", {
  python <- Filter(file.exists, c(file.path(ROOT, ".venv", "bin", "python"), Sys.which("python3")))
  code <- c(
    "import sys, yaml, jsonschema", "for s, d in zip(sys.argv[1::2], sys.argv[2::2]):",
    "    jsonschema.validate(yaml.safe_load(open(d)), yaml.safe_load(open(s)))"
  )
  script <- tempfile(fileext = ".py")
  writeLines(code, script)
  pairs <- c(file.path(SCHEMAS, "claims.schema.yaml"), CLAIMS, file.path(SCHEMAS, "figures.schema.yaml"),
             file.path(STUDY, "figures.yaml"))
  ran <- vapply(python, function(p) {
    identical(suppressWarnings(system2(p, c("-c", shQuote("import yaml, jsonschema")),
      stdout = FALSE, stderr = FALSE)), 0L)
  }, TRUE)
  skip_if_not(any(ran), "no Python with jsonschema")
  expect_identical(system2(python[ran][1], c(script, pairs), stdout = FALSE, stderr = FALSE), 0L)
})
