# Deterministic claims: a predicate over cells, evaluated in every block or every boot.

#' Evaluate what a det claim requires.
#'
#' @return list: `units` (data.table block, unit, id, part, value, ok), `complete` (blocks that count), `expected` units
#'   per block (cells, where every boot counts by itself), `rows` used, `absent`, `ours` (the values
#'   as text, in the order of the claim).
evaluate_predicate <- function(data, claim) {
  e <- claim$estimator
  found <- lapply(e$require, function(item) evaluate_comparison(data, item, e))
  absent <- unlist(lapply(found, `[[`, "absent"))
  if (length(absent)) return(list(absent = absent[1], units = NULL, complete = integer(), rows = integer(), ours = ""))
  units <- data.table::rbindlist(lapply(found, `[[`, "units"))
  list(
    absent = NULL, units = units, expected = max(1L, length(unique(unlist(lapply(found, `[[`, "cells"))))),
    complete = Reduce(intersect, lapply(found, `[[`, "complete")),
    rows = sort(unique(unlist(lapply(found, `[[`, "rows")))), ours = paste(vapply(found, `[[`, "", "ours"),
        collapse = "; ")
  )
}

evaluate_comparison <- function(data, item, e) {
  item$scale <- or_else(item$scale, e$scale)
  item$at <- c(item$where, e$at[setdiff(names(e$at), names(item$where))])
  if (!is.null(item$over)) return(evaluate_order(data, item, e))
  terms <- or_else(item$terms, list(list(metric = item$metric, weight = 1)))
  terms <- lapply(terms, function(term) finish_term(term, e, item$at, item$id))
  if (or_else(e$unit, "block") == "boot") compare_boots(data, item, terms) else compare_blocks(data, item, terms)
}

#' Strict (or weak) order of one metric over levels, in every block.
evaluate_order <- function(data, item, e) {
  levels <- unlist(item$levels)
  terms <- lapply(levels, function(level) {
    term <- list(metric = item$metric, weight = 1, where = stats::setNames(list(level), item$over))
    term_by_block(data, finish_term(term, e, item$at, item$id), item$scale)
  })
  absent <- unlist(lapply(terms, `[[`, "absent"))
  if (length(absent)) return(list(absent = absent[1]))
  blocks <- Reduce(intersect, lapply(terms, function(term) names(term$value)))
  values <- vapply(terms, function(term) term$value[blocks], numeric(length(blocks)))
  values <- matrix(values, nrow = length(blocks))
  ok <- apply(values, 1, function(v) all(compare(v[-length(v)], item$op, v[-1], 0)))
  units <- data.table::data.table(
    block = rep(as.integer(blocks), length(levels)), unit = rep(blocks, length(levels)),
    id = rep(item$id, length(values)), part = rep(levels, each = length(blocks)),
    value = from_scale(as.vector(values), item$scale), ok = rep(ok, length(levels))
  )
  ours <- paste(show_number(from_scale(colMeans(values), item$scale)), collapse = sprintf(" %s ", item$op))
  list(units = units, complete = as.integer(blocks), rows = unlist(lapply(terms, `[[`, "used")), ours = ours,
       absent = NULL)
}

compare_blocks <- function(data, item, terms) {
  link <- link_contrast(data, list(id = item$id, terms = terms, scale = item$scale))
  if (!is.null(link$absent)) return(list(absent = link$absent))
  blocks <- names(link$d)
  ok <- compare(link$d, item$op, to_scale(item$value, item$scale), tolerance(item, rep(0, length(blocks))))
  comparison(item, as.integer(blocks), blocks, link$d, ok, as.integer(blocks), link$rows)
}

#' In every boot by itself: all terms are metrics of the same runs.
compare_boots <- function(data, item, terms) {
  cells <- match_cells(data, terms[[1]]$where)
  if (!length(cells)) return(list(absent = attr(cells, "absent")))
  boots <- lapply(terms, function(term) boot_values(data, term, item$scale, cells))
  weights <- vapply(terms, function(term) as.numeric(term$weight), 0)
  merged <- boots[[1]][, .(cell, block)]
  merged[, c("value", "slack") := list(0, 0)]
  for (i in seq_along(boots)) {
    other <- boots[[i]][merged, on = c("cell", "block")]
    merged[, value := value + weights[i] * other$value]
    merged[, slack := slack + abs(weights[i]) * other$floor * sqrt(12)]
  }
  merged <- merged[!is.na(value)]
  if (identical(item$tol, "resolution") &&
      any(merged$slack <= 0)) return(list(absent = "no timer resolution in the data"))
  # A boot speaks for itself: a block counts when any boot of it does, and what is lost is counted in boots.
  complete <- sort(unique(merged$block))
  ok <- compare(merged$value, item$op, to_scale(item$value, item$scale), tolerance(item, merged$slack))
  comparison(item, merged$block, paste(merged$cell, merged$block), merged$value, ok, complete,
             unlist(lapply(boots, attr, "used")), cells = cells)
}

comparison <- function(item, block, unit, value, ok, complete, rows, cells = NULL) {
  value <- from_scale(unname(value), item$scale)
  # Repeated by hand: data.table would fill a table without rows up to one row of NA.
  n <- length(block)
  units <- data.table::data.table(block = block, unit = unit, id = rep(item$id, n), part = rep("", n), value = value,
                                  ok = unname(ok))
  list(units = units, complete = complete, rows = rows, ours = show_range(value, item$op), absent = NULL,
       cells = cells)
}

tolerance <- function(item, slack) {
  if (identical(item$tol, "resolution")) return(slack)
  if (is.null(item$tol)) 0 else abs(to_scale(item$tol, item$scale))
}

#' Compare with a tolerance for ==; the other relations are exact up to rounding of binary fractions.
compare <- function(left, op, right, tol) {
  tiny <- 1e-9 * pmax(1, abs(right))
  switch(op, "<" = left < right, "<=" = left <= right + tiny, ">" = left > right, ">=" = left >= right - tiny,
         "==" = abs(left - right) <= tol + tiny)
}

#' The extreme that a relation is about, with the range when it is not a single value.
show_range <- function(value, op) {
  if (!length(value)) return("")
  low <- show_number(min(value))
  high <- show_number(max(value))
  if (low == high) low else paste(low, "to", high)
}

#' Three or four digits, as a person writes them.
show_number <- function(x) {
  digits <- ifelse(abs(x) >= 0.1 & abs(x) < 100, sprintf("%.3f", x), sprintf("%.3g", x))
  ifelse(is.na(x), "", ifelse(is.infinite(x), "open", ifelse(abs(x) < 1e-12, "0", digits)))
}
