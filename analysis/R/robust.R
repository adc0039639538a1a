# Robust twins of the estimates: what methods that assume less say about the same blocks. They change no verdict.

#' The twin of one link, on the working scale.
#'
#' Means: median of the block contrasts with an interval by ranks. Trends: Theil and Sen's slope and Page's test.
#' Dispersions: bootstrap over blocks, which needs twenty of them.
#' @return list: estimate, lo, hi, note.
robust_twin <- function(data, claim, s) {
  link <- s$link
  if (s$n < 1L) return(twin(note = "no data"))
  if (length(link$arms)) return(two_sample_twin(link))
  stats <- vapply(link$terms, `[[`, "", "stat")
  if (all(stats == "slope")) return(trend_twin(data, claim, link))
  if (all(stats == "logsd")) return(bootstrap_twin(claim, link$d))
  median_twin(link$d)
}

twin <- function(estimate = NA_real_, lo = NA_real_, hi = NA_real_, note = "") {
  list(estimate = estimate, lo = lo, hi = hi, note = note)
}

median_twin <- function(d) {
  ranks <- median_ci_ranks(length(d))
  few <- "median; fewer than 6 blocks have no 95 % interval by ranks"
  if (is.na(ranks$lo)) return(twin(stats::median(d), note = few))
  ordered <- sort(unname(d))
  twin(stats::median(d), ordered[ranks$lo], ordered[ranks$hi],
       sprintf("median; interval by ranks %d and %d covers %.1f %%", ranks$lo, ranks$hi, 100 * ranks$coverage))
}

#' Hodges and Lehmann's shift between two groups that share no blocks.
two_sample_twin <- function(link) {
  weights <- vapply(link$arms, `[[`, 0, "weight")
  if (length(weights) != 2L || !setequal(weights, c(1, -1))) return(twin(note = "more than two groups"))
  found <- hodges_lehmann(link$arms[[which(weights == 1)]]$x, link$arms[[which(weights == -1)]]$x)
  twin(found$estimate, found$lo, found$hi, paste("Hodges and Lehmann's shift;", found$note))
}

#' A claim's own seed, so that the order of execution does not matter.
claim_seed <- function(id) strtoi(substr(digest::digest(id, algo = "sha256", serialize = FALSE), 1, 7), 16L)

bootstrap_twin <- function(claim, d) {
  if (length(d) < LEAST_BLOCKS) {
    return(twin(note = sprintf("no bootstrap over %s: it needs %d", count(length(d), "block"), LEAST_BLOCKS)))
  }
  found <- bca_interval(unname(d), mean, seed = claim_seed(claim$id))
  twin(found$theta, found$lo, found$hi, "BCa over blocks")
}

trend_twin <- function(data, claim, link) {
  if (any(vapply(link$terms, function(term) !is.null(term$on), TRUE))) return(twin(note = "a slope on another metric"))
  y <- runs_by_block(data, link)
  if (nrow(y) < 1L || ncol(y) < 3L) return(twin(note = "no block has the same runs in every cell"))
  slopes <- apply(y, 1, theil_sen)
  page <- page_p(if (claim$direction == "less") -y else y, claim_seed(claim$id))
  said <- sprintf("Theil and Sen's slope, median over blocks; Page's L %.5g, p %s (%s)", page$L, show_p(page$p),
                  page$how)
  twin(stats::median(slopes), note = said)
}

#' The contrast run by run: a matrix with a row per block, where every cell of the link has all of the runs.
runs_by_block <- function(data, link) {
  parts <- lapply(link$terms, function(term) {
    cells <- match_cells(data, term$where)
    wanted <- term$metric
    how <- or_else(term$transform, link$scale)
    rows <- data$rows[metric == wanted & cell %in% cells & status == "ok"]
    rows[, .(y = term$weight * mean(transformed(value, how)), n = .N), by = .(block, run)][n == length(cells)]
  })
  all <- data.table::rbindlist(parts)[, .(y = sum(y), n = .N), by = .(block, run)][n == length(parts)]
  wide <- data.table::dcast(all, block ~ run, value.var = "y")
  whole <- as.matrix(wide[, -1])
  whole[stats::complete.cases(whole), , drop = FALSE]
}

#' The ratio of arithmetic means of two groups of boots with Fieller's interval, as a twin of the ratio of geometric
#' means; where the denominator may be zero there is no interval, and the note says so.
raw_twin <- function(data, link) {
  weights <- vapply(link$terms, function(term) as.numeric(term$weight), 0)
  if (link$scale != "log" || !setequal(weights, c(1, -1)) || length(weights) != 2L) return(NULL)
  if (any(vapply(link$terms, `[[`, "", "stat") != "mean")) return(NULL)
  values <- lapply(link$terms, function(term) term_by_block(data, term, "identity")$value)
  x <- values[[which(weights == 1)]]
  y <- values[[which(weights == -1)]]
  if (min(length(x), length(y)) < 2L) return(NULL)
  still <- stats::var(x) + stats::var(y) == 0
  if (still) return(list(ratio = mean(x) / mean(y), lo = NA, hi = NA, reason = "no spread"))
  fieller(x, y)
}

#' Where a replication of this precision should land if it measures the effect that the source printed with an interval
#' (p +- t sqrt(se_pub^2 + se_rep^2)): needs published_ci and published_df.
predicted <- function(claim, s) {
  ci <- to_scale(claim$published_ci, claim$estimator$scale)
  df <- claim$published_df
  if (length(ci) != 2L || is.null(df) || is.na(s$link$published)) return(c(NA_real_, NA_real_))
  source <- list(estimate = s$link$published, se = abs(diff(ci)) / 2 / stats::qt(0.975, df), df = df)
  predict_replication(source, s)
}

#' Fill the columns of the twins for the estimates that were not withheld.
add_twins <- function(estimates, data, prepared, outs) {
  for (id in names(outs)) for (s in outs[[id]]$stats) {
    at <- which(estimates$claim == id & estimates$link == s$link$id)
    back <- function(x) exact(from_scale(x, s$link$scale))
    robust <- robust_twin(data, prepared[[id]]$claim, s)
    raw <- raw_twin(data, s$link)
    ahead <- predicted(prepared[[id]]$claim, s)
    data.table::set(estimates, at, c("robust_estimate", "robust_lo", "robust_hi", "robust_note"),
                    list(back(robust$estimate), back(robust$lo), back(robust$hi), robust$note))
    data.table::set(estimates, at, c("predicted_lo", "predicted_hi"), list(back(ahead[1]), back(ahead[2])))
    if (is.null(raw)) next
    note <- if (is.na(or_else(raw$reason, NA))) "arithmetic means, Fieller" else paste("no interval:", raw$reason)
    data.table::set(estimates, at, c("raw_ratio", "raw_lo", "raw_hi", "raw_note"),
                    list(exact(raw$ratio), exact(raw$lo), exact(raw$hi), note))
  }
  estimates
}
