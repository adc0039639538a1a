# Short self-check by simulation, through CSV and verdict; fixed seeds, seconds. The long one is `make calibrate`.

plan <- list(sims = 400L, mixed = 100L, boot = 400L, schema = file.path(SCHEMAS, "claims.schema.yaml"),
             studies = file.path(ROOT, "studies"), seed = 20261121L)

#' Expect every row of a check to pass, naming those that do not.
expect_passed <- function(rows) {
  failed <- rows[pass == FALSE]
  expect_true(nrow(rows) > 0 && nrow(failed) == 0,
              label = paste(failed$check, failed$case, sprintf("%.3f", failed$found), sep = ", ", collapse = "; "))
}

test_that("the t interval over blocks covers 95 % from three blocks up", expect_passed(check_paired(plan)))

test_that("the slope per block keeps its type I error", expect_passed(check_slope(plan)))

test_that("verdict rates of the directional rule are those of the table", {
  asked <- VERDICT_RATES[(blocks == 5 & sd == 0.05 & truth %in% c(1, 1.1, 0.91)) | (blocks == 10 & truth == 1.05) |
                           (blocks == 10 & sd == 0.05 & truth == 1) | (blocks == 20 & sd == 0.15 & truth == 1.1)]
  expect_equal(nrow(asked), 7)
  expect_passed(check_rates(plan, asked))
})

test_that("equality at and inside the margin", {
  expect_passed(check_rates(plan, EQUALITY_RATES[sd == 0.05], "eq", 1.1))
})

test_that("Holm keeps the family; without it nearly half of all families err", expect_passed(check_holm(plan)))

test_that("the mixed model with block:cell covers, and without it does not", {
  skip_if_not_installed("lmerTest")
  skip_if_not_installed("pbkrtest")
  seeded(1)
  found <- mixed_coverage(5L, plan)
  expect_gte(found[1], 0.90)
  expect_lt(found[2], 0.93)
})

test_that("negative controls fail: pooled runs, bootstraps over five, averaged percentiles", {
  expect_passed(check_pooled(plan))
  few <- utils::modifyList(plan, list(boot = 200L))
  expect_passed(check_bootstrap(few))
  expect_passed(check_percentiles(few))
})

test_that("medians by order statistics cover what their ranks say", expect_passed(check_median(plan)))

test_that("stopping on width keeps the coverage that it is said to have", expect_passed(check_stopping(plan)))

test_that("the planned number of blocks has the power that it promises", expect_passed(check_planner(plan)))

test_that("scaling, shifting, renaming, doubling and reordering change nothing; rates only the sign", {
  expect_passed(check_metamorphic(plan))
})

test_that("the LRU of S0 is recovered, and its claims with it", expect_passed(check_recovery(plan)))

# The checks have teeth: each of these breaks the engine in one place and must be seen -------------------------------

#' Run code with functions of the package replaced, and put them back.
with_broken <- function(replacements, code) {
  home <- environment(check_paired)
  sound <- mget(names(replacements), envir = home)
  on.exit(for (name in names(sound)) assign(name, sound[[name]], envir = home))
  for (name in names(replacements)) {
    wrong <- replacements[[name]]
    environment(wrong) <- home
    assign(name, wrong, envir = home)
  }
  force(code)
}

some <- utils::modifyList(plan, list(sims = 200L))

test_that("normal quantiles in place of t's are caught", {
  normal <- function(estimate, se, df, level) estimate + c(-1, 1) * stats::qnorm((1 + level) / 2) * se
  expect_false(all(with_broken(list(t_range = normal), check_paired(some))$pass))
})

test_that("a family left unadjusted is caught", {
  expect_false(all(with_broken(list(holm = function(p) p), check_holm(some))$pass))
})

test_that("a verdict that does not ask for negligible first is caught", {
  never <- function(range, low, high) FALSE
  expect_false(all(with_broken(list(inside = never), check_rates(some, VERDICT_RATES[blocks == 10 & sd == 0.05 &
                                                                                          truth == 1]))$pass))
})

test_that("runs taken for blocks are caught by doubling them", {
  pooled <- function(d, null = 0, floor = 0) {
    # As if every run had been a block of its own.
    n <- 2 * length(d)
    t_statistics(length(d), mean(d), stats::sd(d), stats::sd(d) / sqrt(n), n - 1, null)
  }
  expect_false(all(with_broken(list(t_interval = pooled), check_paired(some))$pass))
})

test_that("a cache without a tail to begin with is caught", {
  empty <- function(requests, cache, file) duplicated(requests)
  expect_false(all(with_broken(list(lru_hits = empty), check_recovery(some))$pass))
})

test_that("the page names what failed, and says how much was simulated", {
  rows <- rbind(checked("a", "b", 10, 0.5, "0.95", 0.9, 1), told("c", "d", TRUE))
  rows[, section := "S"]
  path <- file.path(tempfile("page-"), "calibration.html")
  write_calibration(rows, path, "Seed 1.")
  html <- paste(readLines(path), collapse = "\n")
  expect_match(html, "1 of 2 checks passed; not: a, b\\. Seed 1\\.")
  expect_match(html, "<tr class=\"failed\"><td>a</td>")
  expect_match(paste(readLines(sub("html$", "md", path)), collapse = "\n"), "\\| a \\| b \\| 10 \\| 0.500 \\| 0.95 \\|")
})
