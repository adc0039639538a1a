# The audit of published tables: every finding of the catalogue's own re-check, tables of any form, and bad ones.

SCHEMA <- file.path(SCHEMAS, "audit.schema.yaml")
PUBLISHED <- Sys.glob(file.path(ROOT, "studies", "*", "published.csv"))
FOUND <- data.table::rbindlist(lapply(PUBLISHED, audit_findings, schema = SCHEMA))
#' What the five sources' arithmetic came to when it was checked by hand; a copy of the catalogue's recheck.csv.
RECHECK <- data.table::fread("recheck.csv", colClasses = "character", na.strings = NULL)

written <- function(lines, name = "table.csv") {
  path <- file.path(tempfile("audit-"), name)
  dir.create(dirname(path))
  writeLines(lines, path)
  path
}

findings_of <- function(lines, sidecar = NULL) {
  path <- written(lines)
  if (!is.null(sidecar)) writeLines(sidecar, audit_sidecar(path))
  audit_findings(path, SCHEMA)
}

#' Every number in a text, with half of its last digit.
numbers_in <- function(text) {
  found <- unlist(regmatches(text, gregexpr("[0-9]+([.][0-9]+)?", text)))
  data.frame(value = as.numeric(found), half = last_digit(found) / 2)
}

#' Where each row of the re-check is to be found: source, the check's name, and its rows.
WHERE <- list(
  "mean of 5 MB/s rows" = "^mean of bandwidth",
  "sample sd (n-1) of 5 MB/s rows" = "^sd of bandwidth .randread, written",
  "mean of 5 IOPS rows" = "^mean of iops", "sample sd of 5 IOPS rows" = "^sd of iops",
  "IOPS x 128 KiB vs MB/s, 4 cells" = "^operations per second .(read|randread), (un)?written. from",
  "sd(IOPS)/8 vs sd(MB/s), randread unwritten" = "^sd of bandwidth .randread, unwritten",
  "(MRU+MFU)/(60 x IOPS), runs 1-5" = "^hit ratio from hits", "IOPS x (1-hit), runs 1-5" = "^operations that missed",
  "hit ratio bound ARC/file = 6/36" = "^hit ratio against ARC", "hits(k) <= IOs(k-1) (replay bound)" = "^hits of a run",
  "36/14" = "^compression, in words",
  "UFS overkill ratio" = "^slowdown .UFS.*overkill", "ZFS overkill ratio" = "^slowdown .ZFS.*overkill",
  "ext3fs overkill ratio" = "^slowdown .ext3fs.*overkill", "reiserfs overkill ratio" = "^slowdown .reiserfs.*overkill",
  "ZFS reasonable ratio" = "^slowdown .ZFS.*reasonable", "ext3fs reasonable ratio" = "^slowdown .ext3fs.*reasonable",
  "reiserfs reasonable ratio" = "^slowdown .reiserfs.*reasonable",
  "K/sec / 1024 vs MB/sec (12 values)" = "in MB/sec$", "seeks x 4 is a multiple of 0.1" = "^mean of seeks",
  "total = write + read, 10 rows" = "^total time .(compression|lzjb|gzip)", "316/209" = "^total time ratio",
  "(316-200)/(209-200)" = "^ratio of drawn", "12/16" = "zio threads 12, cores 16",
  "largest gain possible 8->12 threads" = "^gain from 8"
)

found_for <- function(check, source) {
  wanted <- source
  hits <- FOUND[source == wanted & grepl(WHERE[[check]], what)]
  # The text of S1 repeats two ratios of its table.
  if (grepl("overkill ratio", check)) hits[table == "T1"] else hits
}

test_that("every row of the re-check is looked for", {
  expect_setequal(c(names(WHERE), "figures"), RECHECK$check)
})

test_that("the numbers of the re-check come out of the printed tables", {
  for (i in which(RECHECK$check != "figures")) {
    row <- RECHECK[i]
    hits <- found_for(row$check, row$study)
    expect_gt(nrow(hits), 0)
    ours <- numbers_in(c(hits$recomputed, hits$interval, hits$sentence))$value
    if (row$recomputed == "all exact") next
    # "1-8/12" is how, not what.
    theirs <- numbers_in(sub("=.*", "", gsub("[0-9]+<=", "", row$recomputed)))
    for (k in seq_len(nrow(theirs))) {
      expect_true(any(abs(ours - theirs$value[k]) <= theirs$half[k] * 1.001), info = paste(row$check, theirs$value[k]))
    }
  }
})

