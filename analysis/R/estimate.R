# The estimate verb: dataset and claims in, estimates.csv and verdicts.csv out, the same bytes every time.

#' Everything the decision needs about one claim, computed once.
#'
#' @param planned number of blocks that were planned.
#' @param lint findings of the figure lints (data.table), or NULL.
#' @return list: claim, class, n (complete blocks), planned, links or units, rows, absent, why, ours.
prepare_claim_data <- function(data, claim, planned, lint) {
  claim <- without_lacking(claim, data)
  item <- list(claim = claim, planned = planned, links = list(), units = NULL, rows = integer(), absent = NULL, n = 0L,
               ours = "")
  item <- switch(claim$estimator$kind,
    contrast = prepare_contrast(data, item), predicate = prepare_predicate(data, item),
    lint = prepare_lint(item, lint), item
  )
  item$class <- class_of(data, item$rows, claim$id)
  item$also <- estimable(lapply(claim$also, function(link) c(link, link_contrast(data, link))))
  item$bound <- sort(unique(Filter(nzchar, data$rows$bound[item$rows])))
  item$why <- why_missing(data, item)
  item
}

prepare_contrast <- function(data, item) {
  item$links <- lapply(item$claim$links, function(link) c(link, link_contrast(data, link)))
  absent <- unlist(lapply(item$links, `[[`, "absent"))
  if (!length(item$links)) absent <- "too few of the levels that it compares"
  if (length(absent)) item$absent <- absent[1]
  for (link in item$links) check_comparable(data, link, item$claim$id)
  item$links <- lapply(item$links, function(link) {
    link$d <- link$d[is.finite(link$d)]
    link
  })
  item$rows <- sort(unique(unlist(lapply(item$links, `[[`, "rows"))))
  # An intersection over links is only as complete as its least complete link.
  item$n <- min(vapply(item$links, link_size, 0L), Inf)
  item$undefined <- unlist(lapply(item$links, `[[`, "undefined"))
  # Groups without common blocks were not planned as blocks: what is missing is counted in boots of each group.
  apart <- Filter(function(link) length(link$arms), item$links)
  if (length(apart)) item$planned <- item$n / min(vapply(apart, kept_share, 0, data = data))
  item
}

#' The share of its boots that the worst group of a link without common blocks has kept.
kept_share <- function(data, link) {
  min(mapply(function(term, arm) {
    wanted <- term$metric
    seen <- data$rows[metric == wanted & cell %in% match_cells(data, term$where), data.table::uniqueN(block)]
    length(arm$x) / seen
  }, link$terms, link$arms))
}

#' What is reported beside a claim, where the data have it at all.
estimable <- function(links) Filter(function(link) is.null(link$absent) && link_size(link) > 0L, links)

#' One contrast, one unit; and cold runs are never set against warm ones.
check_comparable <- function(data, link, id) {
  units <- unit_by_metric(data)[unique(vapply(link$terms, `[[`, "", "metric"))]
  if (length(unique(stats::na.omit(units))) > 1L) {
    abort(sprintf("claim %s: a contrast of different units: %s", id,
                  paste(sprintf("%s in %s", names(units), units), collapse = ", ")), "expected one unit in a contrast")
  }
  caches <- unique(unlist(lapply(link$terms, function(term) term$where[["cache"]])))
  if (length(caches) > 1L) {
    abort(sprintf("claim %s: a contrast mixes caches: %s", id, paste(caches, collapse = " and ")),
          "cold and warm must never be mixed: one contrast, one state of the cache")
  }
}

unit_by_metric <- function(data) {
  if (is.null(data$cache$.units)) {
    units <- unique(data$rows[, .(metric, unit)])
    data$cache$.units <- stats::setNames(units$unit, units$metric)
  }
  data$cache$.units
}

prepare_predicate <- function(data, item) {
  found <- evaluate_predicate(data, item$claim)
  item[c("units", "rows", "ours")] <- found[c("units", "rows", "ours")]
  if (is.null(found$units)) item["units"] <- list(NULL)
  item$absent <- found$absent
  item$complete <- found$complete
  item$expected <- found$expected
  item$n <- length(found$complete)
  item
}

prepare_lint <- function(item, findings) {
  if (is.null(findings)) {
    item$absent <- "the figures have not been checked (no lint file was given)"
    return(item)
  }
  wanted <- item$claim$estimator$lint
  item$lint <- findings[lint == wanted]
  if (!any(!item$lint$quotation)) item$absent <- "no figure has a layer that this lint looks at"
  item
}

