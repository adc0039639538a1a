# The verdict procedure, case by case, through the production path where that is cheap.

test_that("as published: everything is replicated from class V data", {
  v <- verdicts_of(simulate_campaign(6L, class = "V"))
  expect_true(all(v == "REPLICATED"))
})

test_that("no effect: the directional claims are refuted, the equalities hold", {
  v <- decide_rows(simulate_campaign(8L, class = "V", truth = 0))$verdicts
  expect_equal(v[claim %in% c("S3-07", "S3-08", "S3-09", "S3-10", "S3-11"), unique(paste(verdict, detail))],
               "NOT REPLICATED negligible")
  expect_equal(v[claim == "S3-06", verdict], "REPLICATED")
})

test_that("the opposite sign is contradicted, and magnitude stays a field of its own", {
  v <- decide_rows(simulate_campaign(6L, class = "V", truth = -1))$verdicts
  expect_equal(v[claim == "S3-08", paste(verdict, detail)], "NOT REPLICATED contradicted")
  expect_equal(v[claim == "S3-05", paste(verdict, detail)], "NOT REPLICATED contradicted")
  expect_equal(v[claim == "S3-08", magnitude], "different")
})

test_that("the class gate has no override, and withheld estimates are really withheld", {
  for (class in c("S", "E")) {
    made <- decide_rows(simulate_campaign(5L, class = class))
    timed <- made$verdicts[min_class == "V"]
    expect_equal(unique(timed$verdict), "NOT TESTABLE HERE")
    expect_equal(unique(timed$detail), "class")
    expect_true(all(timed$estimate == "" & timed$ours == "" & timed$p_adj == ""))
    rows <- made$estimates[claim %in% timed$claim]
    expect_true(all(rows$estimate == "" & rows$p == "" & rows$ci95_lo == ""))
    expect_match(rows$method, sprintf("withheld: class %s < V", class))
  }
  e <- verdicts_of(simulate_campaign(5L, class = "E"))
  expect_true(all(e[c("S3-02", "S3-03", "S3-04", "S3-15", "Q3-1")] == "REPLICATED"))
  expect_equal(sum(verdicts_of(simulate_campaign(5L, class = "S")) == "REPLICATED"), 1)
})

test_that("validity classes never mix in a contrast", {
  rows <- rbind(simulate_campaign(2L, class = "V"), simulate_campaign(4L, class = "E")[block > 2L])
  expect_error(decide_rows(rows), "would mix validity classes E and V")
})

test_that("one and two blocks: a point or an interval, but no verdict", {
  one <- decide_rows(simulate_campaign(1L, class = "V"))
  expect_equal(one$verdicts[claim == "S3-07", paste(verdict, detail)], "INCONCLUSIVE n")
  row <- one$estimates[claim == "S3-07"]
  expect_true(nzchar(row$estimate) && row$ci95_lo == "")
  two <- decide_rows(simulate_campaign(2L, class = "V"))
  expect_equal(two$verdicts[claim == "S3-07", paste(verdict, detail)], "INCONCLUSIVE n")
  expect_true(nzchar(two$estimates[claim == "S3-07", ci95_lo]))
  expect_equal(two$estimates[claim == "S3-07", df], "1")
})

test_that("a lost run drops its block from that contrast only; more than a fifth is attrition", {
  rows <- fail_runs(simulate_campaign(6L, class = "V"), "gzip-2_text_75", 2L)
  v <- decide_rows(rows)
  expect_equal(v$estimates[claim == "S3-07", blocks_used], "1;3;4;5;6")
  expect_equal(v$estimates[claim == "S3-08", blocks_used], "1;2;3;4;5;6")
  expect_equal(v$verdicts[claim == "S3-07", verdict], "REPLICATED")
  rows <- fail_runs(rows, "gzip-2_text_75", 3L)
  v <- decide_rows(rows)$verdicts
  expect_equal(v[claim == "S3-07", paste(verdict, detail)], "INCONCLUSIVE attrition")
  expect_match(v[claim == "S3-07", reason], "clock ratio")
  expect_equal(verdicts_of(simulate_campaign(3L, class = "V"), planned = 5L)[["S3-07"]], "INCONCLUSIVE")
})

test_that("a claim about single boots survives one lost run, but not the loss of a fifth", {
  rows <- fail_runs(simulate_campaign(3L, class = "E"), "gzip_media_75", 2L)
  v <- decide_rows(rows)$verdicts
  expect_equal(v[claim == "S3-04", verdict], "REPLICATED")
  expect_match(v[claim == "S3-04", reason], "all 20 boots")
  for (name in c("off_media_75", "lzjb_media_75", "lz4_media_75", "zstd_media_75")) rows <- fail_runs(rows, name, 2L)
  expect_equal(decide_rows(rows)$verdicts[claim == "S3-04", detail], "attrition")
})

