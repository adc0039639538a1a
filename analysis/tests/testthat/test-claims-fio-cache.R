# Every claim of S0: a campaign in which it holds, one in which it does not, and data of a class that may not decide it.

S0 <- "fio-cache"
ALL_S0 <- c(sprintf("S0-%02d", 1:16), "Q0-1", "Q0-2")
COUNTED_S0 <- c("S0-01", "S0-02", "S0-08", "S0-09", "S0-10", "S0-12", "S0-13", "Q0-1", "Q0-2") # what class E may decide
PRINTED_HITS <- c(0.156, 0.510, 0.557, 0.626, 0.694)
FRESH_HITS <- c(0.153, 0.140, 0.139, 0.131, 0.124)
PRINTED_MFU <- c(0.43, 0.32, 0.49, 0.91, 0.91)
STILL <- list(block = 0, boot = 0, run = 0)
CALM <- list(block = 0, boot = 0.003, run = 0.003)

#' One value per run, in the cells that match.
by_run <- function(values, ...) {
  Map(function(value, run) effect(set = value, runs = run, ...), values, seq_along(values))
}

#' A rate that goes up and down from run to run, which is spread without a trend.
restless <- function(...) list(effect(1.1, runs = c(2, 4), ...))

#' @param speed bandwidth in MiB/s of the four pairs of state and operation; `trend` of written random reads per run, on
#'   logs; `off` what compression=off does to a file of zeros; `restless` the state whose sequential reads vary.
#' @param on,kept share of its size that a file of zeros takes with compression on and off; `payload` compression ratio.
#' @param hits,fresh,mfu hit ratios with and without replay and the MFU's share, run by run.
effects_s0 <- function(speed, trend, off, restless_state, on, kept, payload, holes, misses, demand, hits, fresh, mfu,
                       bound, iops, cores, disks) {
  bandwidth <- c(
    Map(function(x, state, op) effect(set = x * 2^20, file_state = state, op = op), speed,
        c("unwritten", "written", "unwritten", "written"), c("read", "read", "randread", "randread")),
    list(list(where = list(file_state = "written", op = "randread", randrepeat = "1"), ratio = 1, trend = trend)),
    list(effect(off, file_state = "unwritten", compression = "off")), restless(file_state = restless_state, op = "read")
  )
  if (trend < 0) bandwidth <- c(bandwidth, list(effect(3, file_state = "unwritten", op = "randread", runs = c(2, 4))))
  list(noise = LITTLE_NOISE, metrics = list(
    bandwidth = list(mean = 2^30, at = bandwidth),
    logical_bytes = list(mean = 384 * 2^20, noise = STILL),
    allocated_bytes = list(mean = 384 * 2^20 / payload, noise = STILL, at = list(
      effect(set = 384 * 2^20 * on, file_state = "unwritten"),
      effect(set = 384 * 2^20 * kept, file_state = "unwritten", compression = "off")
    )),
    device_share = list(mean = misses / payload, noise = CALM, at = list(
      effect(set = holes, file_state = "unwritten")
    )),
    demand_share = list(mean = demand, noise = CALM),
    hit_ratio = list(mean = 0.3, noise = CALM, at = c(by_run(hits, op = "randread", randrepeat = "1"),
                                                     by_run(fresh, op = "randread", randrepeat = "0"))),
    mfu_share = list(mean = 0.5, noise = CALM, at = by_run(mfu, op = "randread")),
    arc_share = list(mean = bound, noise = CALM),
    core_busy = list(mean = 0.3, noise = STILL, at = list(effect(set = cores, file_state = "unwritten"))),
    device_busy = list(mean = 0.1, noise = STILL, at = list(effect(set = disks, file_state = "written")))
  ), identities = list(allocated_share = "allocated_bytes / logical_bytes", iops = iops))
}