#' The most common reason for missing values, as the end of a sentence.
why_missing <- function(data, item) {
  if (item$n >= item$planned && lost_share(item) <= 0) return("")
  undefined <- Filter(nzchar, item$undefined)
  if (length(undefined) && item$n < item$planned) return(sprintf(" (%s)", undefined[1]))
  lost <- data$rows[status != "ok" & nzchar(reason), .N, by = reason][order(-N, reason)]
  if (nrow(lost)) sprintf(" (most often: %s)", lost$reason[1]) else ""
}

#' Estimates and verdicts of a study.
#'
#' @param study_dir results/<study>; `claims_path` claims.yaml; `schema` its schema; `lint_path` lint.json or NULL.
#' @param mixed TRUE to fit the mixed model beside every interval: it fills the lmer columns and can show a verdict to
#'   be fragile, but never changes one.
#' @return list of three data.tables, estimates, verdicts and cells, all columns text.
estimate_study <- function(study_dir, claims_path, schema, lint_path = NULL, mixed = FALSE) {
  decided <- decide_study(study_dir, claims_path, schema, lint_path)
  data <- decided$data
  prepared <- decided$prepared
  outs <- decided$outs
  models <- if (mixed) mixed_models(data, outs)
  fragile <- fragility(data, prepared, outs, models)
  estimates <- data.table::rbindlist(Map(estimate_rows, prepared, outs))
  estimates <- add_twins(estimates, data, prepared, outs)
  list(
    estimates = if (mixed) add_crosscheck(estimates, outs, models) else estimates,
    verdicts = data.table::rbindlist(Map(verdict_row, prepared, outs, fragile$fragile, fragile$why)),
    cells = cell_summary(data)
  )
}

#' Files in, verdicts out: the part of estimating that decides.
decide_study <- function(study_dir, claims_path, schema, lint_path = NULL) {
  read <- prepare_study(study_dir, claims_path, schema, lint_path)
  c(read, list(outs = decide_all(read$prepared)))
}

#' @return list: data, prepared (per claim, everything its decision needs).
prepare_study <- function(study_dir, claims_path, schema, lint_path = NULL) {
  data <- read_dataset(file.path(study_dir, "dataset.csv"))
  claims <- read_claims(claims_path, schema)
  check_same_study(data, claims, claims_path)
  data <- add_derived(data, claims$derived)
  list(data = data, prepared = lapply(claims$claims, prepare_claim_data, data = data,
                                      planned = planned_blocks(data, study_dir), lint = read_lint(lint_path)))
}

check_same_study <- function(data, claims, claims_path) {
  found <- unique(data$rows$study)
  if (!identical(found, claims$study)) {
    abort(sprintf("%s is about study \"%s\", the dataset about \"%s\"", claims_path, claims$study,
                  paste(found, collapse = ", ")),
          paste("dataset:", data$path))
  }
}

#' Blocks the plan asked for; without a plan, the blocks that were seen.
planned_blocks <- function(data, study_dir) {
  path <- file.path(study_dir, "plan.json")
  if (!file.exists(path)) return(length(data$blocks))
  blocks <- jsonlite::read_json(path)$blocks
  max(if (is.numeric(blocks)) blocks else length(blocks), length(data$blocks))
}

read_lint <- function(path) {
  if (is.null(path)) return(NULL)
  found <- jsonlite::read_json(must_exist(path, "lint file", "made by: analysis/exec/figures --set data"),
                               simplifyVector = TRUE)
  data.table::as.data.table(found$findings)
}

write_tables <- function(tables, study_dir) {
  for (name in names(tables)) {
    target <- file.path(study_dir, paste0(name, ".csv"))
    # Written beside and renamed: a reader never sees half a file.
    data.table::fwrite(tables[[name]], paste0(target, ".part"), quote = "auto", eol = "\n", qmethod = "double")
    file.rename(paste0(target, ".part"), target)
  }
}

#' Ten significant digits, the same on every machine; empty when missing or without bound, and rounding noise around
#' zero is zero.
exact <- function(x) {
  x <- ifelse(!is.na(x) & abs(x) < 1e-12, 0, x)
  ifelse(!is.finite(x), "", sprintf("%.10g", x))
}

flag <- function(x) if (is.na(x)) "" else if (x) "true" else "false"