test_that("the verdicts of the re-check come out, too", {
  verdicts <- function(check, source) found_for(check, source)$verdict
  for (i in grep("^ok($| .within)|^plausible", RECHECK$result)) {
    expect_true(all(verdicts(RECHECK$check[i], RECHECK$study[i]) == "ok"), info = RECHECK$check[i])
  }
  for (i in which(RECHECK$result %in% c("mismatch", "wording"))) {
    expect_true(all(verdicts(RECHECK$check[i], RECHECK$study[i]) != "ok"), info = RECHECK$check[i])
  }
  expect_identical(verdicts("total = write + read, 10 rows", "S3"), rep("ok", 10))
  expect_identical(verdicts("(MRU+MFU)/(60 x IOPS), runs 1-5", "S0"), c("truncated", rep("ok", 4)))
  expect_identical(verdicts("hit ratio bound ARC/file = 6/36", "S0"), c("ok", rep("suspect", 4)))
  conversions <- found_for("K/sec / 1024 vs MB/sec (12 values)", "S2")
  expect_identical(sort(conversions[verdict == "truncated", printed]), c("51.5", "52.5"))
  expect_identical(nrow(conversions[verdict == "ok"]), 10L)
})

test_that("impossible ratios are called so, with what would mend them", {
  expect_identical(FOUND[verdict == "impossible", what],
                   c("slowdown (UFS, Solaris x86, overkill/none)", "slowdown (reiserfs, Linux, overkill/none)"))
  said <- FOUND[verdict == "impossible", sentence]
  expect_match(said[1], "6.972 [6.955, 6.989]; 8.2 was printed", fixed = TRUE)
  expect_match(said[1], "One digit would do: 6:50 for 5:50.", fixed = TRUE)
  expect_match(said[2], "0:33.6 for 0:33.4", fixed = TRUE)
})

test_that("the sd of a series that drifts is suspect", {
  drifts <- FOUND[grepl("^drift", what)]
  expect_identical(drifts$verdict, c("suspect", "suspect"))
  expect_match(drifts$sentence[1], "from 20.1 to 58.3 (by chance in 2 of 120 orders): the sd of 14.2 is drift",
               fixed = TRUE)
})

test_that("a source without arithmetic has nothing but what its sidecar says", {
  expect_identical(FOUND[source == "S4", verdict], "suspect")
})

test_that("the catalogue's own tables are the ones that are audited", {
  reference <- Sys.getenv("ZASSAY_REFERENCE")
  skip_if_not(nzchar(reference) && dir.exists(reference), "ZASSAY_REFERENCE names no folder with the catalogue")
  text <- function(path) data.table::fread(path, colClasses = "character", na.strings = NULL)
  expect_identical(RECHECK, text(file.path(reference, "recheck.csv")))
  values <- text(file.path(reference, "published_values.csv"))
  ours <- data.table::rbindlist(lapply(PUBLISHED, text), fill = TRUE)
  for (column in c("value", "sd", "raw", "resolution", "config")) {
    expect_identical(ours[[column]][match(values$row_id, ours$row_id)], values[[column]])
  }
})

# Tables of other forms

test_that("a clean table yields only checks that came out right", {
  found <- findings_of(c("compression,write (s),read (s),total (s)", "off,126,83,209", "lzjb,133,83,216"))
  expect_identical(found$verdict, c("ok", "ok"))
  found <- findings_of(c("compression,write time,read time,total time", "off,2:06,1:23,3:29", "lzjb,2:13,1:23,3:36"))
  expect_identical(found$verdict, c("ok", "ok"))
  expect_length(audit_lines(found, "t.csv"), 1L)
})

test_that("a ratio column is checked against the columns it is named after", {
  found <- findings_of(c("File system,Unloaded (s),Loaded (s),Loaded/Unloaded", "UFS,50.2,5:50,8.2",
                         "ZFS,31.8,36.0,1.13"))
  expect_identical(found$verdict, c("impossible", "ok"))
  expect_match(found$sentence[1], "6:50 for 5:50", fixed = TRUE)
})

test_that("a column called ratio takes the two columns of one unit, whichever way round fits", {
  found <- findings_of(c("setup,baseline (s),with dedup (s),ratio", "x,100,250,2.5", "y,120,360,3.0", "z,80,100,1.4"))
  expect_identical(found$verdict, c("ok", "ok", "impossible"))
  expect_match(found$sentence[3], "100 / 80 is 1.250", fixed = TRUE)
})

test_that("total columns and total rows are added up", {
  found <- findings_of(c("setting,write time,read time,total time", "off,2:06,1:23,3:29", "gzip,7:17,1:22,8:49",
                         "total,9:23,2:45,12:18"))
  expect_identical(found[verdict == "impossible", what], c("total time (gzip)", "total time (total)"))
  expect_identical(found[verdict == "ok", what],
                   c("total time (setting off)", "write time (total)", "read time (total)", "total time (total)"))
  guess <- findings_of(c("disk,min (s),max (s),total (s)", "a,1,5,60", "b,2,6,80"))
  expect_identical(nrow(guess), 0L)
})

