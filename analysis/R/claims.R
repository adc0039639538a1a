# Claims as data: read claims.yaml, check it against its schema, expand its shorthands into links of weighted terms.

TYPES <- c("dir", "eq", "ord", "trend", "disp", "det", "lint")

#' Read and check claims.yaml.
#'
#' @param path claims.yaml; `schema` claims.schema.yaml.
#' @return list: study, source, derived, claims (each with `links` already expanded, numbers on the working scale).
read_claims <- function(path, schema) {
  raw <- read_yaml_strict(path)
  check_schema(raw, read_yaml_strict(must_exist(schema, "schema")), path)
  ids <- vapply(raw$claims, `[[`, "", "id")
  if (anyDuplicated(ids)) abort(sprintf("%s: claim %s appears twice", path, ids[duplicated(ids)][1]))
  raw$claims <- stats::setNames(lapply(raw$claims, function(claim) prepare_claim(claim, raw, path)), ids)
  raw$sha256 <- digest::digest(file = path, algo = "sha256")
  raw
}

prepare_claim <- function(claim, raw, path) {
  where <- sprintf("%s: claim %s", path, claim$id)
  claim$source <- or_else(claim$source, raw$source$id)
  claim$exploratory <- isTRUE(claim$exploratory)
  claim$estimator$scale <- or_else(claim$estimator$scale, "log")
  directed <- claim$type %in% c("dir", "trend", "disp", "ord")
  claim$direction <- or_else(claim$direction, if (directed) "greater" else "none")
  claim$combine <- or_else(claim$estimator$combine, "all")
  claim$where <- where
  check_claim_kind(claim, where)
  expand_claim(claim)
}

#' Links, and what is reported beside them, from the shorthands of a contrast claim.
expand_claim <- function(claim) {
  if (claim$estimator$kind != "contrast") return(claim)
  claim$links <- expand_links(claim, claim$where)
  claim$also <- lapply(claim$estimator$also, function(link) {
    finish_link(link, 1L, claim$estimator, 0, numeric(), claim$where)
  })
  claim
}

check_claim_kind <- function(claim, where) {
  wanted <- switch(claim$type, det = "predicate", lint = "lint", "contrast")
  kind <- claim$estimator$kind
  if (kind == "none") return(invisible())
  if (kind != wanted) {
    abort(sprintf("%s: type %s does not go with estimator kind %s", where, claim$type, kind),
          paste("expected:", wanted))
  }
  if (claim$type == "eq" && is.null(claim$margin)) abort(sprintf("%s: an equality claim needs a margin", where))
  if (kind == "predicate" && is.null(claim$estimator$require)) abort(sprintf("%s: nothing is required", where))
}

or_else <- function(value, other) if (is.null(value)) other else value

#' To the working scale: logs of ratios, or the number itself.
to_scale <- function(x, scale) if (is.null(x)) NULL else if (scale == "log") log(unlist(x)) else unlist(x)

#' Back to the display scale.
from_scale <- function(x, scale) if (scale == "log") exp(x) else x

#' Smallest effect of interest on the working scale (methods 2.3): log 1.05, or 0.02 on identity. Where no sign was
#' published the margin, if there is one, is that of equivalence.
default_delta0 <- function(claim) {
  if (identical(claim$direction, "two-sided") && !is.null(claim$margin)) {
    return(abs(to_scale(claim$margin, claim$estimator$scale)))
  }
  if (!is.null(claim$delta0)) return(abs(to_scale(claim$delta0, claim$estimator$scale)))
  if (claim$estimator$scale == "log") log(1.05) else 0.02
}

#' The links of a contrast claim: each a named list of id, terms (metric, weight, where, stat, transform, runs, on),
#' null, published.
expand_links <- function(claim, where) {
  e <- claim$estimator
  links <- link_seeds(e, claim, where)
  for (factor in names(e$foreach)) links <- repeat_links(links, factor, unlist(e$foreach[[factor]]))
  published <- to_scale(claim$published_effect, e$scale)
  null <- or_else(to_scale(claim$null_value, e$scale), 0)
  if (length(published) > 1L && length(published) != length(links)) {
    abort(sprintf("%s: %d published effects for %d links", where, length(published), length(links)))
  }
  lapply(seq_along(links), function(i) finish_link(links[[i]], i, e, null, published, where))
}

link_seeds <- function(e, claim, where) {
  quantity <- or_else(e$terms, list(list(weight = 1)))
  if (!is.null(e$links)) return(e$links)
  if (!is.null(e$chain)) return(chain_links(e$chain$over, unlist(e$chain$levels), quantity))
  if (!is.null(e$pairs)) return(pair_links(e$pairs, quantity))
  if (!is.null(e$terms)) return(list(list(id = "", terms = e$terms)))
  abort(sprintf("%s: no terms, links, chain or pairs", where))
}

#' A quantity (weighted terms; by default one metric) at one level of a factor, minus the same at another.
difference_link <- function(over, high, low, quantity = list(list(weight = 1))) {
  list(id = paste(high, "-", low), terms = c(at_level(quantity, over, high, 1), at_level(quantity, over, low, -1)))
}

at_level <- function(quantity, over, level, sign) {
  lapply(quantity, function(term) {
    term$weight <- sign * term$weight
    term$where[[over]] <- level
    term
  })
}

chain_links <- function(over, levels, quantity = list(list(weight = 1))) {
  lapply(seq_along(levels)[-1], function(i) difference_link(over, levels[i], levels[i - 1], quantity))
}

#' Every level against the reference; without one, every pair, and with `ordered` each of them both ways.
pair_links <- function(pairs, quantity = list(list(weight = 1))) {
  levels <- unlist(pairs$levels)
  link <- function(high, low) difference_link(pairs$over, high, low, quantity)
  if (!is.null(pairs$reference)) return(lapply(setdiff(levels, pairs$reference), link, low = pairs$reference))
  if (length(levels) < 2L) return(list())
  each <- utils::combn(levels, 2, simplify = FALSE)
  found <- lapply(each, function(pair) link(pair[2], pair[1]))
  if (isTRUE(pairs$ordered)) c(found, lapply(each, function(pair) link(pair[1], pair[2]))) else found
}

repeat_links <- function(links, factor, levels) {
  made <- lapply(levels, function(level) {
    lapply(links, function(link) {
      link$at[[factor]] <- level
      # A bare number says nothing by itself.
      named <- if (grepl("^[0-9.]+$", level)) paste(factor, level) else level
      link$id <- paste(c(link$id[nzchar(link$id)], named), collapse = ", ")
      link
    })
  })
  do.call(c, made)
}

finish_link <- function(link, i, e, null, published, where) {
  at <- c(link$at, e$at[setdiff(names(e$at), names(link$at))])
  link$terms <- lapply(link$terms, function(term) finish_term(term, e, at, where))
  link$null <- or_else(to_scale(link$null_value, e$scale), null)
  link$published <- if (length(published) > 1L) published[i] else if (length(published) == 1L) published else NA_real_
  link$scale <- e$scale
  link[c("id", "terms", "null", "published", "scale")]
}

finish_term <- function(term, e, at, where) {
  term$metric <- or_else(term$metric, e$metric)
  if (is.null(term$metric)) abort(sprintf("%s: a term names no metric", where))
  term$stat <- or_else(or_else(term$stat, e$stat), "mean")
  term$where <- c(term$where, at[setdiff(names(at), names(term$where))])
  term
}
