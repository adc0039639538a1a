# Short self-check by simulation: does the engine cover what it says, and do wrong methods fail? Fixed seeds, seconds.

S <- 400
band <- function(p, n = S) 3.29 * sqrt(p * (1 - p) / n) + 1e-9
seeded <- function(seed) set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")

#' Block contrasts of two configurations, three runs in each boot: block .05 cancels, boot .03, run .05.
draw_contrasts <- function(blocks, effect = 0, runs = 3L) {
  boot <- function() stats::rnorm(blocks, 0, 0.03) + rowMeans(matrix(stats::rnorm(blocks * runs, 0, 0.05), blocks))
  effect + boot() - boot()
}

test_that("the t interval over blocks covers 95 % from three blocks up", {
  for (blocks in c(3L, 5L, 10L)) {
    seeded(blocks)
    hit <- replicate(4000, {
      ci <- t_interval(draw_contrasts(blocks, 0.1))$ci95
      ci[1] < 0.1 && 0.1 < ci[2]
    })
    expect_gte(mean(hit), 0.939)
    expect_lte(mean(hit), 0.961)
  }
})

test_that("negative control: runs pooled over boots cover far too little", {
  seeded(11)
  runs <- 10L
  hit <- replicate(S, {
    arm <- function() rep(stats::rnorm(5, 0, 0.1), each = runs) + stats::rnorm(5 * runs, 0, 0.05)
    ci <- log(unlist(welch_log_ratio(exp(arm()), exp(arm()))[c("lo", "hi")]))
    ci[1] < 0 && 0 < ci[2]
  })
  expect_lt(mean(hit), 0.70)
})

test_that("negative control: bootstrap percentiles over five blocks cover too little, Welch on logs does not", {
  seeded(12)
  percentile <- replicate(S, {
    d <- stats::rnorm(5)
    q <- stats::quantile(replicate(200, mean(sample(d, replace = TRUE))), c(0.025, 0.975))
    q[1] < 0 && 0 < q[2]
  })
  expect_lt(mean(percentile), 0.91)
  welch <- replicate(S, {
    w <- welch_log_ratio(stats::rlnorm(5, 0, 0.35), stats::rlnorm(5, 0, 0.35))
    w$lo < 1 && 1 < w$hi
  })
  expect_gte(mean(welch), 0.91)
})

test_that("Holm keeps the family; without it nearly half of all families err", {
  seeded(13)
  p <- replicate(2000, replicate(12, t_interval(stats::rnorm(10))$p))
  expect_lte(mean(apply(p, 2, function(x) any(holm(x) < 0.05))), 0.06)
  expect_gt(mean(apply(p, 2, function(x) any(x < 0.05))), 0.35)
})

# Verdict rates of the directional rule: rows of the table of methods, sd of the block log-ratios, true ratio.
verdict_rates <- function(blocks, sd, ratio, type = "dir", margin = NULL) {
  claim <- claim_of(type, margin = margin)
  words <- replicate(S, word(claim, stats::rnorm(blocks, log(ratio), sd)))
  c(R = mean(words == "REPLICATED"), C = mean(words == "NOT REPLICATED contradicted"),
    N = mean(words == "NOT REPLICATED negligible"))
}
claim_of <- function(type, ...) {
  defaults <- list(id = "X", type = type, direction = "greater", combine = "all", margin = NULL, delta0 = NULL,
                   family = "F",
                   exploratory = FALSE, min_class = "V", estimator = list(kind = "contrast", scale = "log"))
  utils::modifyList(defaults, list(...))
}
word <- function(claim, d) {
  link <- list(id = "l", d = stats::setNames(d, seq_along(d)), floor = 0, null = 0, published = NA_real_, censored = "")
  item <- list(claim = claim, links = list(link), class = "V", n = length(d), planned = length(d), units = NULL,
               absent = NULL)
  out <- decide_all(list(item))[[1]]
  trimws(paste(out$verdict, out$detail))
}

test_that("verdict rates of the directional rule are those of the table", {
  cases <- list(
    list(5, .05, 1.00, c(R = .02, C = .02, N = .28)), list(5, .05, 1.10, c(R = .89, N = 0)), list(5, .05, 0.91,
        c(C = .88)),
    list(10, .05, 1.00, c(R = .02, C = .02, N = .78)), list(10, .05, 1.05, c(R = .78, N = .04)), list(10, .15, 1.25,
        c(R = .99)),
    list(20, .05, 1.02, c(R = .19, N = .79)), list(20, .15, 1.10, c(R = .77))
  )
  for (case in cases) {
    seeded(100 * case[[1]] + round(100 * case[[3]]))
    found <- verdict_rates(case[[1]], case[[2]], case[[3]])
    # The table prints two decimals, hence 0.005 beside the Monte-Carlo band.
    for (name in names(case[[4]])) expect_lte(abs(found[[name]] - case[[4]][[name]]),
                                              band(max(case[[4]][[name]], 0.005)) + 0.008)
  }
})

test_that("equality at and inside the margin", {
  seeded(21)
  expect_gte(verdict_rates(10, .05, 1.00, "eq", 1.1)[["R"]], 0.98)
  expect_lte(abs(verdict_rates(10, .05, 1.05, "eq", 1.1)[["R"]] - 0.86), band(0.86) + 0.008)
  at <- verdict_rates(10, .05, 1.10, "eq", 1.1)
  expect_lte(at[["R"]], 0.05 + band(0.05))
  expect_lte(at[["C"]], 0.04 + band(0.03))
  expect_gte(verdict_rates(10, .05, 1.20, "eq", 1.1)[["C"]], 0.97)
})

# Metamorphic checks, through the production path: CSV in, verdict out
# -----------------------------------------------------

rows <- simulate_campaign(4L, runs = 2L, class = "V", seed = 5L)
plain <- decide_rows(rows)
same <- function(made, ids = sprintf("S3-%02d", c(1, 5:13))) {
  expect_identical(made$verdicts[claim %in% ids, verdict], plain$verdicts[claim %in% ids, verdict])
  expect_equal(as.numeric(made$estimates[claim %in% ids, estimate]),
               as.numeric(plain$estimates[claim %in% ids, estimate]), tolerance = 1e-3)
}
scale_times <- function(rows, factor, which = TRUE) {
  data.table::copy(rows)[(grepl("time", metric) & which), value := sprintf("%.10g", as.numeric(value) * factor)][]
}

test_that("scaling times, shifting a block, renaming blocks and duplicating runs change nothing", {
  same(decide_rows(scale_times(rows, 7)))
  same(decide_rows(scale_times(rows, 1.5, rows$block == 2L)))
  renamed <- data.table::copy(rows)[, block := c(4L, 2L, 1L, 3L)[block]][]
  same(decide_rows(renamed))
  twice <- rbind(rows, data.table::copy(rows)[, run := run + 2L])
  made <- decide_rows(twice)
  same(made)
  expect_equal(as.numeric(made$estimates$se), as.numeric(plain$estimates$se), tolerance = 1e-6)
})

test_that("swapping rate and time only turns the sign", {
  rates <- data.table::copy(rows)[metric == "write_time", value := sprintf("%.12g", 1 / as.numeric(value))][]
  a <- as.numeric(decide_rows(rates)$estimates[claim == "S3-08", estimate])
  expect_equal(a, 1 / as.numeric(plain$estimates[claim == "S3-08", estimate]), tolerance = 1e-6)
})
