# Every claim of S1: a campaign in which it holds, one in which it does not, and what a cut-off read can still decide.

S1 <- "read-under-write"
WHOLE <- "whole" # no scale of that name limits the design: also the kernel is asked
ALL_S1 <- c(sprintf("S1-%02d", 1:11), sprintf("Q1-%d", 1:4))

#' @param none,reasonable,overkill read time of zfs, ext3 and reiserfs in seconds; `more` further effects on it.
effects_s1 <- function(none, reasonable, overkill, ...) {
  filesystems <- c("zfs", "ext3", "reiserfs")
  at_load <- function(seconds, load) {
    Map(function(x, filesystem) effect(set = x, filesystem = filesystem, load = load), seconds, filesystems)
  }
  at <- c(at_load(none, "none"), at_load(reasonable, "reasonable"), at_load(overkill, "overkill"), list(...))
  list(noise = LITTLE_NOISE, metrics = list(read_time = list(mean = 80, at = at)))
}

AS_CLAIMED_S1 <- effects_s1(
  c(9, 8.8, 8.7), c(10.3, 327, 230), c(10.2, 790, 1090),
  effect(0.1, filesystem = c("ext3", "ext4"), load = "overkill", scheduler = "bfq"),
  effect(1.5, filesystem = "ext3", load = "overkill", scheduler = "kyber", kernel = "6.12"),
  effect(0.9, reader = "fio")
)
REVERSED_S1 <- effects_s1(
  c(9, 9, 18), c(27, 11, 22), c(27, 12, 21), effect(2, filesystem = "zfs", load = "overkill", scheduler = "bfq"),
  effect(2, load = "overkill", reader = "fio")
)

wanted_s1 <- function(word, ...) {
  wanted <- stats::setNames(rep(word, length(ALL_S1)), ALL_S1)
  wanted[c("S1-04", "S1-10")] <- c("NOT TESTABLE HERE", "EXPLORATORY")
  given <- c(...)
  wanted[names(given)] <- given
  wanted
}

#' Reads longer than `seconds` are cut off there, as the workload does it: its metric `capped` says so.
cut_off <- function(seconds, filesystems = c("zfs", "ext3", "reiserfs", "ext4", "xfs", "btrfs")) {
  function(rows) {
    late <- rows$metric == "read_time" & as.numeric(rows$value) > seconds & rows$f_filesystem %in% filesystems
    cut <- paste(rows$boot, rows$run) %in% paste(rows$boot, rows$run)[late]
    rows[late, value := as.character(seconds)]
    rows[metric == "capped", value := ifelse(cut[rows$metric == "capped"], "1", "0")][]
  }
}

test_that("the claims of S1 are replicated by data that are as the source says", {
  found <- simulated_verdicts(S1, AS_CLAIMED_S1, scale = WHOLE)
  expect_setequal(found$claim, ALL_S1)
  expect_verdicts(found, wanted_s1("REPLICATED", "Q1-2" = "EFFECT FOUND"))
})

test_that("none of them is by data that say the opposite", {
  found <- simulated_verdicts(S1, REVERSED_S1, scale = WHOLE)
  expect_verdicts(found, wanted_s1("NOT REPLICATED", "Q1-2" = "EQUIVALENT"))
  expect_setequal(found[verdict == "NOT REPLICATED", detail], "contradicted")
})

test_that("UFS is asked for where there is some, and its absence is said where there is none", {
  without <- simulated_study(S1, AS_CLAIMED_S1)
  said <- stats::setNames(without$verdicts$reason, without$verdicts$claim)
  expect_match(said[["S1-04"]], 'filesystem "ufs" is not in the data (UFS needs', fixed = TRUE)
  expect_match(said[["S1-05"]], "Asked without filesystem ufs, which the data lack.", fixed = TRUE)
  expect_equal(without$estimates[claim == "S1-05", link], c("ext3 - zfs", "reiserfs - ext3"))
  as_ufs <- function(rows) rows[f_filesystem == "xfs", f_filesystem := "ufs"][]
  slow <- AS_CLAIMED_S1
  slow$metrics$read_time$at <- c(slow$metrics$read_time$at, list(effect(8, filesystem = "xfs", load = "overkill")))
  with <- simulated_study(S1, slow, change = as_ufs)
  expect_verdicts(with$verdicts, c("S1-04" = "REPLICATED", "S1-05" = "REPLICATED"))
  expect_equal(with$estimates[claim == "S1-05", link], c("ufs - zfs", "ext3 - ufs", "reiserfs - ext3"))
  expect_false(grepl("Asked without", with$verdicts[claim == "S1-05", reason]))
})

