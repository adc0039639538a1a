# The rows of estimates.csv and verdicts.csv.

ESTIMATE_COLUMNS <- c(
  "claim", "link", "scale", "estimate", "se", "df", "ci95_lo", "ci95_hi", "ci90_lo", "ci90_hi", "p", "p_adj",
  "null_value", "margin", "published_effect", "magnitude", "min", "max", "n_units", "n_blocks", "blocks_used",
  "sd_floor_used", "lmer_estimate", "lmer_lo", "lmer_hi", "lmer_note", "robust_estimate", "robust_lo", "robust_hi",
  "robust_note", "raw_ratio", "raw_lo", "raw_hi", "raw_note", "predicted_lo", "predicted_hi", "method"
)

estimate_row <- function(...) {
  given <- list(...)
  row <- stats::setNames(as.list(rep("", length(ESTIMATE_COLUMNS))), ESTIMATE_COLUMNS)
  row[names(given)] <- given
  data.table::as.data.table(row)
}

#' Rows of one claim. Estimates whose class may not decide the claim are withheld, not shown with a warning.
estimate_rows <- function(item, out) {
  claim <- item$claim
  if (out$verdict == "NOT TESTABLE HERE") {
    gated <- out$detail == "class"
    why <- if (gated) sprintf("withheld: class %s < %s", item$class, claim$min_class) else paste("none:", out$detail)
    ids <- if (length(item$links)) vapply(item$links, `[[`, "", "id") else ""
    return(data.table::rbindlist(lapply(ids, function(id) {
      estimate_row(claim = claim$id, link = id, scale = claim$estimator$scale, n_blocks = exact(item$n), method = why)
    })))
  }
  if (claim$type == "lint") return(lint_row(item))
  if (!is.null(item$units)) return(predicate_rows(item))
  stats <- if (is.null(out$stats)) link_statistics(item) else out$stats
  rows <- lapply(stats, function(s) link_row(claim, s, out))
  data.table::rbindlist(c(rows, lapply(item$also, beside_row, claim = claim)))
}

BESIDE <- "beside: "

#' What is reported beside a claim: an interval, and nothing that decides.
beside_row <- function(link, claim) {
  s <- respect_bound(one_statistic(link), bound_side(link))
  back <- function(x) exact(from_scale(x, claim$estimator$scale))
  estimate_row(
    claim = claim$id, link = paste0(BESIDE, link$id), scale = claim$estimator$scale, estimate = back(s$estimate),
    se = exact(s$se), df = exact(s$df), ci95_lo = back(s$ci95[1]), ci95_hi = back(s$ci95[2]), ci90_lo = back(s$ci90[1]),
    ci90_hi = back(s$ci90[2]), n_blocks = exact(s$n), n_units = exact(s$n),
    blocks_used = paste(names(link$d), collapse = ";"), sd_floor_used = flag(s$floor_used),
    method = "reported beside the claim, and decides nothing"
  )
}

lint_row <- function(item) {
  lies <- as.numeric(item$lint[quotation == FALSE, value])
  estimate_row(claim = item$claim$id, scale = "identity", estimate = exact(most(lies)), n_units = exact(length(lies)),
               min = exact(-most(-lies)), max = exact(most(lies)),
               method = sprintf("figure lint %s: largest lie factor over the layers", item$claim$estimator$lint))
}

predicate_rows <- function(item) {
  claim <- item$claim
  groups <- unique(item$units[, .(id, part)])
  rows <- lapply(seq_len(nrow(groups)), function(i) {
    part <- item$units[id == groups$id[i] & part == groups$part[i]]
    estimate_row(
      claim = claim$id, link = trimws(paste(groups$id[i], groups$part[i])), scale = "identity",
      estimate = exact(mean(part$value)), min = exact(min(part$value)), max = exact(max(part$value)),
      null_value = exact_or(claim$null_value), published_effect = exact_or(single(claim$published_effect)),
      n_units = exact(nrow(part)), n_blocks = exact(item$n), blocks_used = paste(sort(item$complete), collapse = ";"),
      method = sprintf("predicate in every %s; mean, least and greatest observed value",
                       or_else(claim$estimator$unit, "block"))
    )
  })
  data.table::rbindlist(rows)
}

exact_or <- function(x) exact(or_else(x, NA_real_))

single <- function(x) if (length(x) == 1L) unlist(x) else NULL

link_row <- function(claim, s, out) {
  scale <- claim$estimator$scale
  back <- function(x) exact(from_scale(x, scale))
  p <- switch(claim$type, eq = or_else(s$tost$p, NA_real_), ord = side_p(s, claim$direction), s$p)
  estimate_row(
    claim = claim$id, link = s$link$id, scale = scale, estimate = back(s$estimate), se = exact(s$se), df = exact(s$df),
    ci95_lo = back(s$ci95[1]), ci95_hi = back(s$ci95[2]), ci90_lo = back(s$ci90[1]), ci90_hi = back(s$ci90[2]),
    p = exact(p), p_adj = exact(out$p_adj), null_value = back(s$link$null), margin = exact_or(claim$margin),
    published_effect = back(s$link$published), magnitude = magnitude(claim,
        s), n_blocks = exact(s$n), n_units = exact(s$n),
    blocks_used = paste(names(s$link$d), collapse = ";"), sd_floor_used = flag(s$floor_used),
    method = method_text(claim, length(out$stats))
  )
}

