# Every claim of S4: a campaign in which it holds, one in which it does not, and data of a class that may not decide it.

S4 <- "zfs-on-linux"
ALL_S4 <- sprintf("S4-%02d", 1:15)
NEVER_S4 <- c("S4-06", "S4-15") # no estimator: nothing here can decide them
ABSENT_S4 <- "S4-01" # needs guests of other systems

#' The same ratio on the three rates of bonnie++'s block phases.
bonnie_rates <- function(...) {
  stats::setNames(rep(list(list(mean = 1e8, at = list(...))), 3), c("seq_block_write", "rewrite", "seq_block_read"))
}

effects_s4 <- function(relatime = 1, lz4 = 1, dedup = 1, ratio = 190, ior = 3.94, writers, burst, stall, locks, slog,
                       l2arc) {
  metrics <- bonnie_rates(effect(relatime, setting = "relatime"), effect(lz4, setting = "lz4"),
                          effect(dedup, setting = "dedup"))
  still <- list(block = 0, boot = 0, run = 0.001)
  metrics$compressratio <- list(noise = still, at = list(
    effect(set = 127, part = "bonnie"), effect(set = ratio, part = "bonnie", recordsize = "1M", ashift = "9"),
    effect(set = ior, part = "writers")
  ))
  of_setting <- function(r, name) effect(r, setting = name)
  metrics$aggregate_rate <- list(mean = 1e8, at = Map(of_setting, writers, c("lz4", "dedup", "gzip")))
  # Two metrics of the same run share no block effect in the simulator, so theirs is left out.
  steady <- list(block = 0, boot = 0.003, run = 0.003)
  means <- list(write_cv_filling = 0.3, write_cv_full = 0.3 * burst, sync_share_moving = 0.4,
                sync_share_stalled = 0.4 + stall, bytes_filling = 1e8, bytes_full = 1e8, contentions_filling = 400,
                contentions_full = 400 * locks)
  metrics[names(means)] <- lapply(means, function(mean) list(mean = mean, noise = steady))
  metrics$iops <- list(mean = 400, at = list(effect(slog, slog = "yes"), effect(l2arc, l2arc = "yes", runs = 3:4)))
  list(noise = LITTLE_NOISE, metrics = metrics)
}

AS_CLAIMED_S4 <- effects_s4(relatime = 1.3, lz4 = 1.6, dedup = 0.8, writers = c(2, 1.5, 0.5), burst = 2, stall = 0.4,
                            locks = 5, slog = 8, l2arc = 6)
REVERSED_S4 <- effects_s4(relatime = 0.8, lz4 = 0.7, ratio = 31, ior = 1, writers = c(0.5, 0.6, 2), burst = 0.5,
                          stall = -0.3, locks = 0.2, slog = 0.5, l2arc = 0.5)
NOTHING_S4 <- effects_s4(writers = c(1, 1, 1), burst = 1, stall = 0, locks = 1, slog = 1, l2arc = 1)

as_wanted <- function(decided) {
  wanted <- stats::setNames(rep(decided, length(ALL_S4)), ALL_S4)
  wanted["S4-05"] <- "EXPLORATORY"
  wanted[c(ABSENT_S4, NEVER_S4)] <- "NOT TESTABLE HERE"
  wanted
}

test_that("the claims of S4 are replicated by data that are as the source says", {
  found <- simulated_verdicts(S4, AS_CLAIMED_S4)
  expect_setequal(found$claim, ALL_S4)
  expect_verdicts(found, as_wanted("REPLICATED"))
})

test_that("none of them is by data that say the opposite", {
  found <- simulated_verdicts(S4, REVERSED_S4)
  expect_verdicts(found, as_wanted("NOT REPLICATED"))
  expect_setequal(found[verdict == "NOT REPLICATED", detail], "contradicted")
})

test_that("where nothing has an effect, every direction is negligible", {
  wanted <- as_wanted("NOT REPLICATED")
  wanted[c("S4-03", "S4-07")] <- "REPLICATED"
  wanted["S4-08"] <- "INCONCLUSIVE"
  expect_verdicts(simulated_verdicts(S4, NOTHING_S4), wanted)
})

