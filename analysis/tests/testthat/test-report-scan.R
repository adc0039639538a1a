# The build refuses a number without a source. Each case is shown to fail.

folder <- tempfile("scan-")
dir.create(folder)
writeLines(c("a,b", "1,2", "3,4"), file.path(folder, "t.csv"))
writeLines('{"x": {"y/z": 5}}', file.path(folder, "f.json"))
scan <- function(html) check_numbers(html, folder, file.path(folder, "cited"))

test_that("a sourced number, a name, a date and what nobody reads pass", {
  expect_equal(unsourced_numbers(paste0(
    "<style>p { top: 1px }</style><p title=\"7\">", num("5 %", "t.csv#row=2"), " ", ident("gzip-9"), " ",
    ident("2.1.11"), " ", dated("2009-03-18"), " ",
    dated("2026-11-21T10:43:28.893+00:00"), "</p><!-- 3 --><script>var x = 4;</script>"
  )), character())
})

test_that("a bare number is found, with the words before it", {
  expect_equal(unsourced_numbers("<p>There were 12 of them</p>"), "There were 12 of them")
  expect_length(unsourced_numbers("<p>a</p><td>0.5</td><li>2 <b>and 3</b></li>"), 3L)
  expect_error(scan("<p>it took 5 s</p>"), "1 number without a source.*it took 5 s", class = "zassay_problem")
})

test_that("a number does not pass by dressing up as a name, a date or a link", {
  for (bad in c("<code class=\"id\">42</code>", "<code class=\"id\">1.5</code>", "<time>12</time>",
                "<time>3 days</time>",
                "<a href=\"t.csv\">7</a>", "<a class=\"num\" href=\"\">7</a>", "<code>lz4</code>",
                "<a class=\"num\" href=\"t.csv\">x</a>7", "<a class=\"num\" href=\"t.csv\"><b>7</b></a>")) {
    expect_length(unsourced_numbers(bad), 1L)
  }
})

test_that("a source has to exist: file, row, pointer, anchor", {
  good <- c("t.csv", "t.csv#row=2-3", "f.json#/x/y~1z", "t.csv#L2-L3", "t/raw/c/block-01/")
  expect_equal(scan(paste0(num("1", good), collapse = " ")), length(good))
  for (bad in c("u.csv#row=2", "t.csv#row=4", "t.csv#row=2;9", "f.json#/x/y", "t.csv#L9", "t.csv#here", "#nowhere",
                "cited/none.csv#row=1")) {
    expect_error(scan(num("1", bad)), "source does not exist", info = bad, class = "zassay_problem")
  }
  expect_equal(scan(paste0("<p id=\"here\">", num("1", "#here"), "</p>")), 1L)
})

test_that("a sentence's numbers link to its source, its names do not", {
  expect_equal(said("gzip-9 took 2.5 times as long, 20 % of it waiting", "t.csv"),
               paste0("<code class=\"id\">gzip-9</code> took <a class=\"num\" href=\"t.csv\">2.5</a> times as long, ",
                      "<a class=\"num\" href=\"t.csv\">20 %</a> of it waiting"))
  expect_equal(said("a < b & -3", "t.csv"), "a &lt; b &amp; <a class=\"num\" href=\"t.csv\">-3</a>")
  for (text in c("82-84 s", "<= 1.024 (82-84 s)", "1.00 < 1.47", "12/16, x4, 3:29", "x86_64 at 2.4GHz; p99=3")) {
    expect_equal(unsourced_numbers(said(text, "t.csv")), character(), info = text)
    expect_equal(gsub("<[^>]*>", "", said(text, "t.csv")), esc(text))
  }
})

test_that("a hole that nothing fills is an error, and data cannot make new holes", {
  expect_error(fill("<p>{{a}}</p>", list(b = "x")), "nothing fills \\{\\{a\\}\\}", class = "zassay_problem")
  expect_equal(fill("{{a}}{{b}}", list(a = "{{b}}", b = "x")), "{{b}}x")
})

test_that("ranges of rows are written and read alike", {
  expect_equal(row_ranges(c(9L, 2L, 3L, 4L)), "2-4;9")
  expect_equal(expand_ranges("2-4;9"), c(2L, 3L, 4L, 9L))
  expect_equal(row_ranges(integer()), "")
})

test_that("claims are found in their file whatever its style", {
  path <- file.path(folder, "claims.yaml")
  writeLines(c("study: s", "claims:", "  - id: T-01", "    type: dir", "  - {id: T-02, type: eq}", "  - id: \"T-03\"",
               "    type: x"), path)
  at <- lines_of_claims(path, c("T-01", "T-02", "T-03"))
  expect_equal(at$from, c(3L, 5L, 6L))
  expect_equal(at$to, c(4L, 5L, 7L))
  expect_error(lines_of_claims(path, "T-04"), "T-04", class = "zassay_problem")
})

test_that("every digit of the templates themselves is accounted for", {
  for (name in c("page.html", "source.html")) {
    template <- read_whole(file.path(ROOT, "analysis", "inst", "report", name))
    expect_equal(unsourced_numbers(template), character(), info = name)
  }
})