test_that("a read that was cut off decides what holds at the bound, and nothing else", {
  found <- simulated_study(S1, AS_CLAIMED_S1, change = cut_off(300))
  v <- stats::setNames(paste(found$verdicts$verdict, found$verdicts$detail), found$verdicts$claim)
  expect_setequal(v[c("S1-02", "S1-03", "S1-06", "S1-08", "S1-09", "S1-01", "Q1-1", "Q1-3")], "REPLICATED ")
  # Two bounds say nothing about their difference.
  expect_equal(v[["S1-05"]], "INCONCLUSIVE censored")
  expect_equal(v[["Q1-4"]], "INCONCLUSIVE censored")
  bound <- found$estimates[claim == "S1-02"]
  expect_equal(as.numeric(bound$estimate), 300 / 8.8, tolerance = 0.1)
  expect_equal(c(bound$ci95_hi, bound$ci90_hi), c("", ""))
  expect_match(found$verdicts[claim == "S1-02", reason], ", open]", fixed = TRUE)
})

test_that("a cut-off read refutes an equality from beyond its margin, and proves none from within", {
  beyond <- simulated_study(S1, REVERSED_S1, change = cut_off(20, "zfs"))$verdicts
  expect_equal(beyond[claim == "S1-01", paste(verdict, detail)], "NOT REPLICATED contradicted")
  within <- simulated_study(S1, REVERSED_S1, change = cut_off(9.5, "zfs"))$verdicts
  expect_equal(within[claim == "S1-01", paste(verdict, detail)], "INCONCLUSIVE censored")
})

test_that("a scheduler matters as soon as one pair of them differs by half, in whichever direction", {
  for (ratio in c(0.5, 2)) {
    found <- simulated_verdicts(S1, effects_s1(c(9, 9, 9), c(9, 9, 9), c(9, 90, 90), effect(
      ratio, filesystem = "ext3", load = "overkill", scheduler = "kyber")))
    expect_equal(found[claim == "Q1-1", verdict], "REPLICATED")
    # The pair that speaks for the claim, in the direction in which it does.
    expect_match(found[claim == "Q1-1", reason], if (ratio > 1) "kyber - " else " - kyber", fixed = TRUE)
    expect_equal(found[claim == "Q1-1", as.numeric(estimate)], 2, tolerance = 0.02)
  }
  little <- simulated_verdicts(S1, effects_s1(c(9, 9, 9), c(9, 9, 9), c(9, 90, 90), effect(
    1.2, filesystem = "ext3", load = "overkill", scheduler = "kyber")))
  expect_equal(little[claim == "Q1-1", paste(verdict, detail)], "NOT REPLICATED contradicted")
})

test_that("no claim of S1 is decided by emulated or synthetic data", {
  for (class in c("E", "S")) {
    found <- simulated_verdicts(S1, AS_CLAIMED_S1, class = class, blocks = 3L, scale = "smoke")
    expect_setequal(found$verdict, "NOT TESTABLE HERE")
    expect_true(all(found[!claim %in% c("S1-04", "S1-07", "S1-08", "S1-09", "S1-10", sprintf("Q1-%d", 1:4)),
                          detail] == "class"))
  }
})

test_that("at smoke a real machine decides what its cells allow, and the rest says what is missing", {
  found <- simulated_verdicts(S1, AS_CLAIMED_S1, scale = "smoke")
  expect_verdicts(found, c("S1-01" = "REPLICATED", "S1-05" = "REPLICATED", "S1-07" = "NOT TESTABLE HERE"))
  expect_match(found[claim == "S1-07", reason], 'load "reasonable" is not in the data')
  expect_match(found[claim == "Q1-2", reason], 'kernel "6.12" is not in the data')
})
