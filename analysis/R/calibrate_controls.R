# Self-check of what is not used for verdicts: wrong methods must be seen to fail, and rank methods to hold.

#' Runs pooled over boots that are nested in configurations, and boot means of the same data.
check_pooled <- function(plan) {
  stated <- c("3" = 0.82, "10" = 0.57)
  rows <- lapply(names(stated), function(runs) {
    seeded(plan$seed + as.integer(runs))
    hit <- replicate(plan$sims, nested_hits(5L, as.integer(runs)))
    spare <- (plan$sims < 2000L) * 0.025
    rbind(
      checked("runs pooled over 5 boots", paste(runs, "runs a boot"), plan$sims, mean(hit[1, ]),
              sprintf("%.2f", stated[[runs]]), 0, if (runs == "10") 0.7 else 0.9, control = TRUE),
      checked("boot means of the same data, Welch", paste(runs, "runs a boot"), plan$sims, mean(hit[2, ]),
              "0.947 to 0.968", 0.935 - spare, 0.99)
    )
  })
  data.table::rbindlist(rows)
}

nested_hits <- function(boots, runs) {
  arm <- function() {
    level <- stats::rnorm(boots, 0, sqrt(GENERATOR_SD[["block"]]^2 + GENERATOR_SD[["boot"]]^2))
    matrix(rep(level, runs) + stats::rnorm(boots * runs, 0, GENERATOR_SD[["run"]]), boots)
  }
  covers_one <- function(x, y) {
    w <- welch_log_ratio(exp(x), exp(y))
    w$lo < 1 && 1 < w$hi
  }
  a <- arm()
  b <- arm()
  c(covers_one(as.vector(a), as.vector(b)), covers_one(rowMeans(a), rowMeans(b)))
}

#' Bootstrap over a handful of blocks, and of two small groups: why neither is primary.
check_bootstrap <- function(plan) {
  blocks <- c("3" = 0.757, "5" = 0.833, "10" = 0.898, "20" = 0.926)
  paired <- lapply(names(blocks), function(b) {
    seeded(plan$seed + as.integer(b))
    hit <- replicate(plan$boot, {
      ends <- percentile_ends(block_draws(stats::rnorm(as.integer(b))))
      ends[1] < 0 && 0 < ends[2]
    })
    reach <- monte_carlo(blocks[[b]], plan$boot) + 0.01
    checked("bootstrap percentile over blocks", paste(b, "blocks"), plan$boot, mean(hit), sprintf("%.3f", blocks[[b]]),
            blocks[[b]] - reach, blocks[[b]] + reach, control = b == "5")
  })
  spare <- monte_carlo(0.88, plan$boot)
  two <- lapply(setdiff(VARIANTS, "ar1"), function(variant) {
    found <- two_group_coverage(5L, variant, plan)
    rbind(
      checked("percentile bootstrap of a ratio, n = 5", variant, plan$boot, found[[1]], "0.871 to 0.889",
              0.87 - spare, 0.90 + spare, control = TRUE),
      checked("BCa bootstrap of a ratio, n = 5", variant, plan$boot, found[[2]], "0.839 to 0.890", 0.835 - spare,
              0.89 + spare, control = TRUE)
    )
  })
  outliers <- two_group_coverage(20L, "outliers", plan)[[2]]
  reach <- monte_carlo(0.8, plan$boot) + 0.03
  data.table::rbindlist(c(paired, two, list(
    checked("BCa bootstrap of a ratio, n = 20", "outliers", plan$boot, outliers, "0.799", 0.799 - reach, 0.799 + reach,
            control = TRUE)
  )))
}

BOOT_DRAWS <- 999L

block_draws <- function(d) colMeans(matrix(sample(d, length(d) * BOOT_DRAWS, replace = TRUE), length(d)))

percentile_ends <- function(draws, ends = c(0.025, 0.975)) unname(stats::quantile(draws, ends))

two_group_coverage <- function(n, variant, plan) {
  seeded(plan$seed + n + match(variant, VARIANTS))
  hit <- replicate(plan$boot, {
    x <- draw_arm(n, variant)
    y <- draw_arm(n, variant)
    draws <- block_draws(x) - block_draws(y)
    plain <- percentile_ends(draws)
    bca <- bca_ends(draws, x, y)
    c(plain[1] < 0 && 0 < plain[2], bca[1] < 0 && 0 < bca[2])
  })
  rowMeans(hit)
}

#' BCa ends of a difference of means, the jackknife over both groups.
bca_ends <- function(draws, x, y) {
  theta <- mean(x) - mean(y)
  left_out <- c((sum(x) - x) / (length(x) - 1) - mean(y), mean(x) - (sum(y) - y) / (length(y) - 1))
  away <- mean(left_out) - left_out
  a <- sum(away^3) / (6 * sum(away^2)^1.5)
  z0 <- stats::qnorm(mean(draws < theta))
  z <- stats::qnorm(c(0.025, 0.975))
  percentile_ends(draws, stats::pnorm(z0 + (z0 + z) / (1 - a * (z0 + z))))
}

#' Hodges and Lehmann's shift with the exact rank-sum interval.
check_ranks <- function(plan) {
  stated <- c("5" = "0.970 to 0.976", "10" = "0.950 to 0.965", "20" = "0.942 to 0.956")
  rows <- lapply(names(stated), function(n) {
    lapply(c("normal", "lognormal", "outliers"), function(variant) {
      seeded(plan$seed + as.integer(n))
      hit <- replicate(plan$boot, {
        h <- hodges_lehmann(draw_arm(as.integer(n), variant), draw_arm(as.integer(n), variant))
        h$lo < 0 && 0 < h$hi
      })
      checked("Hodges and Lehmann, exact", sprintf("%s, n = %s", variant, n), plan$boot, mean(hit), stated[[n]],
              min(0.93, 0.95 - monte_carlo(0.95, plan$boot)), 1)
    })
  })
  data.table::rbindlist(unlist(rows, recursive = FALSE))
}

check_median <- function(plan) {
  rows <- lapply(c(6L, 9L, 12L, 20L), function(n) {
    seeded(plan$seed + n)
    ranks <- median_ci_ranks(n)
    hit <- replicate(plan$sims, {
      x <- sort(stats::rnorm(n))
      x[ranks$lo] < 0 && 0 < x[ranks$hi]
    })
    reach <- 3 * sqrt(ranks$coverage * (1 - ranks$coverage) / plan$sims)
    checked("median by order statistics", sprintf("n = %d", n), plan$sims, mean(hit), sprintf("%.3f", ranks$coverage),
            ranks$coverage - reach, ranks$coverage + reach)
  })
  data.table::rbindlist(rows)
}

#' Percentiles of the intervals of a run, averaged: must be seen to miss the percentile of the run.
check_percentiles <- function(plan) {
  seeded(plan$seed)
  off <- replicate(plan$boot, {
    # A tenth of the intervals stall: their few requests are slow, and one average in ten does not show it.
    slow <- stats::runif(20) < 0.1
    counts <- lapply(slow, function(s) {
      delay <- if (s) stats::rexp(40, 1 / 50000) else stats::rexp(200, 1 / 1000)
      table(fio_bin_value(fio_bin(delay)))
    })
    merged <- do.call(merge_histograms, lapply(counts, unlist))
    mean(vapply(counts, histogram_percentile, 0, p = 99)) / histogram_percentile(merged, 99)
  })
  checked("percentiles averaged over intervals", "p99, median ratio to the true one", plan$boot, stats::median(off),
          "wrong", 0, 0.8, control = TRUE)
}