method_text <- function(claim, links) {
  engine <- switch(claim$estimator$scale, log = "t interval over block contrasts of logs",
                   "t interval over block contrasts")
  test <- switch(claim$type, eq = "TOST", ord = "one-sided t", "two-sided t")
  joined <- if (links > 1) sprintf(", %s over %d links", if (claim$combine == "any") "Holm" else "intersection-union",
                                   links) else ""
  sprintf("%s; %s%s; Holm in family %s; se on the working scale", engine, test, joined, or_else(claim$family, "none"))
}

#' One row of verdicts.csv.
verdict_row <- function(item, out, fragile, fragile_why = "") {
  claim <- item$claim
  shown <- headline(item, out)
  data.table::data.table(
    claim = claim$id, source = claim$source, type = claim$type, min_class = claim$min_class, data_class = item$class,
    verdict = out$verdict, detail = out$detail, reason = reason_sentence(item, out),
    estimate = exact(shown$estimate), lo = exact(shown$lo), hi = exact(shown$hi), scale = shown$scale,
    ours = shown$ours,
    published = claim$published, published_effect = exact_or(single(claim$published_effect)),
    magnitude = claim_magnitude(claim, out), fragile = fragile, n_blocks = exact(item$n), p_adj = exact(out$p_adj),
    statement = claim$statement, bound = paste(item$bound, collapse = "; "), rows = row_ranges(item$rows + 1L),
    fragile_why = fragile_why
  )
}

#' Lines of a table as RFC 7111 writes them, the heading being row 1: "2-4;9".
row_ranges <- function(lines) {
  lines <- sort(unique(as.integer(lines)))
  if (!length(lines)) return("")
  starts <- lines[c(TRUE, diff(lines) != 1L)]
  ends <- lines[c(diff(lines) != 1L, TRUE)]
  paste(ifelse(starts == ends, starts, paste(starts, ends, sep = "-")), collapse = ";")
}

#' The number that stands for a claim, on the display scale; nothing when it must not be shown.
headline <- function(item, out) {
  nothing <- list(estimate = NA_real_, lo = NA_real_, hi = NA_real_, scale = "", ours = "")
  if (out$verdict == "NOT TESTABLE HERE") return(nothing)
  if (item$claim$type == "lint") return(headline_lint(item))
  if (!is.null(item$units)) return(headline_predicate(item))
  headline_interval(item, if (is.null(out$stats)) link_statistics(item) else out$stats)
}

headline_lint <- function(item) {
  worst <- most(as.numeric(item$lint[quotation == FALSE, value]))
  list(estimate = worst, lo = NA_real_, hi = NA_real_, scale = "lie factor", ours = show_number(worst))
}

#' The largest of the known values, or missing when none is known.
most <- function(x) if (all(is.na(x))) NA_real_ else max(x, na.rm = TRUE)

headline_predicate <- function(item) {
  several <- nrow(unique(item$units[, .(id, part)])) > 1L
  value <- if (several) NA_real_ else item$units$value
  list(estimate = if (several) NA_real_ else farthest(value), lo = min(value), hi = max(value),
       scale = "observed range", ours = item$ours)
}

#' The value farthest from the middle of the observed ones, that is the extreme that the predicate turns on.
farthest <- function(value) value[which.max(abs(value - stats::median(value)))]

headline_interval <- function(item, stats) {
  scale <- item$claim$estimator$scale
  usable <- Filter(function(s) s$n > 0, stats)
  if (!length(usable)) return(list(estimate = NA_real_, lo = NA_real_, hi = NA_real_, scale = "", ours = ""))
  at <- if (all(vapply(usable, function(s) s$n > 1, TRUE))) deciding_link(item$claim, usable) else 1L
  s <- usable[[at]]
  values <- from_scale(c(s$estimate, s$ci95), scale)
  range <- if (anyNA(values)) "" else sprintf(" [%s, %s]", show_number(values[2]), show_number(values[3]))
  list(estimate = values[1], lo = values[2], hi = values[3], scale = if (scale == "log") "ratio" else "difference",
       ours = paste0(show_number(values[1]), range))
}

#' consistent when every link is, different when any is.
claim_magnitude <- function(claim, out) {
  if (is.null(out$stats) || claim$type %in% c("eq", "ord", "disp")) return("not assessable")
  all <- vapply(out$stats, function(s) magnitude(claim, s), "")
  for (word in c("not assessable", "different", "undetermined")) if (word %in% all) return(word)
  "consistent"
}