AS_CLAIMED_S0 <- effects_s0(
  speed = c(2458.4, 897.4, 2337.8, 40.6), trend = 0.241, off = 1 / 1.5, restless_state = "written",
  on = 512 / (384 * 2^20), kept = 1, payload = 2.571, holes = 1e-4, misses = 0.85, demand = 0.95, hits = PRINTED_HITS,
  fresh = FRESH_HITS, mfu = PRINTED_MFU, bound = 0.167, iops = "141 / (1 - hit_ratio)", cores = 0.97, disks = 0.98
)
REVERSED_S0 <- effects_s0(
  speed = c(300, 900, 30, 900), trend = -0.2, off = 1.5, restless_state = "unwritten", on = 1, kept = 0.5,
  payload = 1.01, holes = 0.9, misses = 0.1, demand = 0.2, hits = rev(PRINTED_HITS), fresh = PRINTED_HITS,
  mfu = rev(PRINTED_MFU), bound = 0.167, iops = "141 / ((1 - hit_ratio) * (1 - hit_ratio))", cores = 0.4, disks = 0.3
)

all_s0 <- function(word) stats::setNames(rep(word, length(ALL_S0)), ALL_S0)

test_that("the claims of S0 are replicated by data that are as the source says", {
  found <- simulated_verdicts(S0, AS_CLAIMED_S0)
  expect_setequal(found$claim, ALL_S0)
  expect_verdicts(found, all_s0("REPLICATED"))
})

test_that("none of them is by data that say the opposite", {
  found <- simulated_verdicts(S0, REVERSED_S0)
  expect_verdicts(found, all_s0("NOT REPLICATED"))
  expect_setequal(found$detail, "contradicted")
})

test_that("where nothing differs, what is claimed to differ is negligible", {
  nothing <- utils::modifyList(AS_CLAIMED_S0, list(metrics = list(
    bandwidth = list(mean = 2^30, at = NULL), hit_ratio = list(mean = 0.15, at = NULL),
    mfu_share = list(mean = 0.5, at = NULL)
  )))
  found <- simulated_verdicts(S0, nothing, blocks = 10L)
  expect_setequal(found[claim %in% c("S0-03", "S0-04", "S0-05", "S0-11", "S0-12", "S0-13", "S0-16", "Q0-1"),
                        paste(verdict, detail)], "NOT REPLICATED negligible")
})

test_that("emulated data decide what is counted, also in the three blocks of smoke, and synthetic data nothing", {
  found <- simulated_verdicts(S0, AS_CLAIMED_S0, class = "E", blocks = 3L, scale = "smoke")
  wanted <- ifelse(ALL_S0 %in% COUNTED_S0, "REPLICATED", "NOT TESTABLE HERE")
  expect_verdicts(found, stats::setNames(wanted, ALL_S0))
  expect_setequal(found[!claim %in% COUNTED_S0, detail], "class")
  synthetic <- simulated_verdicts(S0, AS_CLAIMED_S0, class = "S", blocks = 3L, scale = "smoke")
  expect_setequal(synthetic$verdict, "NOT TESTABLE HERE")
})

test_that("the effects are those that were put in, and magnitudes are judged beside them", {
  found <- simulated_study(S0, AS_CLAIMED_S0)
  estimate <- function(id, which = "") found$estimates[claim == id & link == which, as.numeric(estimate)]
  expect_equal(estimate("S0-03"), 2458.4 / 897.4 / 1.1^0.4, tolerance = 0.01)
  expect_equal(estimate("S0-11"), exp(0.241), tolerance = 0.01)
  expect_equal(estimate("S0-12"), 0.119, tolerance = 0.01)
  expect_equal(estimate("S0-13"), 0.496, tolerance = 0.01)
  expect_equal(estimate("S0-14"), -1, tolerance = 1e-6)
  expect_equal(estimate("Q0-1"), 0.119 + 0.0067, tolerance = 0.01)
  expect_equal(found$verdicts[claim %in% c("S0-03", "S0-11"), magnitude], c("consistent", "consistent"))
})

