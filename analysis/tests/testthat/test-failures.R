# Every failure mode of the methods (section 3.4) has a name in the output: one row of the table each.

#' Verdict, detail, reason and every column of the estimates of a claim, as one text; or the error, as text.
told_about <- function(rows, id = "S3-07", ...) {
  made <- tryCatch(decide_rows(rows, ...), zassay_problem = function(e) e)
  if (inherits(made, "condition")) return(paste("error:", conditionMessage(made)))
  v <- made$verdicts[claim == id]
  e <- made$estimates[claim == id]
  paste(v$verdict, v$detail, v$reason, paste(names(e), unlist(e[1]), sep = "=", collapse = " "), sep = " | ")
}

change_rows <- function(rows, pick, ...) {
  rows <- data.table::copy(rows)
  at <- eval(substitute(pick), rows, parent.frame())
  for (name in names(list(...))) data.table::set(rows, which(at), name, list(...)[[name]])
  rows
}
V <- simulate_campaign(6L, class = "V")
with_text <- function(pick, value) {
  change_rows(V, V$cell == "gzip-2_text_75" & V$metric == "write_time" & pick, value = value)
}

# A contrast of two terms as a claim of its own.
two_terms <- function(first, second, type = "dir", stat = "mean") {
  own_claims(list(id = "S3-07", type = type, estimator = list(
    kind = "contrast", scale = "log", stat = stat,
    terms = list(c(list(weight = 1), first), c(list(weight = -1), second))
  )))
}
TEXT_75 <- list(corpus = "text", zio_taskq_batch_pct = "75")
pick <- function(level, ...) c(list(compression = level), TEXT_75, list(...))

#' The same cells once cold and once warm.
cold_and_warm <- function() {
  rows <- rbind(data.table::copy(V)[, f_cache := "cold"], data.table::copy(V)[, f_cache := "warm"])
  rows[, cell := paste0(cell, "_", f_cache)][]
}

trend_claim <- function() {
  own_claims(list(id = "S3-07", type = "trend", estimator = list(
    kind = "contrast", scale = "log", stat = "slope", metric = "write_time",
    terms = list(list(weight = 1, where = pick("gzip-2")), list(weight = -1, where = pick("off")))
  )))
}

