# Cell values and block contrasts: from measurements to one number per block.

# What must never be averaged over: a claim says which of them it means.
UNMIXED <- c(cache = "cold and warm", protocol = "as published and improved")

#' Cells of a dataset that match a `where`; factors it does not name are left free (their levels are averaged).
#'
#' @return character vector of cells; attribute `absent` says what the dataset does not have.
match_cells <- function(data, where) {
  unknown <- setdiff(names(where), data$factors)
  if (length(unknown)) return(no_cells(sprintf("factor %s is not in the data", unknown[1])))
  check_unmixed(data, where)
  keep <- rep(TRUE, nrow(data$cells))
  for (factor in names(where)) {
    have <- data$cells[[paste0("f_", factor)]]
    missing <- setdiff(unlist(where[[factor]]), have)
    if (length(missing)) return(no_cells(sprintf("%s \"%s\" is not in the data", factor, missing[1])))
    keep <- keep & have %in% unlist(where[[factor]])
  }
  found <- data$cells$cell[keep]
  if (length(found)) found else no_cells(sprintf("no cell has %s", show_where(where)))
}

no_cells <- function(why) structure(character(), absent = why)

show_where <- function(where) {
  paste(names(where), vapply(where, function(levels) paste(unlist(levels), collapse = "/"), ""), collapse = ", ")
}

check_unmixed <- function(data, where) {
  for (factor in intersect(names(UNMIXED), data$factors)) {
    levels <- or_else(unlist(where[[factor]]), unique(data$cells[[paste0("f_", factor)]]))
    if (length(levels) > 1L) {
      abort(sprintf("a claim averages over the factor \"%s\"", factor),
            sprintf("%s must never be mixed: pin it with at or where", UNMIXED[[factor]]))
    }
  }
}

#' One value per boot (cell and block) of one metric.
#'
#' @return data.table cell, block, value (working scale, NA where the statistic is not defined), runs (how many), floor
#'   (resolution / sqrt(12), working scale), capped ("", or which bound a value is whose run was cut off), and the rows
#'   used as attribute `used`.
boot_values <- function(data, term, scale, cells) {
  used <- used_rows(data, term, cells)
  transform <- or_else(term$transform, if (term$stat %in% SPREADS) "log" else scale)
  if (transform == "log") check_positive(used, data$path)
  x <- transformed(used$value, transform)
  t <- predictor(data, term, used$cell, used$block, used$run)
  rounding <- resolution_floor(used$resolution) / if (transform == "log") used$value else 1
  bound <- bound_of(data, used, term)
  least <- if (is.null(term$runs)) 1L else length(unlist(term$runs))
  # Plain vectors: hundreds of small terms make the overhead of a table operation the longest part of an estimate.
  boot <- paste(used$cell, used$block)
  groups <- split(seq_along(boot), factor(boot, unique(boot)))
  first <- vapply(groups, `[`, 0L, 1L)
  out <- data.table::setDT(list(
    cell = used$cell[first], block = used$block[first],
    value = vapply(groups, function(i) if (length(i) >= least) boot_stat(x[i], t[i], term$stat) else NA_real_, 0),
    runs = lengths(groups, use.names = FALSE), floor = vapply(groups, function(i) floor_of(rounding[i]), 0),
    capped = vapply(groups, function(i) widest_bound(bound[i]), "")
  ))
  structure(out, used = used$row)
}

#' The valid rows of a term: of its metric, its cells and its runs.
used_rows <- function(data, term, cells) {
  rows <- metric_rows(data, term$metric)
  keep <- rows$cell %in% cells
  if (!is.null(term$runs)) keep <- keep & rows$run %in% unlist(term$runs)
  if (all(keep)) rows else rows[keep]
}

#' The valid rows of a metric, picked out once for all terms that need them.
metric_rows <- function(data, name) {
  key <- paste("rows of", name)
  if (is.null(data$cache$.valid)) {
    ok <- which(data$rows$status == "ok")
    data$cache$.valid <- split(ok, data$rows$metric[ok])
  }
  if (is.null(data$cache[[key]])) data$cache[[key]] <- data$rows[or_else(data$cache$.valid[[name]], 0L)]
  data$cache[[key]]
}

