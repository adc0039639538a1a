# Self-check of the intervals that production uses: through CSV, claims and verdicts.

#' @param plan list: sims (t engine), mixed (lmer), boot (resampling), schema, seed.
check_paired <- function(plan) {
  stated <- c("3" = 0.947, "5" = 0.948, "10" = 0.948, "20" = 0.947)
  rows <- lapply(names(stated), function(blocks) {
    b <- as.integer(blocks)
    found <- calibrate_sets(plan$sims, b, 3L, function() draw_pair(b, effect = 0.1), plan$schema, plan$seed + b)
    band <- coverage_band(plan$sims, 0.939, 0.961)
    checked("paired block t, 95 %", paste(blocks, "blocks"), plan$sims, covers(found, 0.1), sprintf("%.3f",
                                                                                  stated[[blocks]]), band[1], band[2])
  })
  data.table::rbindlist(rows)
}

#' The accepted range of methods, or with fewer simulations the band of their number about 0.95.
coverage_band <- function(sims, low, high) {
  c(min(low, 0.95 - monte_carlo(0.95, sims)), max(high, 0.95 + monte_carlo(0.95, sims)))
}

#' Every variant of the generator, and runs that are lost.
check_variants <- function(plan) {
  cases <- c(stats::setNames(VARIANTS, VARIANTS), "10 % of runs missing" = "normal")
  rows <- Map(function(variant, name) {
    missing <- if (grepl("missing", name)) 0.1 else 0
    found <- calibrate_sets(plan$sims, 10L, 3L, function() draw_pair(10L, effect = 0.1, variant = variant), plan$schema,
                            plan$seed + match(name, names(cases)), missing = missing)
    checked("paired block t, 10 blocks, variants", name, plan$sims, covers(found, 0.1), ">= 0.935",
            0.935 - (plan$sims < 2000L) * 0.025, 0.99)
  }, cases, names(cases))
  data.table::rbindlist(rows)
}

#' Two groups that share no block, six distributions: Welch on logs.
check_welch <- function(plan) {
  kinds <- setdiff(VARIANTS, "ar1")
  sizes <- c(3L, 5L, 10L, 20L)
  rows <- lapply(kinds, function(variant) {
    lapply(sizes, function(n) {
      seeded(plan$seed + n)
      hit <- replicate(plan$sims, {
        w <- welch_log_ratio(exp(draw_arm(n, variant)), exp(draw_arm(n, variant)))
        w$lo < 1 && 1 < w$hi
      })
      checked("Welch on logs, 95 %", sprintf("%s, n = %d", variant, n), plan$sims, mean(hit), "0.947 to 0.982",
              0.935 - (plan$sims < 2000L) * 0.025, 0.99 + (plan$sims < 2000L) * 0.01)
    })
  })
  shared <- calibrate_sets(plan$sims, 10L, 1L, function() list(a = draw_arm(10L), b = draw_arm(10L)), plan$schema,
                           plan$seed, shared = FALSE)
  band <- coverage_band(plan$sims, 0.935, 0.965)
  data.table::rbindlist(c(unlist(rows, recursive = FALSE), list(
    checked("Welch on logs, 95 %", "by CSV and claims, normal, n = 10", plan$sims, covers(shared, 0), "0.947 to 0.982",
            band[1], band[2])
  )))
}

draw_arm <- function(n, variant = "normal", sd = 0.05) run_noise(list(run = rep(1L, n)), sd, variant)

check_slope <- function(plan) {
  found <- calibrate_sets(plan$sims, 5L, 5L, function() draw_pair(5L, 5L, slope = 0.1), plan$schema, plan$seed,
                          type = "trend", stat = "slope")
  reach <- if (plan$sims < 4000L) monte_carlo(0.05, plan$sims) else 0.01
  checked("slope per block, 5 blocks", "type I error", plan$sims, mean(found$p < 0.05), "0.047", max(0, 0.05 - reach),
          0.05 + reach)
}