FAILURES <- list(
  list("one block: a point, no interval, too few to decide", function() told_about(simulate_campaign(1L, class = "V")),
       c("INCONCLUSIVE \\| n ", "ci95_lo= ", "Only 1 block complete")),
  list("two blocks: an interval with df 1, too few to decide",
       function() told_about(simulate_campaign(2L, class = "V")),
       c("INCONCLUSIVE \\| n ", "df=1 ", "ci95_lo=[0-9]", "Only 2 blocks complete")),
  list("zero variance: the timer's resolution stands in", function() {
    told_about(simulate_campaign(4L, class = "V", sd = c(0, 0, 0)))
  }, c("sd_floor_used=true", "resolution stands in for their spread")),
  list("nothing measured", function() {
    told_about(change_rows(V, V$metric == "write_time", status = "failed", reason = "tool absent: dd", value = ""))
  }, c("NOT TESTABLE HERE \\| no data", "tool absent: dd")),
  list("a block lost: dropped from that contrast, counted", function() told_about(fail_runs(V, "gzip-2_text_75", 2L)),
       c("REPLICATED", "blocks_used=1;3;4;5;6", "n_blocks=5 ")),
  list("more than a fifth lost: attrition", function() {
    told_about(fail_runs(fail_runs(V, "gzip-2_text_75", 2L), "gzip-2_text_75", 3L))
  }, c("INCONCLUSIVE \\| attrition", "33 % of the blocks it needs are missing", "clock ratio")),
  list("a value of zero has no logarithm", function() told_about(with_text(V$block == 1L, "0")),
       "error: .*row [0-9]+, column \"value\": log of non-positive value 0"),
  list("a negative value", function() told_about(with_text(V$block == 1L, "-3")),
       "error: .*row [0-9]+.*negative value -3"),
  list("NaN", function() told_about(with_text(V$block == 1L, "NaN")), "error: .*row [0-9]+.*not a finite number"),
  list("Inf", function() told_about(with_text(V$block == 1L, "Inf")), "error: .*row [0-9]+.*not a finite number"),
  list("too fast to be timed", function() {
    told_about(change_rows(V, V$cell == "gzip-2_text_75" & V$metric == "write_time", status = "invalid",
                           reason = "the tool could not time it: too fast", value = ""))
  }, c("NOT TESTABLE HERE \\| no data", "too fast")),
  list("too fast in one metric leaves the others alone", function() {
    told_about(change_rows(V, V$cell == "gzip-2_text_75" & V$metric == "read_time", status = "invalid",
                           reason = "the tool could not time it: too fast", value = ""))
  }, "^REPLICATED"),
  list("a capped run is a bound: holds there", function() {
    told_about(change_rows(V, V$cell == "gzip-2_text_75" & V$metric == "write_time", flags = "capped"))
  }, "^REPLICATED"),
  list("a capped run is a bound: does not hold there", function() {
    told_about(change_rows(V, V$cell == "off_text_75" & V$metric == "write_time", flags = "capped"))
  }, c("INCONCLUSIVE \\| censored", "cut off at their time limit")),
  list("Fieller undefined", function() {
    # A denominator from a hundredth to a hundredfold covers zero.
    wild <- change_rows(V, V$cell == "off_text_75" & V$metric == "write_time",
                        value = c("0.02", "0.03", "90", "0.05", "0.06", "0.07"))
    told_about(wild)
  }, c("raw_note=no interval: the interval of the denominator covers 0", "raw_lo= ")),
  list("singular mixed model", function() {
    # Boots agree although their runs do not: no variance is left for block:cell.
    rows <- simulate_campaign(6L, runs = 2L, class = "V", sd = c(0.02, 0, 0))
    told_mixed(change_rows(rows, rows$metric == "write_time" & rows$run == 2L, value = "3"))
  }, "singular: block:cell dropped"),
  list("no mixed model of one run per boot", function() told_mixed(V), "one run per boot: no block:cell term"),
  list("ties in ranks: mid-ranks, a permutation p", function() {
    rows <- simulate_campaign(4L, runs = 4L, class = "V")
    told_about(change_rows(rows, rows$metric == "write_time" & rows$cell %in% c("gzip-2_text_75", "off_text_75"),
                           value = "2.5"), claims = trend_claim())
  }, "ties: mid-ranks, permutation p"),
  list("a trace too autocorrelated to speak for itself", function() {
    seeded(4)
    classify_run(as.numeric(100 + stats::filter(stats::rnorm(120), 0.97, method = "recursive")))$flag
  }, "^short$"),
  list("a trace too short", function() classify_run(1:12)$class, "^too short$"),
  list("different units in a contrast", function() {
    told_about(V, claims = two_terms(list(metric = "write_time", where = pick("gzip-2")),
                                     list(metric = "used_bytes", where = pick("off"))))
  }, "error: .*different units: write_time in s, used_bytes in B"),
  list("cold set against warm", function() {
    told_about(cold_and_warm(), claims = two_terms(list(metric = "write_time", where = pick("gzip-2", cache = "cold")),
                                                   list(metric = "write_time", where = pick("off", cache = "warm"))))
  }, "error: .*mixes caches: cold and warm"),
  list("cold and warm averaged", function() {
    told_about(cold_and_warm(), claims = two_terms(list(metric = "write_time", where = pick("gzip-2")),
                                                   list(metric = "write_time", where = pick("off"))))
  }, "error: .*cold and warm must never be mixed"),
  list("validity classes mixed", function() {
    told_about(rbind(simulate_campaign(2L, class = "V"), simulate_campaign(4L, class = "E")[block > 2L]))
  }, "error: .*would mix validity classes E and V"),
  list("too few blocks for a bootstrap", function() {
    told_about(simulate_campaign(5L, runs = 4L, class = "V"),
               claims = two_terms(list(metric = "write_time", where = pick("gzip-2")),
                                  list(metric = "write_time", where = pick("off")), "disp", "logsd"))
  }, "no bootstrap over 5 blocks: it needs 20")
)

#' The lmer columns of S3-07.
told_mixed <- function(rows) {
  skip_if_not_installed("lmerTest")
  skip_if_not_installed("pbkrtest")
  dir <- write_campaign(rows)
  on.exit(unlink(dir, recursive = TRUE))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  claim <- read_claims(CLAIMS, file.path(SCHEMAS, "claims.schema.yaml"))$claims[["S3-07"]]
  s <- link_statistics(prepare_claim_data(data, claim, max(rows$block), NULL))[[1]]
  crosscheck_note(s, lmer_contrast(data, s$link))
}

for (case in FAILURES) {
  test_that(case[[1]], {
    text <- case[[2]]()
    for (pattern in case[[3]]) expect_match(text, pattern)
  })
}

test_that("Fieller is where the methods say it is undefined", {
  expect_match(fieller(c(1, 2, 3), c(-5, 0.1, 5))$reason, "covers 0")
})

test_that("Kenward and Roger failing leaves the t over blocks alone, and says so", {
  said <- crosscheck_note(t_interval(c(0.1, 0.2, 0.15)), list(estimate = NA_real_, note = "Kenward-Roger failed"))
  expect_equal(said, "t over blocks alone: Kenward-Roger failed")
})