floor_of <- function(f) if (all(is.na(f))) 0 else max(f, na.rm = TRUE)

transformed <- function(x, transform) switch(transform, log = log(x), log1m = log1p(-x), x)

#' A time that was cut off is a lower bound; of what else such a run measured, nothing is known.
bound_of <- function(data, used, term) {
  known <- cut_off_runs(data)
  cut <- grepl("capped", used$flags, fixed = TRUE)
  if (length(known)) cut <- cut | paste(used$cell, used$block, used$run) %in% known
  ifelse(cut, if (term$stat == "mean") ifelse(used$unit == "s", "lower", "both") else "both", "")
}

#' Runs whose workload says by its metric `capped` that it cut them off.
cut_off_runs <- function(data) {
  if (is.null(data$cache$cut_off)) {
    data$cache$cut_off <- data$rows[metric == "capped" & status == "ok" & value > 0, paste(cell, block, run)]
  }
  data$cache$cut_off
}

widest_bound <- function(bounds) if ("both" %in% bounds) "both" else if ("lower" %in% bounds) "lower" else ""

#' What a slope is taken on: the run number, or another metric of the same runs.
predictor <- function(data, term, cell, block, run) {
  if (is.null(term$on)) return(as.numeric(run))
  other <- data$rows[metric == term$on$metric & status == "ok"]
  # Made outside the brackets, where the names would mean the columns of the table in front.
  wanted <- data.table::data.table(cell, block, run)
  z <- other[wanted, on = c("cell", "block", "run")]$value
  transformed(z, or_else(term$on$transform, "identity"))
}

# Statistics of spread: always of logs, and comparable only between boots with equally many runs.
SPREADS <- c("logsd", "logresid")

#' A statistic over the runs of one boot; NA when there are too few of them, or when they leave it undefined.
boot_stat <- function(x, t, stat) {
  n <- length(x)
  switch(stat,
    mean = mean(x),
    slope = if (n >= 3L && all(is.finite(t)) && stats::var(t) > 0) stats::cov(x, t) / stats::var(t) else NA_real_,
    logsd = if (n >= 3L) log_or_na(stats::sd(x)) else NA_real_,
    logresid = if (n >= 4L) log_or_na(residual_sd(x, t)) else NA_real_
  )
}

log_or_na <- function(x) if (x > 0) log(x) else NA_real_

#' The sd about the least-squares line on t.
residual_sd <- function(x, t) {
  slope <- stats::cov(x, t) / stats::var(t)
  sqrt(sum((x - mean(x) - slope * (t - mean(t)))^2) / (length(x) - 2L))
}

# Why a boot that has its runs may still have no value.
UNDEFINED <- c(
  mean = "a run that the mean needs is missing", slope = "too few runs, or nothing to take a slope on",
  logsd = "fewer than three runs, or runs without any spread",
  logresid = "fewer than four runs, or no spread about the trend"
)

#' A term in every block, computed once for all claims that share it.
term_by_block <- function(data, term, scale) {
  key <- paste(scale, paste(deparse(term[setdiff(names(term), "weight")]), collapse = ""))
  if (is.null(data$cache[[key]])) data$cache[[key]] <- compute_term(data, term, scale)
  data$cache[[key]]
}

#' The mean over the cells of a term in every block; a block in which any of the cells is missing has no value.
#'
#' @return list: value and runs (named by block), floor, capped, used, cells, undefined (why some boot has no
#'   value, or ""); or `absent`.
compute_term <- function(data, term, scale) {
  if (!term$metric %in% data$rows$metric) return(list(absent = sprintf("metric %s is not in the data", term$metric)))
  cells <- match_cells(data, term$where)
  if (!length(cells)) return(list(absent = attr(cells, "absent")))
  boots <- boot_values(data, term, scale, cells)
  known <- which(!is.na(boots$value))
  blocks <- split(known, factor(boots$block[known], unique(boots$block[known])))
  blocks <- blocks[lengths(blocks) == length(cells)]
  by_block <- function(f, like) vapply(blocks, f, like)
  capped <- by_block(function(i) widest_bound(boots$capped[i]), "")
  list(
    value = by_block(function(i) mean(boots$value[i]), 0),
    runs = by_block(function(i) if (length(unique(boots$runs[i])) == 1L) boots$runs[i[1]] else NA_integer_, 0L),
    floor = floor_of(by_block(function(i) floor_of(boots$floor[i]), 0)), capped = widest_bound(capped),
    used = attr(boots, "used"), cells = cells, undefined = if (anyNA(boots$value)) UNDEFINED[[term$stat]] else ""
  )
}