test_that("two units of one quantity are converted", {
  found <- findings_of(c("test,read (K/sec),read (MB/sec)", "a,52830,51.5", "b,59934,58.5", "c,53844,54.6"))
  expect_identical(found$verdict, c("truncated", "ok", "impossible"))
  decimal <- findings_of(c("test,read (KB/s),read (MB/s)", "a,52830,52.8", "b,59934,59.9"))
  expect_identical(decimal$verdict, c("ok", "ok"))
})

test_that("columns of runs make a mean and an sd", {
  rows <- c("test,Run 1,Run 2,Run 3,Run 4,Run 5,mean,sd", "a,20.1,36.2,40.4,47.8,58.3,40.6,14.2",
            "b,10.0,12.0,11.0,9.0,13.0,11.0,1.6", "c,10.0,12.0,11.0,9.0,13.0,11.0,1.4",
            "d,10.0,12.0,11.0,9.0,13.0,12.0,1.6")
  found <- findings_of(rows)
  expect_identical(found[grepl("^mean", what), verdict], c("ok", "ok", "ok", "impossible"))
  spread <- found[grepl("^sd", what)]
  expect_identical(spread$verdict, c("ok", "ok", "suspect", "ok"))
  expect_match(spread$sentence[3], "population's sd", fixed = TRUE)
  drift <- found[grepl("^drift", what)]
  expect_identical(drift$line, 1L)
  expect_match(drift$rows, "^row 1, mean row 1, Run 1 .* row 1, Run 5$")
})

test_that("a slip in copying is found", {
  found <- findings_of(c("row_id,metric,unit,value,raw", "a,time,s,350,5:50", "b,time,s,351,5:51.0",
                         "c,time,s,360,6:01"))
  expect_identical(found[, .(rows, verdict)], data.table::data.table(rows = "c", verdict = "suspect"))
})

test_that("intervals know rounding from cutting", {
  expect_identical(judge_printed(8.2, 0.1, c(point = 6.97, lo = 6.955, hi = 6.989)), "impossible")
  expect_identical(judge_printed(51.5, 0.1, c(point = 51.59, lo = 51.59, hi = 51.59)), "truncated")
  expect_identical(judge_printed(51.6, 0.1, c(point = 51.59, lo = 51.59, hi = 51.59)), "ok")
  expect_identical(judge_printed(51.5, 0.1, c(point = 51.6, lo = 51.6, hi = 51.6)), "impossible")
  expect_true(anyNA(divide_ranges(as_range(1), as_range(0.2, 0.5))))
  # Any number inside both intervals could have been printed so: no false alarm.
  set.seed(7)
  for (k in 1:200) {
    a <- runif(1, 1, 100)
    b <- runif(1, 1, 100)
    range <- divide_ranges(rounded(round(a, 1), 0.1), rounded(round(b, 2), 0.01))
    expect_identical(judge_printed(round(a / b, 1), 0.1, range), "ok")
  }
})

test_that("cells are read as people print them", {
  read <- function(text) parse_cell(text)[c("value", "res")]
  expect_identical(read("5:50"), list(value = 350, res = 1))
  expect_identical(read("0:33.4"), list(value = 33.4, res = 0.1))
  expect_identical(read("1,234.50"), list(value = 1234.5, res = 0.01))
  expect_identical(parse_cell("8.2:1")$unit, "x")
  expect_identical(parse_cell("40.6 \u00b1 14.2")[c("value", "sd", "sd_text")],
                   list(value = 40.6, sd = 14.2, sd_text = "14.2"))
  expect_identical(parse_cell("58.5MB/sec")$unit, "MB/sec")
  for (text in c("fast", "", "1.2.3", "5:75", "+++++", "1,23")) expect_true(is.na(parse_cell(text)$value), info = text)
  expect_identical(unit_of_text("MB/s")$factor, 1024^2)
  expect_identical(unit_of_text("MB/s")$other, 1e6)
  expect_identical(size_of_text("128k"), 131072)
  expect_true(is.na(unit_of_text("furlong")$factor))
})

# Sidecars

RUNS <- c("row_id,metric,value,config", "a,x,10,run=1", "b,x,20,run=2", "c,x,30,run=3", "d,y,20,run=1", "e,y,41,run=2",
          "f,y,60,run=3")
relation <- function(...) c("relations:", "  - what: test", paste0("    ", c(...)))

