# The twins beside every estimate, unpaired groups, and where a replication of the source should land.

test_that("a median of blocks has an interval by ranks from six blocks on", {
  d <- stats::setNames(c(.3, .1, .2, .6, .5, .4), 1:6)
  found <- median_twin(d)
  expect_equal(c(found$estimate, found$lo, found$hi), c(.35, .1, .6))
  expect_match(found$note, "96.9 %")
  expect_true(is.na(median_twin(d[1:5])$lo))
})

test_that("Hodges and Lehmann's shift is that of the rank-sum test, and ties give up exactness", {
  x <- c(1.1, 2.3, 3.7, 4.2, 5.9)
  y <- c(0.2, 0.9, 1.7, 2.1, 3.3)
  found <- hodges_lehmann(x, y)
  expect_equal(found$estimate, stats::median(outer(x, y, `-`)))
  expect_equal(found$note, "exact")
  expect_match(hodges_lehmann(c(x, 2), c(y, 2))$note, "ties: mid-ranks")
  expect_true(is.na(hodges_lehmann(x[1:3], y)$lo))
})

test_that("Welch for a contrast of groups is Welch's t, and has a floor for the timer", {
  x <- c(100, 102, 98, 101, 99)
  y <- c(80, 82, 79, 81, 78)
  found <- welch_contrast(list(list(weight = 1, x = log(x)), list(weight = -1, x = log(y))))
  known <- welch_log_ratio(x, y)
  expect_equal(exp(c(found$estimate, found$ci95)), c(known$ratio, known$lo, known$hi))
  expect_equal(c(found$df, found$p), c(known$df, known$p))
  same <- welch_contrast(list(list(weight = 1, x = c(1, 1, 1)), list(weight = -1, x = c(2, 2, 2))), floor = 0.3)
  expect_true(same$floor_used)
  expect_equal(same$se, sqrt(2 * 0.3^2 / 3))
  expect_true(is.na(welch_contrast(list(list(weight = 1, x = 1), list(weight = -1, x = c(1, 2))))$se))
})

test_that("groups that share no block are compared by Welch's t, through CSV and claims", {
  seeded(5)
  rows <- calibration_rows(3L, 5L, 1L, function() list(a = draw_arm(5L) + 0.3, b = draw_arm(5L)), shared = FALSE)
  with_campaign(rows, calibration_claims(3L), function(dir) {
    made <- estimate_study(dir, file.path(dir, "claims.yaml"), file.path(SCHEMAS, "claims.schema.yaml"))
    expect_equal(made$verdicts$verdict, rep("REPLICATED", 3))
    one <- rows[metric == "m00001"]
    known <- stats::t.test(log(as.numeric(one[cell == "a", value])), log(as.numeric(one[cell == "b", value])))
    expect_equal(as.numeric(made$estimates$ci95_lo[1]), exp(known$conf.int[1]), tolerance = 1e-8)
    expect_equal(as.numeric(made$estimates$df[1]), unname(known$parameter), tolerance = 1e-8)
    expect_match(made$estimates$robust_note[1], "Hodges and Lehmann")
  })
})

test_that("a trend has Theil and Sen's slope and Page's test beside it", {
  seeded(6)
  rows <- calibration_rows(2L, 6L, 5L, function() draw_pair(6L, 5L, drift = 0.2))
  with_campaign(rows, calibration_claims(2L, type = "trend", stat = "slope"), function(dir) {
    made <- estimate_study(dir, file.path(dir, "claims.yaml"), file.path(SCHEMAS, "claims.schema.yaml"), mixed = TRUE)
    e <- made$estimates[1]
    expect_lt(abs(log(as.numeric(e$robust_estimate)) - 0.2), 0.06)
    expect_match(e$robust_note, "Page's L .*p < 0.0001 \\(normal\\)")
    expect_lt(abs(log(as.numeric(e$lmer_estimate)) - log(as.numeric(e$estimate))), 0.02)
  })
})

test_that("Page's permutation p with ties agrees with the normal one without", {
  seeded(8)
  y <- matrix(stats::rnorm(40), 8) + rep(0.3 * 1:5, each = 8)
  plain <- page_p(y, 1)
  expect_match(plain$how, "normal")
  tied <- page_p(round(y, 1), 1)
  expect_match(tied$how, "ties")
  expect_lt(abs(tied$p - plain$p), 0.02)
})