#' The block contrasts of a link.
#'
#' @return list: d (named by block), arms (instead, where no two terms share a block), floor, censored ("", "lower",
#'   "upper", "both": which bound the estimate is), rows used, undefined, and `absent` when a level is not in the data.
link_contrast <- function(data, link) {
  terms <- lapply(link$terms, function(term) term_by_block(data, term, link$scale))
  absent <- unlist(lapply(terms, `[[`, "absent"))
  if (length(absent)) return(list(d = numeric(), floor = 0, absent = absent[1], censored = "", rows = integer()))
  blocks <- shared_blocks(link, terms)
  weights <- vapply(link$terms, function(term) as.numeric(term$weight), 0)
  parts <- Map(function(term, weight) weight * term$value[blocks], terms, weights)
  d <- Reduce(`+`, parts, numeric(length(blocks)))
  names(d) <- blocks
  d <- d[order(as.integer(blocks))]
  capped <- vapply(terms, `[[`, "", "capped")
  list(d = d, arms = if (!length(d)) unpaired_arms(weights, terms), absent = NULL,
       floor = max(abs(weights) * vapply(terms, `[[`, 0, "floor")), censored = censored_side(weights, capped),
       rows = sort(unique(unlist(lapply(terms, `[[`, "used")))), undefined = max(vapply(terms, `[[`, "", "undefined")))
}

#' Groups that were never measured in one block, such as hosts: each with its weight, for Welch's t; NULL otherwise.
unpaired_arms <- function(weights, terms) {
  blocks <- lapply(terms, function(term) names(term$value))
  if (any(lengths(blocks) < 2L) || anyDuplicated(unlist(blocks))) return(NULL)
  Map(function(weight, term) list(weight = weight, x = term$value), weights, terms)
}

#' Blocks in which every term has a value; spreads are compared only where all boots have equally many runs.
shared_blocks <- function(link, terms) {
  blocks <- Reduce(intersect, lapply(terms, function(term) names(term$value)))
  if (!any(vapply(link$terms, `[[`, "", "stat") %in% SPREADS)) return(blocks)
  runs <- vapply(terms, function(term) as.integer(term$runs[blocks]), integer(length(blocks)))
  runs <- matrix(runs, ncol = length(terms))
  blocks[!is.na(rowSums(runs)) & rowSums(runs != runs[, 1]) == 0]
}

#' Which bound of a contrast follows from bounds of its terms.
censored_side <- function(weights, capped) {
  if ("both" %in% capped) return("both")
  weights <- weights[capped == "lower"]
  if (!length(weights)) return("")
  if (all(weights > 0)) "lower" else if (all(weights < 0)) "upper" else "both"
}

#' The validity class of a set of rows; mixing classes, or protocols, is an error, always.
class_of <- function(data, rows, claim_id) {
  protocols <- unique(data$rows$protocol[rows])
  if (length(protocols) > 1L) {
    abort(sprintf("claim %s would mix protocols %s", claim_id, paste(sort(protocols), collapse = " and ")),
          "verdicts come from one protocol: pin it with at")
  }
  classes <- unique(data$rows$validity_class[rows])
  if (length(classes) > 1L) {
    abort(sprintf("claim %s would mix validity classes %s", claim_id, paste(sort(classes), collapse = " and ")),
          "a contrast uses data of one class only; make one campaign per class")
  }
  if (length(classes)) classes else lowest_class(data$rows$validity_class)
}

lowest_class <- function(classes) CLASSES[min(match(classes, CLASSES))]