test_that("what cannot be decided here says why", {
  found <- simulated_verdicts(S4, AS_CLAIMED_S4)
  expect_match(found[claim == "S4-01", reason], "factor os is not in the data")
  expect_match(found[claim == "S4-06", reason], "generation of their CPU")
  expect_match(found[claim == "S4-15", reason], "no Lustre")
  expect_match(found[claim == "S4-05", ours], "^0[.](79|80)")
})

test_that("a study with guests of other systems decides S4-01", {
  copy <- tempfile("study-")
  dir.create(copy)
  on.exit(unlink(copy, recursive = TRUE))
  file.copy(list.files(file.path(ROOT, "studies", S4), full.names = TRUE), copy)
  raw <- read_yaml_strict(file.path(copy, "study.yaml"))
  raw$factors$os <- list(linux = list(image = "debian-12"), freebsd = list(image = "a"), illumos = list(image = "b"))
  yaml::write_yaml(raw, file.path(copy, "study.yaml"))
  decide <- function(effects) simulated_verdicts(basename(copy), effects, study_dir = copy)
  verdict_on <- function(rows) rows[claim == "S4-01", verdict]
  writeLines(sub("^study: .*", paste("study:", basename(copy)), readLines(file.path(copy, "claims.yaml"))),
             file.path(copy, "claims.yaml"))
  expect_equal(verdict_on(decide(AS_CLAIMED_S4)), "REPLICATED")
  slower <- AS_CLAIMED_S4
  slower$metrics$rewrite$at <- c(slower$metrics$rewrite$at, list(effect(0.4, os = "illumos")))
  expect_equal(verdict_on(decide(slower)), "NOT REPLICATED")
})

test_that("emulated data decide the ratios of S4 and nothing else", {
  found <- simulated_verdicts(S4, AS_CLAIMED_S4, class = "E", scale = "smoke", blocks = 3L)
  expect_setequal(found[verdict == "REPLICATED", claim], c("S4-03", "S4-07"))
  timed <- setdiff(ALL_S4, c("S4-03", "S4-07", ABSENT_S4, NEVER_S4))
  expect_equal(unique(found[claim %in% timed, detail]), "class")
  expect_verdicts(simulated_verdicts(S4, REVERSED_S4, class = "E", scale = "smoke", blocks = 3L),
                  c("S4-03" = "NOT REPLICATED", "S4-07" = "NOT REPLICATED"))
})

test_that("a sector that limits the ratio refutes S4-03 only where the claim asks", {
  found <- simulated_verdicts(S4, AS_CLAIMED_S4, class = "E", scale = "smoke", blocks = 3L)
  expect_match(found[claim == "S4-03", ours], "190|189")
})

test_that("cells beside those that the claims name decide nothing", {
  beside <- AS_CLAIMED_S4
  metrics <- c("rewrite", "write_cv_full", "sync_share_stalled", "contentions_full")
  beside$metrics[metrics] <- lapply(beside$metrics[metrics], function(metric) {
    metric$at <- c(metric$at, list(effect(0.1, protocol = "as_published", setting = c("initial", "lz4")),
                                   effect(0.1, setting = "lz4", ashift = "12")))
    metric
  })
  same <- c("claim", "verdict", "ours")
  expect_equal(simulated_verdicts(S4, beside)[, ..same], simulated_verdicts(S4, AS_CLAIMED_S4)[, ..same])
})

test_that("an L2ARC that helps in the first runs alone is not warm", {
  early <- AS_CLAIMED_S4
  early$metrics$iops$at <- list(effect(6, l2arc = "yes", runs = 1:2))
  expect_verdicts(simulated_verdicts(S4, early), c("S4-14" = "NOT REPLICATED"))
})

test_that("a phase without contention has a place on the log scale", {
  quiet <- AS_CLAIMED_S4
  quiet$metrics$contentions_filling$mean <- 0
  expect_verdicts(simulated_verdicts(S4, quiet), c("S4-12" = "REPLICATED"))
})