test_that("nothing measured at all", {
  rows <- data.table::copy(simulate_campaign(3L, class = "V"))
  rows[metric == "write_time" & f_compression == "gzip",
       c("status", "reason", "value") := list("invalid", "too_fast", "")]
  v <- decide_rows(rows)$verdicts
  expect_equal(v[claim == "S3-08", paste(verdict, detail)], "NOT TESTABLE HERE no data")
  expect_match(v[claim == "S3-08", reason], "too_fast")
})

test_that("zero variance takes the timer's resolution as its sd and says so", {
  rows <- simulate_campaign(4L, class = "V", sd = c(0, 0, 0))
  row <- decide_rows(rows)$estimates[claim == "S3-07"]
  expect_equal(row$sd_floor_used, "true")
  expect_gt(as.numeric(row$se), 0)
})

test_that("deterministic claims: all, none, some", {
  rows <- simulate_campaign(4L, class = "E")
  swap <- data.table::copy(rows)[metric == "compressratio" & cell == "gzip_text_75" & block == 2L, value := "1.2"]
  v <- decide_rows(swap)$verdicts
  expect_equal(v[claim == "S3-02", paste(verdict, detail)], "INCONCLUSIVE mixed")
  expect_match(v[claim == "S3-02", reason], "held in 3 of 4 blocks")
  none <- data.table::copy(rows)[metric == "compressratio" & f_corpus == "media", value := "1.3"]
  expect_equal(verdicts_of(none)[["S3-04"]], "NOT REPLICATED")
  ties <- data.table::copy(rows)[metric == "compressratio" & cell == "gzip_text_75", value := "2.35"]
  expect_equal(verdicts_of(ties)[["S3-02"]], "NOT REPLICATED")
  late <- data.table::copy(rows)[metric == "total_time", value := sprintf("%.3f", as.numeric(value) + 0.1)]
  expect_equal(verdicts_of(late)[["S3-15"]], "NOT REPLICATED")
  near <- data.table::copy(rows)[metric == "total_time", value := sprintf("%.3f", as.numeric(value) + 0.02)]
  expect_equal(verdicts_of(near)[["S3-15"]], "REPLICATED")
})

test_that("a failing lint refutes the chart claim, and without a lint file it is not testable", {
  path <- tempfile(fileext = ".json")
  jsonlite::write_json(list(findings = data.frame(lint = "zero_base", pass = FALSE, value = 8.5, quotation = FALSE)),
                       path)
  rows <- simulate_campaign(3L)
  expect_equal(verdicts_of(rows, lint = path)[["Q3-1"]], "NOT REPLICATED")
  expect_equal(verdicts_of(rows, lint = NULL)[["Q3-1"]], "NOT TESTABLE HERE")
})

test_that("capped runs decide only what holds at the bound", {
  rows <- simulate_campaign(5L, class = "V")
  slow <- data.table::copy(rows)[cell == "gzip_text_75" & metric == "write_time", flags := "capped"]
  v <- decide_rows(slow)$verdicts
  expect_equal(v[claim == "S3-08", verdict], "REPLICATED")
  expect_equal(v[claim == "S3-12", paste(verdict, detail)], "INCONCLUSIVE censored")
})

test_that("fragile: one block that carries a verdict is found", {
  v <- decide_rows(simulate_campaign(3L, class = "V"))$verdicts
  expect_equal(v[claim == "S3-08", fragile], "not assessed")
  rows <- data.table::copy(simulate_campaign(5L, class = "V", sd = c(0, 0, 0.001)))
  rows[cell == "lzjb_text_75" & metric == "write_time" & block == 1L, value := "2.05"]
  v <- decide_rows(rows)$verdicts
  expect_equal(v[claim == "S3-08", fragile], "false")
  expect_equal(v[claim == "S3-05", fragile], "true")
})

test_that("the same input gives the same bytes", {
  rows <- simulate_campaign(4L, class = "V")
  hash <- function() {
    dir <- write_campaign(rows)
    write_tables(estimate_study(dir, CLAIMS, file.path(SCHEMAS, "claims.schema.yaml"), PASSING_LINT()), dir)
    unname(tools::md5sum(file.path(dir, c("estimates.csv", "verdicts.csv"))))
  }
  expect_identical(hash(), hash())
})

# Rules on plain numbers ---------------------------------------------------------------------------------------------

claim_of <- function(type, ..., scale = "log") {
  defaults <- list(id = "X", type = type, direction = "greater", combine = "all", margin = NULL, delta0 = NULL,
                   family = "F", exploratory = FALSE,
                   min_class = "V", estimator = list(kind = "contrast", scale = scale))
  utils::modifyList(defaults, list(...))
}
item_of <- function(claim, ..., null = 0) {
  links <- lapply(list(...), function(d) {
    list(id = "l", d = stats::setNames(d, seq_along(d)), floor = 0, null = null,
                                              published = NA_real_, censored = "")
  })
  list(claim = claim, links = links, class = "V", n = length(links[[1]]$d), planned = length(links[[1]]$d),
       units = NULL, absent = NULL)
}
word <- function(...) {
  out <- decide_all(list(item_of(...)))[[1]]
  trimws(paste(out$verdict, out$detail))
}