test_that("relations may be declared", {
  found <- findings_of(RUNS, relation("kind: conversion", "printed: y", "from: x", "factor: 2"))
  expect_identical(found$verdict, c("ok", "ok", "ok"))
  found <- findings_of(RUNS, relation("kind: formula", "printed: y", "formula: x + 10 + at(x, run = \"1\") * 0"))
  expect_identical(found$verdict, c("ok", "impossible", "impossible"))
  found <- findings_of(RUNS, relation("kind: bound", "quantity: y", "at_most: previous(x) * 3", "premise: they replay"))
  expect_identical(found$verdict, c("suspect", "ok"))
  expect_match(found$sentence[1], "Not possible if they replay.", fixed = TRUE)
  found <- findings_of(RUNS, relation("kind: constant", "quantity: y / x"))
  expect_identical(found$verdict, "ok")
  found <- findings_of(RUNS, relation("kind: ratio", "printed: y", "of: x * x", "by: x"))
  expect_identical(found$verdict[3], "impossible")
  expect_identical(findings_of(RUNS, relation("kind: sum", "printed: y", "parts: [x, x]"))$verdict, rep("ok", 3))
})

test_that("series and means may be declared along any key", {
  rows <- c("row_id,metric,value,sd,statistic,config", sprintf("r%d,t,%d,,single,day=%d", 1:5, 1:5 * 10L, 1:5),
            "m,t,30,15.8,mean,who=all")
  found <- findings_of(rows, relation("kind: drift", "of: t", "over: day"))
  expect_identical(found$verdict, "suspect")
  found <- findings_of(rows, relation("kind: mean", "printed: t", "over: day"))
  expect_identical(found$verdict, c("ok", "ok"))
})

test_that("a mean of whole steps is a multiple of a step over their number", {
  rows <- c("row_id,metric,value,n,statistic", "a,seeks,517.45,4,mean", "b,seeks,517.44,4,mean")
  found <- findings_of(rows, relation("kind: multiple", "printed: seeks", "step: 0.1"))
  expect_identical(found$verdict, c("ok", "impossible"))
})

refused <- function(lines, sidecar, what, expected = character()) {
  message <- tryCatch({
    findings_of(lines, sidecar)
    "no error"
  }, zassay_problem = conditionMessage)
  for (text in c(what, expected)) expect_match(message, text, fixed = TRUE)
}

test_that("a bad table names row and column", {
  refused(c("metric,value", "a,1", "b,fast"), NULL, "row 2, column \"value\": \"fast\" is not a number",
          "decimal point")
  refused(c("metric,value,sd", "a,1,x"), NULL, "row 1, column \"sd\": \"x\"")
  refused(c("metric,value,config", "a,1,=x"), NULL, "row 1, column \"config\": \"=x\"", "key=value")
  refused(c("compression,write (s)", "off,126", "lzjb,133", "zstd,fast"), NULL,
          "row 3, column \"write (s)\": \"fast\" is not a number", "expected numbers in this column")
  refused(c("a,b", "x,y"), NULL, "no column of numbers", "found: a, b")
  refused(c("a,a", "1,2"), NULL, "column \"a\" is there twice")
  refused(c("metric,value"), NULL, "no rows")
  refused(c("metric,value", "a,1,2,3"), NULL, "not a whole CSV file")
})

test_that("a bad sidecar names relation and key", {
  refused(RUNS, relation("kind: formula", "printed: y"), "relations[0] (test): key \"formula\" is missing")
  refused(RUNS, relation("kind: formula", "printed: y", "formula: xx * 2"), "unknown \"xx\"", "did you mean x?")
  refused(RUNS, relation("kind: formula", "printed: y", "formula: system(1)"), "unknown \"system\"")
  refused(RUNS, relation("kind: formula", "printed: y", "formula: x *"), "not arithmetic")
  refused(RUNS, relation("kind: formula", "printed: y", "formula: at(x, run)"), "at() without levels")
  refused(RUNS, relation("kind: formula", "printed: z", "formula: x"), "printed: unknown \"z\"")
  refused(RUNS, relation("kind: formula", "printed: y", "formula: x", "where: {run: \"9\"}"), "no row to check")
  refused(RUNS, relation("kind: sums", "printed: y"), "unknown value \"sums\"")
  refused(RUNS, relation("kind: bound", "quantity: y"), "no bound", "at_most or at_least")
  refused(RUNS, c(relation("kind: sum", "printed: y", "parts: [x, x]"), "extra: 1"), "unknown key \"extra\"")
})

test_that("formulas are arithmetic and nothing else", {
  for (text in c("x[1]", "get(\"x\")", "x; y", "(function() 1)()", "x$y", "`x`()", "x <- 1", "-x + (2 * y)")) {
    ok <- tryCatch({
      parse_formula(text, c("x", "y"), "here")
      TRUE
    }, zassay_problem = function(e) FALSE)
    expect_identical(ok, text == "-x + (2 * y)", info = text)
  }
})
