# Known answers: every group of vectors.json, at 1e-6 relative unless it says otherwise.

vectors <- jsonlite::read_json("vectors.json", simplifyVector = TRUE, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
near <- function(x, y, tolerance = 1e-6) expect_equal(as.numeric(x), as.numeric(y), tolerance = tolerance)
covered <- character()
group <- function(name) {
  covered <<- c(covered, name)
  if (is.null(vectors[[name]])) stop("no such group: ", name)
  vectors[[name]]
}

test_that("meta names the generator that the tests use", {
  expect_match(group("meta")$rng, paste(RNGkind(), collapse = "/"), fixed = TRUE)
})

test_that("minutes and seconds", {
  for (case in group("mmss")) {
    if (!is.null(case$error)) expect_error(parse_mmss(case[["in"]]), case$error, fixed = TRUE)
    else if (isTRUE(case$na)) expect_true(is.na(parse_mmss(case[["in"]])))
    else near(parse_mmss(case[["in"]]), case$s)
  }
})

test_that("ratios of rounded numbers", {
  for (case in group("rounding_ratio")) {
    found <- rounding_ratio(case$l, case$lres, case$u, case$ures, case$printed)
    near(c(found$lo, found$hi), c(case$lo, case$hi))
    expect_identical(found$consistent, case$consistent)
  }
})

test_that("median intervals by ranks", {
  for (case in group("median_ci")) {
    found <- median_ci_ranks(case$n)
    near(found$coverage, case$coverage)
    if (is.null(case$lo)) expect_true(is.na(found$lo)) else expect_equal(c(found$lo, found$hi), c(case$lo, case$hi))
  }
})

test_that("quantile intervals by ranks", {
  for (case in group("quantile_ci")) {
    if (!is.null(case$min_n_for_upper_95_bound)) {
      expect_equal(least_n_for_bound(0.99), case$min_n_for_upper_95_bound$p99)
      expect_equal(least_n_for_bound(0.999), case$min_n_for_upper_95_bound$p999)
    } else {
      found <- quantile_ci_ranks(case$n, case$p)
      near(unlist(found), c(case$lo, case$hi, case$coverage))
    }
  }
})

test_that("Welch on logs", {
  case <- group("log_ratio_welch")
  found <- welch_log_ratio(case$x, case$y)
  near(unlist(found[c("ratio", "lo", "hi", "df", "se", "p")]), unlist(case[c("ratio", "lo", "hi", "df", "se", "p")]))
  reference <- t.test(log(case$x), log(case$y))
  near(c(found$lo, found$hi), exp(reference$conf.int))
})

test_that("TOST of two independent groups", {
  case <- vectors$log_ratio_welch
  found <- welch_log_ratio(case$x, case$y)
  near(tost(log(found$ratio), found$se, found$df, 0, log(1.25))$p, 0.5019, tolerance = 1e-3)
  near(tost(log(found$ratio), found$se, found$df, 0, log(1.3))$p, 0.004612, tolerance = 1e-3)
})

test_that("Fieller, and where it is undefined", {
  case <- group("fieller")
  w <- vectors$log_ratio_welch
  near(unlist(fieller(w$x, w$y)[c("ratio", "lo", "hi")]), unlist(case))
  bad <- fieller(1:3, c(-5, 0.1, 5))
  expect_true(is.na(bad$lo))
  expect_match(bad$reason, "covers 0")
})

test_that("block contrasts", {
  case <- group("paired_log")
  found <- t_interval(case$d)
  near(c(found$estimate, found$sd, found$p), c(case$mean, case$sd, case$p_two_sided))
  near(found$ci95, case$ci95)
  near(exp(found$ci95), case$ratio_ci95)
  near(found$ci90, case$ci90)
  equal <- tost(found$estimate, found$se, found$df, log(1.25), log(1.1))
  near(unlist(equal), unlist(case[["tost_vs_log1.25_margin_log1.1"]])[c("p_lo", "p_hi", "p")])
})

test_that("sleep, unpaired and paired", {
  case <- group("welch_sleep")
  halves <- split(sleep$extra, sleep$group)
  # Welch on raw numbers is Welch on logs of their exponentials.
  found <- welch_log_ratio(exp(halves[[1]]), exp(halves[[2]]))
  near(log(c(found$lo, found$hi)), case$ci95)
  near(c(found$df, found$p), c(case$df, case$p))
  near(t_interval(halves[[1]] - halves[[2]])$ci95, case$paired_ci95)
})

test_that("Kalibera and Jones, worked example", {
  case <- group("kalibera_jones_worked")
  found <- nested_variances(case$data)
  near(c(found$S, found$T, found$mean, found$hw95), unlist(case$result)[c("S1", "S2", "S3", "T1", "T2", "T3", "mean",
      "hw95")])
})

test_that("Kalibera and Jones, optimal repetitions", {
  case <- group("kalibera_jones_optimal")
  found <- nested_variances(case$data)
  near(c(found$S, found$T, found$mean, found$hw95), unlist(case$result)[c("S1", "S2", "S3", "T1", "T2", "T3", "mean",
      "hw95")])
  near(optimal_repetitions(found$T, case$costs_high_to_low), c(case$optimal_r1, case$optimal_r2))
})

test_that("BCa against the book, and its refusal", {
  case <- group("bca")
  found <- bca_interval(case$data, plug_in_variance, level = 0.9, times = 4000L)
  near(c(found$theta, found$acceleration), c(case$theta, case$acceleration))
  expect_true(all(abs(c(found$lo, found$hi) - case$book_bca90) < case$tolerance))
  expect_error(bca_interval(case$data[1:19], plug_in_variance), "20 blocks")
})

test_that("bootstrap by enumeration", {
  case <- group("bootstrap_enumeration")
  all <- enumerate_resamples(case$data)
  expect_length(all, case$n_resamples)
  near(c(population_variance(all), quantile(all, c(0.025, 0.975), type = 1)), c(case$var, case$q025, case$q975))
})

test_that("two-level bootstrap by enumeration", {
  case <- group("two_level_enumeration")
  all <- enumerate_two_level(case$data)
  near(c(mean(all), population_variance(all)), c(case$mean, case$var))
  near(quantile(all, c(0.025, 0.975), type = 1), c(case$q025_type1, case$q975_type1))
  near(population_variance(enumerate_resamples(vapply(case$data, mean, 0))), case$top_level_only_var)
})

test_that("Holm, with a missing p kept missing", {
  for (case in group("holm")) near(holm(as.numeric(case$p)), as.numeric(case$adj))
  near(holm(c(.001, .012, .03, .2)), c(.004, .036, .06, .2))
})

test_that("Page's L", {
  case <- group("page_L")
  near(unlist(page_test(do.call(rbind, case$data))), unlist(case[c("L", "E", "V", "z")]))
})

test_that("SNIA steady state", {
  for (case in group("snia")) {
    found <- snia_steady(case$y)
    near(unlist(found[1:4]), unlist(case[c("avg", "range", "slope", "slope_exc")]))
    expect_identical(as.integer(found$steady), as.integer(case$steady))
  }
})

test_that("MSER truncation", {
  cases <- group("mser")
  series <- list(c(rep(0, 10), rep(10, 40)), rep(1, 50), cases[[3]]$y)
  for (i in seq_along(cases)) expect_equal(mser(series[[i]], cases[[i]]$batch), cases[[i]]$truncate)
})

test_that("changepoints", {
  cases <- group("changepoint")
  nile <- as.numeric(Nile)
  expect_equal(changepoints(nile), cases[[1]]$cpt)
  near(c(mean(nile[1:28]), mean(nile[29:100])), cases[[1]]$means)
  expect_length(changepoints(nile, 15 * log(length(nile))), 0)
  expect_equal(changepoints(cases[[3]]$series), cases[[3]]$cpt)
})

test_that("batch means", {
  series <- list(as.numeric(1:12), as.numeric(lh), as.numeric(Nile))
  cases <- group("batch_means")
  for (i in seq_along(cases)) near(unlist(batch_means(series[[i]], cases[[i]]$batches)[1:2]),
                                   c(cases[[i]]$mean, cases[[i]]$se))
})

test_that("effective sample size", {
  case <- group("ess")
  near(ar1_effective_size(0.5)$tau, case$ar1[[1]]$tau)
  near(unlist(ar1_effective_size(0.9, 600)), c(case$ar1[[2]]$tau, case$ar1[[2]]$ess))
  near(effective_size(lh), case$lh_coda)
  near(effective_size_geyer(as.numeric(lh)), case$lh_geyer)
  near(effective_size(Nile), case$nile_coda)
})

test_that("fio latency bins", {
  for (case in group("fio_bins")) {
    expect_equal(fio_bin(case$value), case$index)
    expect_equal(fio_bin_value(case$index), case$representative)
    expect_lte(abs(fio_bin_value(fio_bin(case$value)) - case$value), case$value / 128 + 1)
  }
})

test_that("percentiles of merged histograms, and why averages of percentiles are wrong", {
  case <- group("hist_merge")
  merged <- merge_histograms(unlist(case$A), unlist(case$B))
  for (p in c(74, 95)) {
    expected <- case[[paste0("p", p)]]
    a <- histogram_percentile(case$A, p)
    b <- histogram_percentile(case$B, p)
    expect_equal(c(a, b, mean(c(a, b)), histogram_percentile(merged, p)),
                 c(expected$A, expected$B, expected$wrong_average, expected$merged))
  }
  expect_equal(histogram_percentile(merged, 75), case$p75$merged)
})

test_that("the runs of source S0", {
  case <- group("s0_runs")
  hit <- (case$mru + case$mfu) / (60 * case$iops)
  near(hit, case$hit)
  near(c(mean(case$mbps), sd(case$mbps)), c(case$mean, case$sd))
  near(cor(1:5, case$mbps, method = "spearman"), case$spearman)
  near(unlist(kendall_exact(case$mbps)), c(case$kendall, case$exact_p))
  near(c(theil_sen(log(case$mbps)), ols_slope(log(case$mbps)), ols_slope(hit)),
       c(case$theil_sen_log, case$ols_log, case$hit_slope))
  miss <- case$iops * (1 - hit)
  near(c(miss, sd(miss) / mean(miss)), c(case$miss_rate, case$miss_rate_cv))
  fit <- lm(log(case$iops) ~ log(1 - hit))
  near(c(coef(fit)[2], confint(fit)[2, ]), c(case$log_slope, case$log_slope_ci))
  near(boot_stat(log(case$iops), log1p(-hit), "slope"), case$log_slope)
})

test_that("the ratios of source S0 from printed mean, sd and n", {
  case <- group("s0_ratio")
  read <- delta_log_ratio(2458.4, 11.7, 5, 897.4, 33.4, 5)
  near(c(read$ratio, read$lo, read$hi, read$df), c(case$read$ratio, case$read$ci95_delta_log, case$read$df))
  rand <- delta_log_ratio(2337.8, 2.3, 5, 40.6, 14.2, 5)
  near(c(rand$ratio, rand$lo, rand$hi, rand$df), c(case$randread$ratio, case$randread$ci95_delta_log, case$randread$df))
})

test_that("the two-by-two of source S2", {
  case <- group("s2_read")
  # Effects add up on logs, whatever the unit: base, compression, dedup, both.
  found <- factorial_effects(1, exp(case$comp), exp(case$dedup), exp(case$comp + case$dedup + case$interaction))
  near(unlist(found), unlist(case[c("comp", "dedup", "interaction")]))
})

test_that("what a chart's base does", {
  case <- group("axis")
  near(case$b / case$a, case$true_ratio)
  near((case$b - case$base) / (case$a - case$base), case$drawn_ratio)
  near(lie_factor(case$a, case$b, case$base), case$lie_factor)
})

test_that("means of rates", {
  case <- group("means_of_rates")
  near(unlist(means_of_rates(case$rates)), unlist(case[c("arithmetic", "geometric", "harmonic")]))
})

test_that("degenerate cases have names", {
  cases <- group("degenerate")
  one <- t_interval(0.3)
  expect_true(is.na(one$ci95[1]) && is.na(one$p))
  near(resolution_floor(1), cases[[2]]$sd_floor)
  same <- t_interval(c(1, 1, 1), floor = resolution_floor(1))
  expect_true(same$floor_used)
  near(same$sd, cases[[2]]$sd_floor)
  near(resolution_floor(1) / 82, 0.00352, tolerance = 1e-3)
  expect_error(welch_log_ratio(c(0, 1), c(1, 2)), cases[[5]]$error, fixed = TRUE)
})

test_that("outliers are flagged by both rules", {
  x <- c(10, 11, 9, 10, 12, 10, 9, 11, 10, 30)
  near(outlier_bounds(x), c(-4.4, 24.4))
  near(modified_z(x)[10], 13.49)
  expect_equal(which(flag_outliers(x)), 10)
  expect_false(any(flag_outliers(rep(5, 12))))
})

test_that("numbers of blocks", {
  table <- rbind(c(.02, 5, 3, 3), c(.05, 14, 6, 3), c(.10, 47, 14, 5), c(.20, 179, 49, 11))
  for (i in seq_len(nrow(table))) {
    expect_equal(vapply(c(1.05, 1.10, 1.25), function(r) as.numeric(blocks_needed(table[i, 1], r)), 0), table[i, -1])
  }
  expect_equal(further_blocks(c(a = 0.2), 5), 5)
  expect_equal(further_blocks(c(a = 0.04), 12), 0)
  expect_gt(further_blocks(c(a = 0.06), 12), 0)
})

test_that("a prediction interval for a replication of S0-04", {
  published <- delta_log_ratio(2337.8, 2.3, 5, 40.6, 14.2, 5)
  near(prediction_interval(published$ratio, published$se, 0.05, df = 5), c(37.8, 87.8), tolerance = 2e-3)
})

test_that("every group of known answers is tested", {
  expect_setequal(covered, names(vectors))
  expect_length(unique(covered), 29)
})