#' The mixed model as production fits it, and the one without block:cell, which must be seen to cover too little.
check_mixed <- function(plan) {
  stated <- list("3" = c(0.998, 0.882), "5" = c(0.975, 0.862), "10" = c(0.960, 0.870))
  wide <- monte_carlo(0.95, plan$mixed)
  rows <- lapply(names(stated), function(blocks) {
    found <- mixed_coverage(as.integer(blocks), plan)
    rbind(
      checked("lmer with block:cell, Kenward-Roger", paste(blocks, "blocks"), plan$mixed, found[[1]],
              sprintf("%.3f", stated[[blocks]][1]), min(0.93, 0.95 - wide), 1),
      checked("lmer without block:cell, Satterthwaite", paste(blocks, "blocks"), plan$mixed, found[[2]],
              sprintf("%.3f", stated[[blocks]][2]), 0, 0.93 + (plan$mixed < 400L) * 0.03, control = TRUE)
    )
  })
  data.table::rbindlist(rows)
}

#' Coverage of the right and of the wrong mixed model on the same data.
mixed_coverage <- function(blocks, plan) {
  seeded(plan$seed + blocks)
  rows <- calibration_rows(plan$mixed, blocks, 3L, function() draw_pair(blocks, effect = 0.1))
  with_campaign(rows, calibration_claims(plan$mixed), function(dir) {
    decided <- decide_study(dir, file.path(dir, "claims.yaml"), plan$schema)
    hits <- vapply(decided$outs, function(out) {
      link <- out$stats[[1]]$link
      right <- lmer_contrast(decided$data, link)
      wrong <- pooled_lmer(contrast_rows(decided$data, link)$data)
      c(right$lo < 0.1 && 0.1 < right$hi, wrong[1] < 0.1 && 0.1 < wrong[2])
    }, c(TRUE, TRUE))
    rowMeans(hits, na.rm = TRUE)
  })
}

#' The mistake: runs of a boot taken as independent.
pooled_lmer <- function(rows) {
  fit <- try_lmer("y ~ cell + (1 | block)", rows)
  found <- lmerTest::contest1D(fit, c(0, -1), ddf = "Satterthwaite", confint = TRUE)
  c(found$lower, found$upper)
}

#' The stopping rule looked at after every block: does the interval at which it stops still cover?
check_stopping <- function(plan) {
  stated <- list(c(0.05, 10, 0.949), c(0.15, 10, 0.936), c(0.05, 5, 0.941))
  rows <- lapply(stated, function(case) {
    seeded(plan$seed + round(100 * case[1]) + case[2])
    found <- replicate(plan$sims, stopped_interval(case[1], case[2], most = 200L))
    band <- 0.005 + monte_carlo(case[3], plan$sims)
    checked("stopping on width, 95 %", sprintf("sd %.2f, from %d blocks on (mean %.0f blocks)", case[1], case[2],
                                               mean(found[2, ])),
            plan$sims, mean(found[1, ]), sprintf("%.3f", case[3]), case[3] - band, case[3] + band)
  })
  data.table::rbindlist(rows)
}

stopped_interval <- function(sd, least, most) {
  d <- stats::rnorm(most, 0, sd)
  n <- least
  while (n < most && further_blocks(t_interval(d[seq_len(n)])$ci95[2] - mean(d[seq_len(n)]), n, least = least,
                                    most = most) > 0L) n <- n + 1L
  ci <- t_interval(d[seq_len(n)])$ci95
  c(ci[1] < 0 && 0 < ci[2], n)
}

#' The planner: as many blocks as it asks for find the effect with the power it promises.
check_planner <- function(plan) {
  cases <- list(c(0.05, 1.05), c(0.10, 1.10), c(0.05, 1.10))
  rows <- lapply(cases, function(case) {
    seeded(plan$seed)
    n <- blocks_needed(case[1], case[2])
    power <- mean(replicate(plan$sims, t_interval(stats::rnorm(n, log(case[2]), case[1]))$p < 0.05))
    checked("sample size, power 0.9", sprintf("sd %.2f, ratio %.2f: %d blocks", case[1], case[2], n), plan$sims, power,
            ">= 0.900", 0.9 - monte_carlo(0.9, plan$sims), 1)
  })
  data.table::rbindlist(rows)
}