test_that("an equality is refuted only when its interval leaves the margin", {
  eq <- claim_of("eq", margin = 1.05)
  expect_equal(word(eq, c(0.001, -0.002, 0, 0.003)), "REPLICATED")
  expect_equal(word(eq, c(0.2, 0.21, 0.19, 0.2)), "NOT REPLICATED contradicted")
  expect_equal(word(eq, c(0.2, -0.21, 0.1, 0)), "INCONCLUSIVE interval")
  expect_equal(word(eq, c(0.001, -0.002, 0, 0.003), c(0.2, 0.21, 0.19, 0.2)), "NOT REPLICATED contradicted")
})

test_that("an order needs every link, and one clear reversal refutes it", {
  ord <- claim_of("ord")
  up <- c(0.2, 0.21, 0.19, 0.2)
  expect_equal(word(ord, up, up), "REPLICATED")
  expect_equal(word(ord, up, -up), "NOT REPLICATED contradicted")
  expect_equal(word(ord, up, c(0.1, -0.1, 0.05, -0.06)), "INCONCLUSIVE interval")
})

test_that("negligible comes first, also at a threshold", {
  dir <- claim_of("dir")
  expect_equal(word(dir, c(0.02, 0.021, 0.019, 0.02)), "NOT REPLICATED negligible")
  expect_equal(word(dir, log(0.8) + c(0.02, 0.021, 0.019, 0.02), null = log(0.8)), "NOT REPLICATED at the threshold")
  expect_equal(word(claim_of("dir", direction = "less"), -c(0.2, 0.21, 0.19, 0.2)), "REPLICATED")
})

test_that("two-sided claims are never replicated", {
  two <- claim_of("dir", direction = "two-sided")
  expect_equal(word(two, -c(0.2, 0.21, 0.19, 0.2)), "EFFECT FOUND negative")
  expect_equal(word(two, c(0.001, -0.002, 0, 0.003)), "EQUIVALENT within the margin")
})

test_that("one link is enough where the claim says any, after Holm", {
  any_claim <- claim_of("dir", combine = "any")
  expect_equal(word(any_claim, c(0.2, 0.21, 0.19, 0.2), c(0.1, -0.1, 0.05, -0.06)), "REPLICATED")
})

test_that("a claim adjusted in a large family can lose what it had alone", {
  weak <- item_of(claim_of("dir"), c(0.3, 0.9, 0.5, 0.25, 1.0))
  noise <- item_of(claim_of("dir"), c(0.5, -0.6, 0.2, -0.3, 0.1))
  expect_equal(decide_all(list(weak))[[1]]$verdict, "REPLICATED")
  many <- decide_all(c(list(weak), rep(list(noise), 11)))
  expect_equal(many[[1]]$verdict, "INCONCLUSIVE")
})

test_that("exploratory claims get an interval and no verdict", {
  expect_equal(word(claim_of("dir", exploratory = TRUE), c(0.2, 0.21, 0.19)), "EXPLORATORY exploratory")
})

test_that("magnitude needs a published effect whose band excludes no effect", {
  s <- t_interval(c(0.6, 0.61, 0.59, 0.6))
  judge <- function(published) {
    s$link <- list(published = published)
    magnitude(claim_of("dir", margin = 1.25), s)
  }
  expect_equal(judge(0.6), "consistent")
  expect_equal(judge(1.5), "different")
  expect_equal(judge(0.2), "not assessable")
  expect_equal(judge(NA_real_), "not assessable")
})

test_that("trends and dispersions are contrasts of slopes and log sds", {
  expect_equal(boot_stat(log(c(1, 2, 4, 8)), 1:4, "slope"), log(2))
  expect_true(is.na(boot_stat(1:2, 1:2, "logsd")))
  expect_equal(boot_stat(c(1, 2, 3), 1:3, "logsd"), 0)
})

test_that("the mixed model agrees with the t over blocks, and changes no verdict", {
  skip_if_not_installed("lmerTest")
  skip_if_not_installed("pbkrtest")
  dir <- write_campaign(simulate_campaign(6L, runs = 2L, class = "V"))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  claim <- read_claims(CLAIMS, file.path(SCHEMAS, "claims.schema.yaml"))$claims[["S3-08"]]
  item <- prepare_claim_data(data, claim, 6L, NULL)
  s <- link_statistics(item)[[1]]
  mixed <- lmer_contrast(data, item$links[[1]])
  expect_equal(mixed$estimate, s$estimate, tolerance = 0.02)
  expect_lt(mixed$lo, s$estimate)
  expect_gt(mixed$hi, s$estimate)
  expect_match(crosscheck_note(s, mixed), "agrees|warning: ")
  spread <- item$links[[1]]
  for (i in seq_along(spread$terms)) spread$terms[[i]]$stat <- "logsd"
  expect_match(lmer_contrast(data, spread)$note, "not a contrast")
})
