# claims.yaml: the schema, the shorthands, and agreement with the published numbers.

claims <- read_claims(CLAIMS, file.path(SCHEMAS, "claims.schema.yaml"))

test_that("all sixteen claims of S3 are there and typed", {
  expect_setequal(names(claims$claims), c(sprintf("S3-%02d", 1:15), "Q3-1"))
  types <- vapply(claims$claims, `[[`, "", "type")
  expect_equal(unname(types[c("S3-01", "S3-02", "S3-05", "S3-07", "Q3-1")]), c("eq", "det", "ord", "dir", "lint"))
  expect_setequal(names(which(vapply(claims$claims, `[[`, "", "min_class") == "E")),
                  c("S3-02", "S3-03", "S3-04", "S3-15"))
})

test_that("weights of every contrast add up to zero", {
  for (claim in claims$claims) for (link in claim$links) {
    expect_equal(sum(vapply(link$terms, function(term) as.numeric(term$weight), 0)), 0)
  }
})

test_that("shorthands expand", {
  expect_length(claims$claims[["S3-01"]]$links, 8)
  expect_equal(vapply(claims$claims[["S3-05"]]$links, `[[`, "", "id"),
               c("lzjb - off", "gzip-2 - lzjb", "gzip - gzip-2", "gzip-9 - gzip"))
  expect_equal(claims$claims[["S3-12"]]$links[[1]]$null, log(0.8))
  expect_length(pair_links(list(over = "f", levels = c("a", "b", "c"))), 3)
})

test_that("published effects follow from the printed values", {
  printed <- data.table::fread(file.path(STUDY, "published.csv"))
  time <- function(data, level) {
    printed[config == sprintf("data=%s;compression=%s;zio_threads=12;cores=16", data,
                                                          level) & metric == "write_time", value]
  }
  effect <- function(id) unlist(claims$claims[[id]]$published_effect)
  expect_equal(round(time("text", c("gzip-2")) / time("text", "off"), 3), effect("S3-07"))
  expect_equal(round(time("text", "gzip") / time("text", "off"), 3), effect("S3-08"))
  expect_equal(round(time("text", "gzip-9") / time("text", "off"), 3), effect("S3-09"))
  expect_equal(round(time("text", "gzip") / time("text", "off") / (time("media", "gzip") / time("media", "off")), 3),
               effect("S3-11"))
  expect_equal(round(c(time("text", "lzjb") / time("text", "off"), time("media", "lzjb") / time("media", "off")), 3),
               effect("S3-06"))
})

test_that("the margins of directional claims are the magnitude rule, max(1.25, |p|/4 on logs)", {
  for (id in sprintf("S3-%02d", 7:11)) {
    claim <- claims$claims[[id]]
    expect_equal(round(exp(max(log(1.25), 0.25 * log(claim$published_effect))), 3), claim$margin)
  }
})

test_that("faults in claims.yaml are named", {
  text <- readLines(CLAIMS)
  with_text <- function(from, to) {
    path <- tempfile(fileext = ".yaml")
    writeLines(sub(from, to, text, fixed = TRUE), path)
    read_claims(path, file.path(SCHEMAS, "claims.schema.yaml"))
  }
  expect_error(with_text('reference: "off"', "reference: off"), "bare off would be read as a boolean")
  expect_error(with_text("type: eq", "type: equal"), 'claims\\[S3-01\\].type: unknown value "equal"')
  expect_error(with_text("min_class: V", "minclass: V"), "min_class.*missing")
  expect_error(with_text("margin: 1.05", "margin: wide"), "claims\\[S3-01\\].margin: wrong kind of value")
  expect_error(with_text("id: S3-02", "id: S3-01"), "claim S3-01 appears twice")
  expect_error(with_text("kind: contrast", "kind: predicate"), "does not go with estimator kind")
  expect_error(with_text("    notes: null", "    remarks: null"), "notes")
})

test_that("an absent level or factor is not testable, with its name", {
  rows <- simulate_campaign(3L, class = "V")[f_compression != "gzip-9"]
  v <- decide_rows(rows)$verdicts
  expect_equal(v[claim == "S3-09", verdict], "NOT TESTABLE HERE")
  expect_match(v[claim == "S3-09", reason], 'compression "gzip-9" is not in the data')
  expect_equal(v[claim == "S3-07", verdict], "REPLICATED")
})