test_that("a replication of S0-04 with a standard error of 0.05 should land between 37.8 and 87.8", {
  claim <- list(published_ci = list(37.3, 88.9), published_df = 4, estimator = list(scale = "log"))
  s <- list(se = 0.05, df = 9, estimate = 0, link = list(published = log(57.58)))
  expect_equal(exp(predicted(claim, s)), c(37.8, 87.8), tolerance = 3e-3)
  expect_true(is.na(predicted(list(estimator = list(scale = "log")), s)[1]))
})

test_that("the degrees of freedom of S0's intervals follow from its printed means and sds", {
  claims <- read_claims(file.path(ROOT, "studies", "fio-cache", "claims.yaml"),
                        file.path(SCHEMAS, "claims.schema.yaml"))
  printed <- data.table::fread(file.path(ROOT, "studies", "fio-cache", "published.csv"))
  arm <- function(op, state) {
    wanted <- sprintf("test=%s;file_state=%s;", op, state)
    printed[metric == "bandwidth" & grepl(wanted, config) & statistic == "mean"]
  }
  for (case in list(c("S0-03", "read"), c("S0-04", "randread"))) {
    x <- arm(case[2], "unwritten")
    y <- arm(case[2], "written")
    known <- delta_log_ratio(x$value, as.numeric(x$sd), as.numeric(x$n), y$value, as.numeric(y$sd), as.numeric(y$n))
    claim <- claims$claims[[case[1]]]
    expect_equal(claim$published_df, known$df, tolerance = 2e-3)
    expect_equal(unlist(claim$published_ci), c(known$lo, known$hi), tolerance = 2e-3)
  }
})

test_that("a two-sided claim of several links adjusts over them and takes its sign from the clearest", {
  link <- function(d) {
    list(id = "l", d = stats::setNames(d, seq_along(d)), floor = 0, null = 0, published = NA_real_, censored = "")
  }
  decide_two <- function(combine, ...) {
    claim <- list(id = "X", type = "dir", direction = "two-sided", combine = combine, margin = NULL, delta0 = NULL,
                  family = "F", exploratory = FALSE, min_class = "V",
                  estimator = list(kind = "contrast", scale = "log"))
    item <- list(claim = claim, links = lapply(list(...), link), class = "V", n = 4L, planned = 4L, units = NULL,
                 absent = NULL)
    decide_all(list(item))[[1]]
  }
  noise <- c(0.2, -0.2, 0.1, -0.1)
  down <- c(-0.3, -0.31, -0.29, -0.3)
  found <- decide_two("any", noise, down)
  expect_equal(c(found$verdict, found$detail), c("EFFECT FOUND", "negative"))
  expect_equal(found$p, 2 * t_interval(down)$p, tolerance = 1e-9)
  expect_equal(decide_two("all", noise, down)$verdict, "INCONCLUSIVE")
  expect_equal(decide_two("all", -down, down)$detail, "both ways")
})

test_that("cells are summed up in plain numbers", {
  dir <- write_campaign(simulate_campaign(6L, runs = 5L, class = "V"))
  on.exit(unlink(dir, recursive = TRUE))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  one <- cell_summary(data)[cell == "gzip_text_75" & metric == "write_time"]
  values <- data$rows[cell == "gzip_text_75" & metric == "write_time"]
  means <- means_of_rates(values$value)
  expect_equal(as.numeric(c(one$arithmetic_mean, one$geometric_mean, one$harmonic_mean)), unname(unlist(means)))
  boots <- values[, .(v = mean(value), s = stats::var(value)), by = block]
  expect_equal(as.numeric(c(one$sd_blocks, one$sd_runs)), c(stats::sd(boots$v), sqrt(mean(boots$s))))
  expect_equal(c(one$blocks, one$runs, one$lost, one$steady_boots), c("6", "30", "0", "6"))
})

test_that("a trace is flat, warms up, slows down or never settles", {
  seeded(9)
  flat <- stats::rnorm(60, 100, 1)
  expect_equal(classify_run(flat)$class, "flat")
  expect_equal(classify_run(c(flat[1:10] - 40, flat[11:60]))$class, "warm-up")
  expect_equal(classify_run(c(flat[1:10] + 40, flat[11:60]))$class, "slowdown")
  expect_equal(classify_run(c(flat[1:40], flat[41:60] - 40))$class, "unsteady")
  expect_equal(classify_run(c(flat[1:10] - 40, flat[11:60]), higher_is_better = FALSE)$class, "slowdown")
})