test_that("what is reported beside a claim has an interval, and decides nothing", {
  found <- simulated_study(S0, AS_CLAIMED_S0)
  beside <- found$estimates[startsWith(link, "beside: ")]
  expect_equal(beside$claim, c("S0-04", "S0-07", "S0-11", "Q0-1"))
  expect_true(all(nzchar(beside$ci95_lo)) && !any(nzchar(beside$p)))
  # Without replay nothing rises: the mean of the written runs is lower, and so is their spread.
  ratio <- function(id) as.numeric(found$estimates[claim == id, estimate])
  expect_equal(ratio("S0-04")[2] / ratio("S0-04")[1], exp(2 * 0.241), tolerance = 0.02)
  expect_lt(ratio("S0-07")[2], ratio("S0-07")[1] / 10)
  expect_equal(ratio("S0-11")[2], 1, tolerance = 0.01)
})

test_that("a boot without a miss has no slope on misses, and says so", {
  sated <- AS_CLAIMED_S0
  sated$metrics$hit_ratio$at <- by_run(c(0.4, 1, 1, 1, 1), op = "randread", randrepeat = "1")
  sated$metrics$hit_ratio$noise <- STILL
  sated$identities$iops <- "141 + 0 * hit_ratio"
  found <- simulated_verdicts(S0, sated)
  expect_equal(found[claim == "S0-14", paste(verdict, detail)], "NOT TESTABLE HERE no data")
  expect_match(found[claim == "S0-14", reason], "nothing to take a slope on")
  expect_verdicts(found, c("S0-12" = "REPLICATED", "Q0-1" = "REPLICATED"))
})

test_that("runs that failed cost their boot where the claim needs them, and no more than a fifth may be lost", {
  after_losing <- function(blocks) {
    lose <- function(rows) {
      at <- rows$block %in% blocks & rows$run == 5 & rows$f_op == "randread"
      rows[at, c("status", "reason", "value") := list("invalid", "gate: steal 3 %", "")][]
    }
    simulated_study(S0, AS_CLAIMED_S0, change = lose)$verdicts
  }
  one <- after_losing(1)
  expect_equal(one[claim == "S0-13", n_blocks], "5") # runs 4 and 5 are asked for by name
  expect_equal(one[claim == "S0-12", n_blocks], "6") # a slope can do without one
  expect_verdicts(one, c("S0-13" = "REPLICATED", "S0-07" = "REPLICATED"))
  two <- after_losing(1:2)
  expect_equal(two[claim == "S0-13", paste(verdict, detail)], "INCONCLUSIVE attrition")
  expect_match(two[claim == "S0-13", reason], "33 % of the blocks")
})

test_that("where every boot counts by itself, what is lost is counted in boots of all the cells a claim looks at", {
  lose <- function(rows) {
    at <- rows$block <= 3 & rows$f_file_state == "written"
    rows[at, c("status", "reason", "value") := list("failed", "no answer", "")][]
  }
  found <- simulated_study(S0, AS_CLAIMED_S0, change = lose)$verdicts
  expect_equal(found[claim == "S0-15", paste(verdict, detail)], "INCONCLUSIVE attrition") # 6 of 24 boots
  expect_equal(found[claim == "S0-08", verdict], "REPLICATED")
})

test_that("spreads are compared only between boots with equally many runs", {
  lose <- function(rows) {
    at <- rows$block == 1 & rows$run == 5 & rows$f_file_state == "written" & rows$f_op == "read"
    rows[at, c("status", "reason", "value") := list("invalid", "gate: steal 3 %", "")][]
  }
  found <- simulated_study(S0, AS_CLAIMED_S0, change = lose)$verdicts
  expect_equal(found[claim == "S0-06", n_blocks], "5")
  expect_equal(found[claim == "S0-03", n_blocks], "6")
})

test_that("a claim that would mix protocols is refused", {
  path <- tempfile(fileext = ".yaml")
  text <- readLines(file.path(ROOT, "studies", S0, "claims.yaml"))
  writeLines(sub(", protocol: improved}", "}", text, fixed = TRUE), path)
  expect_error(simulated_study(S0, AS_CLAIMED_S0, claims = path), "averages over the factor \"protocol\"")
})
