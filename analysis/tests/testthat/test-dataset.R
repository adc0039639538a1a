# A bad dataset names its row and column.

read_rows <- function(rows) {
  dir <- write_campaign(rows)
  on.exit(unlink(dir, recursive = TRUE))
  read_dataset(file.path(dir, "dataset.csv"))
}
base <- simulate_campaign(3L)
spoil <- function(column, text, row = 5L) {
  rows <- data.table::copy(base)
  data.table::set(rows, j = column, value = as.character(rows[[column]]))
  data.table::set(rows, row, column, text)
  rows
}

test_that("a sound dataset is read with its factors, cells and blocks", {
  data <- read_rows(base)
  expect_setequal(data$factors, c("compression", "corpus", "zio_taskq_batch_pct"))
  expect_equal(nrow(data$cells), 28)
  expect_equal(data$blocks, 1:3)
})

test_that("each fault is one message that names row and column", {
  expect_error(read_rows(spoil("value", "fast")), 'row 5, column "value": "fast" is not a finite number')
  expect_error(read_rows(spoil("value", "NaN")), "row 5.*not a finite number")
  expect_error(read_rows(spoil("value", "Inf")), "row 5.*not a finite number")
  expect_error(read_rows(spoil("value", "-1")), "row 5.*negative")
  expect_error(read_rows(spoil("value", "")), "row 5.*ok has no value")
  expect_error(read_rows(spoil("status", "done")), 'row 5, column "status": "done"')
  expect_error(read_rows(spoil("block", "0")), 'row 5, column "block"')
  expect_error(read_rows(spoil("validity_class", "X")), 'column "validity_class"')
  expect_error(read_rows(spoil("unit", "ms")), "row 5, column \"unit\": metric .* has different units: ms, and")
  expect_error(read_rows(spoil("validity_class", "V")), "synthetic rows must be class S")
  expect_error(read_rows(spoil("f_corpus", "other")),
               "row [0-9]+, column \"f_corpus\": cell .* two different sets of factor levels")
  expect_error(read_rows(data.table::copy(base)[5, status := "failed"]), "not ok has a value")
  expect_error(read_rows(data.table::copy(base)[5, c("status", "value") := list("failed", "")]), "gives no reason")
  expect_error(read_rows(rbind(base, base[3])), "appears twice")
  expect_error(read_rows(data.table::copy(base)[, zfs := NULL]), 'column "zfs" is missing')
  for (text in c("0x10", "1,5", "1_000", "1 000", "\u0661")) {
    expect_error(read_rows(spoil("value", text)), "row 5, column \"value\".*not a finite number", info = text)
  }
  expect_error(read_rows(spoil("block", "99999999999")), 'row 5, column "block"')
})

test_that("a row with too few or too many fields is named", {
  dir <- write_campaign(base)
  path <- file.path(dir, "dataset.csv")
  lines <- readLines(path)
  spoiled <- function(line, text) {
    writeLines(replace(lines, line, text), path)
    tryCatch(read_dataset(path), zassay_problem = conditionMessage)
  }
  expect_match(spoiled(4, "a,b,c"), "row 3 has 3 fields, expected", fixed = TRUE)
  expect_match(spoiled(6, paste0(lines[6], ",more")), "row 5 has", fixed = TRUE)
  expect_match(spoiled(1, sub("zfs", "kernel", lines[1])), "column \"kernel\" is there twice", fixed = TRUE)
})

test_that("a missing file says which stage makes it", {
  expect_error(read_dataset("/nowhere/dataset.csv"), "dataset is missing")
})

test_that("a quoted comma, quote and line of text survive", {
  rows <- fail_runs(base, base$cell[1], 1L, why = 'guest said: "no, never"')
  expect_true('guest said: "no, never"' %in% read_rows(rows)$rows$reason)
})

test_that("zero is a count but has no logarithm", {
  rows <- data.table::copy(base)[metric == "pool_bytes_read" & cell == base$cell[1], value := "0"]
  expect_silent(read_rows(rows))
  rows <- data.table::copy(simulate_campaign(3L, class = "V"))[metric == "write_time" & block == 1L &
      cell == "gzip_text_75", value := "0"]
  expect_error(decide_rows(rows), "log of non-positive value 0")
})

test_that("derived metrics are arithmetic and nothing else", {
  data <- add_derived(read_rows(base), list(twice = "2 * write_time", capped = "min(1, write_cpu_busy)"))
  one <- data$rows[cell == "gzip_text_75" & block == 1]
  expect_equal(one[metric == "twice", value], 2 * one[metric == "write_time", value])
  expect_error(add_derived(read_rows(base), list(bad = "system(write_time)")), 'unknown "system"')
  expect_error(add_derived(read_rows(base), list(bad = "write_tme * 2")), "did you mean write_time")
})
