# Every claim of S2: a campaign in which it holds, one in which it does not, and data of a class that may not decide it.

S2 <- "compression-dedup"
ALL_S2 <- c(sprintf("S2-%02d", 1:16), sprintf("Q2-%d", 1:3))

# The source's own ratios, by metric: compression alone, dedup alone, both.
PRINTED_S2 <- list(
  seq_block_read = c(52830, 45806, 53844) / 59934, seq_block_write = c(38811, 27550, 34315) / 28793,
  rewrite = c(18659, 15179, 17654) / 17127, random_seeks = c(1188.95, 464, 1331) / 517.45
)

#' Effects on four metrics: ratios of compression alone, dedup alone and both; `more` effects by metric on top of them.
effects_s2 <- function(ratios, more = list(), cpu = 1.5) {
  metrics <- Map(function(r, extra) {
    list(mean = 1000, at = c(list(effect(r[1], compression = c("lzjb", "lz4"), dedup = "off"),
                                  effect(r[2], compression = "off", dedup = "on"),
                                  effect(r[3], compression = c("lzjb", "lz4"), dedup = "on")), extra))
  }, ratios, more[names(ratios)])
  metrics$cpu_seconds_per_gib <- list(at = list(effect(cpu, compression = "lzjb", dedup = "on")))
  metrics$ddt_core_bytes <- list(at = list(effect(set = 0, dedup = "off"), effect(set = 4e6, dedup = "on")))
  list(noise = LITTLE_NOISE, metrics = metrics)
}

# As the source has it; its author is right about the data, and the L2ARC changes what compression does to seeks.
AS_CLAIMED_S2 <- effects_s2(PRINTED_S2, list(random_seeks = list(
  effect(1 / 2.298, compression = "lzjb", payload = "random"),
  effect(0.7, compression = "lzjb", l2arc = "no")
)))
# Everything the other way round, and an L2ARC that changes what compression does to reads.
REVERSED_S2 <- effects_s2(lapply(PRINTED_S2, function(r) 1 / r), list(
  seq_block_read = list(effect(1.5, compression = "lzjb", l2arc = "no")),
  random_seeks = list(effect(2, compression = "lzjb", payload = "random"))
), cpu = 1 / 1.5)

test_that("all claims of S2 are replicated by data that are as the source says", {
  found <- simulated_verdicts(S2, AS_CLAIMED_S2)
  wanted <- stats::setNames(rep("REPLICATED", length(ALL_S2)), ALL_S2)
  wanted["Q2-2"] <- "EFFECT FOUND"
  expect_setequal(found$claim, ALL_S2)
  expect_equal(found[claim == "Q2-2", detail], "positive")
  expect_verdicts(found, wanted)
})

test_that("none of them is by data that say the opposite", {
  found <- simulated_verdicts(S2, REVERSED_S2)
  wanted <- stats::setNames(rep("NOT REPLICATED", length(ALL_S2)), ALL_S2)
  wanted["Q2-2"] <- "EQUIVALENT"
  expect_verdicts(found, wanted)
  expect_true(all(found[claim != "Q2-2", detail] == "contradicted"))
})

test_that("where nothing has an effect, what is claimed to change is negligible and what is claimed equal is equal", {
  nothing <- effects_s2(lapply(PRINTED_S2, function(r) c(1, 1, 1)), cpu = 1)
  found <- simulated_verdicts(S2, nothing)
  wanted <- stats::setNames(rep("NOT REPLICATED", length(ALL_S2)), ALL_S2)
  wanted[c("Q2-1", "Q2-2")] <- c("REPLICATED", "EQUIVALENT")
  # An order is never "negligible": its links are one-sided tests, and none of them is reversed either.
  wanted[c("S2-13", "S2-14")] <- "INCONCLUSIVE"
  expect_verdicts(found, wanted)
})

test_that("a dedup table that takes memory alone does not make both features costly", {
  found <- simulated_verdicts(S2, effects_s2(PRINTED_S2, cpu = 1))
  expect_verdicts(found, c("S2-16" = "NOT REPLICATED"))
})

test_that("no claim of S2 is decided by emulated data", {
  found <- simulated_verdicts(S2, AS_CLAIMED_S2, class = "E")
  expect_equal(unique(found$verdict), "NOT TESTABLE HERE")
  expect_equal(unique(found$detail), "class")
})

test_that("cells beside those that the claims name decide nothing", {
  beside <- AS_CLAIMED_S2
  beside$metrics[names(PRINTED_S2)] <- lapply(beside$metrics[names(PRINTED_S2)], function(metric) {
    metric$at <- c(metric$at, list(effect(9, compression = "lzjb", path = "nfs"),
                                   effect(1 / 9, dedup = "on", path = "nfs"), effect(9, compression = "lz4"),
                                   effect(9, protocol = "as_published", dedup = "on")))
    metric
  })
  same <- c("claim", "verdict", "ours")
  expect_equal(simulated_verdicts(S2, beside)[, ..same], simulated_verdicts(S2, AS_CLAIMED_S2)[, ..same])
})

test_that("at smoke the claims find their cells too", {
  found <- simulated_verdicts(S2, AS_CLAIMED_S2, scale = "smoke")
  expect_verdicts(found, c("S2-01" = "REPLICATED", "S2-13" = "REPLICATED", "Q2-1" = "REPLICATED",
                           "Q2-2" = "EFFECT FOUND", "Q2-3" = "REPLICATED"))
})

test_that("published effects of S2 follow from the printed values", {
  printed <- data.table::fread(file.path(ROOT, "studies", S2, "published.csv"))
  value <- function(metric_name, compression, dedup) {
    start <- sprintf("compression=%s;dedup=%s;", compression, dedup)
    printed[startsWith(config, start) & metric == metric_name, value]
  }
  claims <- read_claims(file.path(ROOT, "studies", S2, "claims.yaml"), file.path(SCHEMAS, "claims.schema.yaml"))$claims
  effect_of <- function(id) unlist(claims[[id]]$published_effect)
  metrics <- names(PRINTED_S2)
  pairs <- list(c("on", "off", "off", "off"), c("off", "on", "off", "off"), c("on", "on", "off", "on"))
  for (i in 1:12) {
    at <- pairs[[(i - 1) %/% 4 + 1]]
    metric <- metrics[(i - 1) %% 4 + 1]
    ratio <- value(metric, at[1], at[2]) / value(metric, at[3], at[4])
    expect_equal(effect_of(sprintf("S2-%02d", i)), ratio, tolerance = 1e-3)
  }
  read <- function(c, d) value("seq_block_read", c, d)
  expect_equal(effect_of("S2-13"), read("off", "off") / c(read("on", "off"), read("off", "on"), read("on", "on")),
               tolerance = 1e-3)
  interaction <- (read("on", "on") / read("off", "on")) / (read("on", "off") / read("off", "off"))
  expect_equal(effect_of("S2-15"), interaction, tolerance = 1e-3)
  write <- function(m) value(m, "on", "off") / c(value(m, "off", "off"), value(m, "off", "on"), value(m, "on", "on"))
  expect_equal(effect_of("S2-14"), c(write("seq_block_write"), write("rewrite")), tolerance = 1e-3)
})
