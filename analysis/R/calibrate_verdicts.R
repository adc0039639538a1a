# Self-check of the verdicts: how often each falls, for a true effect and a spread, through CSV, claims and verdicts.

# Verdict rates of the directional rule that methods state: R replicated, C contradicted, N negligible; NA is not
# stated.
VERDICT_RATES <- data.table::fread("
blocks sd   truth R    C    N
5      0.05 1.00  0.02 0.02 0.28
5      0.05 1.02  0.10 NA   0.20
5      0.05 1.05  0.36 NA   0.05
5      0.05 1.10  0.89 NA   NA
5      0.05 1.25  1.00 NA   NA
5      0.05 0.91  NA   0.88 NA
10     0.05 1.00  0.02 0.02 0.78
10     0.05 1.02  0.18 NA   0.52
10     0.05 1.05  0.78 NA   0.04
10     0.05 1.10  1.00 NA   NA
10     0.05 1.25  1.00 NA   NA
10     0.05 0.91  NA   1.00 NA
20     0.05 1.00  0.00 0.00 0.99
20     0.05 1.02  0.19 NA   0.79
20     0.05 1.05  0.94 NA   0.05
20     0.05 1.10  1.00 NA   NA
20     0.05 1.25  1.00 NA   NA
20     0.05 0.91  NA   1.00 NA
5      0.15 1.00  0.03 0.02 0.00
5      0.15 1.02  0.04 NA   NA
5      0.15 1.05  0.09 NA   NA
5      0.15 1.10  0.19 NA   NA
5      0.15 1.25  0.69 NA   NA
5      0.15 0.91  NA   0.20 NA
10     0.15 1.00  0.02 0.02 0.00
10     0.15 1.02  0.06 NA   NA
10     0.15 1.05  0.14 NA   NA
10     0.15 1.10  0.41 NA   NA
10     0.15 1.25  0.99 NA   NA
10     0.15 0.91  NA   0.43 NA
20     0.15 1.00  0.03 0.03 0.02
20     0.15 1.02  0.08 NA   NA
20     0.15 1.05  0.26 NA   NA
20     0.15 1.10  0.77 NA   NA
20     0.15 1.25  1.00 NA   NA
20     0.15 0.91  NA   0.77 NA
")
# Equality, margin 1.10.
EQUALITY_RATES <- data.table::fread("
blocks sd   truth R     C
10     0.05 1.00  1.00  NA
10     0.05 1.05  0.86  NA
10     0.05 1.10  0.05  NA
10     0.05 1.20  NA    0.996
10     0.15 1.00  0.23  NA
10     0.15 1.05  0.15  NA
10     0.15 1.10  0.04  NA
10     0.15 1.20  NA    0.36
")
STATED_SIMS <- 2000L
LETTERS_OF <- c(R = "REPLICATED", C = "NOT REPLICATED contradicted", N = "NOT REPLICATED negligible")
NAMES_OF <- c(R = "replicated", C = "contradicted", N = "negligible")

check_rates <- function(plan, rates = VERDICT_RATES, type = "dir", margin = NULL, name = "directional rule") {
  rows <- lapply(seq_len(nrow(rates)), function(i) {
    row <- rates[i]
    found <- calibrate_sets(plan$sims, row$blocks, 1L, function() draw_ratio(row$blocks, log(row$truth), row$sd),
                            plan$schema, plan$seed + i, type = type, margin = margin)
    rate_rows(row, trimws(paste(found$verdict, found$detail)), plan$sims, name)
  })
  data.table::rbindlist(rows)
}

rate_rows <- function(row, words, sims, name) {
  stated <- unlist(row[, intersect(names(LETTERS_OF), names(row)), with = FALSE])
  stated <- stated[!is.na(stated)]
  data.table::rbindlist(lapply(names(stated), function(letter) {
    p <- stated[[letter]]
    reach <- rate_reach(p, sims)
    checked(name, sprintf("%d blocks, sd %.2f, truth %.2f: %s", row$blocks, row$sd, row$truth, NAMES_OF[[letter]]),
            sims, mean(words == LETTERS_OF[[letter]]), format(p), max(0, p - reach), min(1, p + reach))
  }))
}

#' Both tables are simulated, so the error of both counts; and printed decimals hide half a unit of the last.
rate_reach <- function(p, sims) {
  near <- pmin(pmax(p, 0.005), 0.995)
  stats::qnorm(0.9995) * sqrt(near * (1 - near) * (1 / sims + 1 / STATED_SIMS)) + 0.005
}

check_equality <- function(plan) {
  check_rates(plan, EQUALITY_RATES, "eq", 1.1, "equality within 1.10")
}

#' At the margin itself neither verdict may come often.
check_tost <- function(plan) {
  rows <- lapply(c(5L, 10L, 20L), function(blocks) {
    found <- calibrate_sets(plan$sims, blocks, 1L, function() draw_ratio(blocks, log(1.1), 0.05), plan$schema,
                            plan$seed + blocks, type = "eq", margin = 1.1)
    more <- (plan$sims < STATED_SIMS) * 0.03
    rbind(
      checked("TOST at the margin", sprintf("%d blocks: replicated", blocks), plan$sims,
              mean(found$verdict == "REPLICATED"), "0.021 to 0.056", 0, 0.065 + more),
      checked("TOST at the margin", sprintf("%d blocks: not replicated", blocks), plan$sims,
              mean(found$verdict == "NOT REPLICATED"), "0.024 to 0.030", 0, 0.04 + more)
    )
  })
  data.table::rbindlist(rows)
}

#' Twelve true nulls in a family: Holm keeps the rate of families with an error; without it nearly half of them err.
check_holm <- function(plan) {
  families <- max(1L, plan$sims %/% 12L)
  found <- calibrate_sets(12L * families, 10L, 1L, function() draw_ratio(10L, 0, 0.05), plan$schema, plan$seed,
                          family = 12L)
  direct <- family_errors(plan$sims, plan$seed)
  wide <- function(sims) if (sims < 4000L) monte_carlo(0.05, sims) - 0.01 else 0
  data.table::rbindlist(list(
    checked("Holm, 12 true nulls, 10 blocks", "by CSV and claims", families, mean_by_family(found$p < 0.05),
            "0.047", 0, 0.06 + wide(families)),
    checked("Holm, 12 true nulls, 10 blocks", "adjusted", plan$sims, direct[["holm"]], "0.047", 0,
            0.06 + wide(plan$sims)),
    checked("Holm, 12 true nulls, 10 blocks", "unadjusted", plan$sims, direct[["plain"]], "0.46", 0.35, 1,
            control = TRUE)
  ))
}

mean_by_family <- function(error, size = 12L) mean(vapply(split(error, (seq_along(error) - 1L) %/% size), any, TRUE))

family_errors <- function(sims, seed) {
  seeded(seed)
  p <- replicate(sims, replicate(12, t_interval(stats::rnorm(10))$p))
  c(holm = mean(apply(p, 2, function(x) any(holm(x) < 0.05))), plain = mean(apply(p, 2, function(x) any(x < 0.05))))
}
