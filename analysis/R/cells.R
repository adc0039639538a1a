# Cell values and block contrasts: from measurements to one number per block.

#' Cells of a dataset that match a `where`; factors it does not name are left free (their levels are averaged).
#'
#' @return character vector of cells; attribute `absent` says what the dataset does not have.
match_cells <- function(data, where) {
  unknown <- setdiff(names(where), data$factors)
  if (length(unknown)) return(structure(character(), absent = sprintf("factor %s is not in the data", unknown[1])))
  if ("cache" %in% setdiff(data$factors, names(where)) && data.table::uniqueN(data$cells$f_cache) > 1L) {
    abort("a claim averages over the factor \"cache\"", "cold and warm must never be mixed: pin it with at or where")
  }
  keep <- rep(TRUE, nrow(data$cells))
  for (factor in names(where)) {
    have <- data$cells[[paste0("f_", factor)]]
    missing <- setdiff(unlist(where[[factor]]), have)
    if (length(missing)) return(structure(character(), absent = sprintf("%s \"%s\" is not in the data", factor,
        missing[1])))
    keep <- keep & have %in% unlist(where[[factor]])
  }
  found <- data$cells$cell[keep]
  if (length(found)) found else structure(character(), absent = "no cell has these levels")
}

#' One value per boot (cell and block) of one metric.
#'
#' @return data.table cell, block, value (working scale), floor (resolution / sqrt(12), working scale),
#'   capped (a run was cut off, so the value is a lower bound), and the rows used as attribute `used`.
boot_values <- function(data, term, scale, cells) {
  used <- data$rows[metric == term$metric & cell %in% cells & status == "ok"]
  if (!is.null(term$runs)) used <- used[run %in% unlist(term$runs)]
  if (scale == "log" || term$stat == "logsd") check_positive(used, data$path)
  x <- if (scale == "log" || term$stat == "logsd") log(used$value) else used$value
  rounding <- resolution_floor(used$resolution) / if (scale == "log") used$value else 1
  work <- data.table::data.table(cell = used$cell, block = used$block, run = used$run, x = x, f = rounding,
                                 capped = grepl("capped", used$flags, fixed = TRUE))
  work[, t := predictor(data, term, cell, block, run)]
  out <- work[, .(value = boot_stat(x, t, term$stat), floor = floor_of(f), capped = any(capped)), by = .(cell, block)]
  structure(out, used = used$row)
}

floor_of <- function(f) if (all(is.na(f))) 0 else max(f, na.rm = TRUE)

#' What a slope is taken on: the run number, or another metric of the same runs.
predictor <- function(data, term, cell, block, run) {
  if (is.null(term$on)) return(as.numeric(run))
  other <- data$rows[metric == term$on$metric & status == "ok"]
  z <- other[data.table::data.table(cell, block, run), on = c("cell", "block", "run")]$value
  switch(or_else(term$on$transform, "identity"), log = log(z), log1m = log1p(-z), z)
}

#' Mean, slope or log sd over the runs of one boot; NA when there are too few runs.
boot_stat <- function(x, t, stat) {
  switch(stat,
    mean = mean(x),
    slope = if (length(x) >= 3L && stats::var(t) > 0) stats::cov(x, t) / stats::var(t) else NA_real_,
    logsd = if (length(x) >= 3L && stats::sd(x) > 0) log(stats::sd(x)) else NA_real_
  )
}

#' A term in every block, computed once for all claims that share it.
term_by_block <- function(data, term, scale) {
  key <- paste(scale, paste(deparse(term[setdiff(names(term), "weight")]), collapse = ""))
  if (is.null(data$cache[[key]])) data$cache[[key]] <- compute_term(data, term, scale)
  data$cache[[key]]
}

#' The mean over the cells of a term in every block; a block in which any of the cells is missing has no value.
compute_term <- function(data, term, scale) {
  cells <- match_cells(data, term$where)
  if (!length(cells)) return(list(absent = attr(cells, "absent")))
  boots <- boot_values(data, term, scale, cells)
  if (!any(!is.na(boots$value))) return(list(value = stats::setNames(numeric(), character()), floor = 0, capped = FALSE,
                                             used = attr(boots, "used"), cells = cells))
  whole <- boots[!is.na(value), .(value = mean(value), n = .N, floor = max(floor), capped = any(capped)), by = block]
  whole <- whole[n == length(cells)]
  list(value = stats::setNames(whole$value, whole$block), floor = floor_of(whole$floor), capped = any(whole$capped),
       used = attr(boots, "used"), cells = cells)
}

#' The block contrasts of a link.
#'
#' @return list: d (named by block), floor, censored ("", "lower", "upper", "both": which bound the estimate is),
#'   rows used, and `absent` when a level is not in the data.
link_contrast <- function(data, link) {
  terms <- lapply(link$terms, function(term) term_by_block(data, term, link$scale))
  absent <- unlist(lapply(terms, `[[`, "absent"))
  if (length(absent)) return(list(d = numeric(), floor = 0, absent = absent[1], censored = "", rows = integer()))
  blocks <- Reduce(intersect, lapply(terms, function(term) names(term$value)))
  weights <- vapply(link$terms, function(term) as.numeric(term$weight), 0)
  parts <- Map(function(term, weight) weight * term$value[blocks], terms, weights)
  d <- Reduce(`+`, parts, numeric(length(blocks)))
  names(d) <- blocks
  d <- d[order(as.integer(blocks))]
  capped <- vapply(terms, function(term) isTRUE(term$capped), TRUE)
  list(d = d, floor = max(abs(weights) * vapply(terms, `[[`, 0, "floor")), absent = NULL,
       censored = censored_side(weights[capped]), rows = sort(unique(unlist(lapply(terms, `[[`, "used")))))
}

censored_side <- function(weights) {
  if (!length(weights)) return("")
  if (all(weights > 0)) "lower" else if (all(weights < 0)) "upper" else "both"
}

#' The validity class of a set of rows; mixing classes is an error, always.
class_of <- function(data, rows, claim_id) {
  classes <- unique(data$rows$validity_class[rows])
  if (length(classes) > 1L) {
    abort(sprintf("claim %s would mix validity classes %s", claim_id, paste(sort(classes), collapse = " and ")),
          "a contrast uses data of one class only; make one campaign per class")
  }
  if (length(classes)) classes else lowest_class(data$rows$validity_class)
}

lowest_class <- function(classes) CLASSES[min(match(classes, CLASSES))]
