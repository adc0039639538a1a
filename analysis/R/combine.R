# Three bundles or more: a random-effects summary of each claim, over bundles of one validity class.

SUMMARY_METHOD <- paste("random-effects summary: DerSimonian and Laird, Hartung and Knapp's interval,",
                        "never narrower than the plain one")

#' Combine independent estimates of one effect that may itself vary from host to host.
#'
#' @param y estimates on the working scale; `se` their standard errors, all > 0.
#' @return list: k, estimate, se (DerSimonian-Laird), se_hk, lo, hi (t on k - 1), tau2, q, q_p, i2.
random_effects <- function(y, se, level = 0.95) {
  k <- length(y)
  w <- 1 / se^2
  q <- sum(w * (y - sum(w * y) / sum(w))^2)
  tau2 <- max(0, (q - (k - 1)) / (sum(w) - sum(w^2) / sum(w)))
  v <- 1 / (se^2 + tau2)
  estimate <- sum(v * y) / sum(v)
  plain <- sqrt(1 / sum(v))
  spread <- sqrt(max(1, sum(v * (y - estimate)^2) / (k - 1)))
  range <- t_range(estimate, plain * spread, k - 1, level)
  list(k = k, estimate = estimate, se = plain, se_hk = plain * spread, lo = range[1], hi = range[2], tau2 = tau2,
       q = q, q_p = stats::pchisq(q, k - 1, lower.tail = FALSE), i2 = max(0, 1 - (k - 1) / q))
}

#' A summary row for every claim, link and validity class.
#'
#' @param findings list from read_findings(), the original first.
combine_findings <- function(findings) {
  studies <- unique(unlist(lapply(findings, function(f) names(f$studies))))
  data.table::rbindlist(lapply(studies, function(study) {
    having <- Filter(function(f) !is.null(f$studies[[study]]), findings)
    having <- having[!duplicated(vapply(having, function(f) f$studies[[study]]$sha256, ""))]
    ids <- unique(unlist(lapply(having, function(f) f$studies[[study]]$verdicts$claim)))
    data.table::rbindlist(lapply(ids, function(id) combine_claim(study, id, having)))
  }))
}

combine_claim <- function(study, id, having) {
  kept <- Filter(function(f) id %in% f$studies[[study]]$verdicts$claim, having)
  question <- kept[[1]]$studies[[study]]$claims[[id]]
  kept <- Filter(function(f) same_question(question, f$studies[[study]]$claims[[id]]), kept)
  rows <- lapply(kept, function(f) f$studies[[study]]$verdicts[claim == id][1])
  classes <- vapply(rows, `[[`, "", "data_class")
  data.table::rbindlist(lapply(unique(classes), function(class) {
    members <- which(classes == class)
    combine_class(study, id, class, kept[members], rows[members])
  }))
}

combine_class <- function(study, id, class, members, rows) {
  labels <- vapply(members, `[[`, "", "label")
  tally <- paste(sprintf("%s %s", labels, vapply(rows, outcome, "")), collapse = "; ")
  base <- list(study = study, claim = id, class = class, bundles = paste(labels, collapse = " "), verdicts = tally)
  links <- lapply(members, function(f) links_of(f$studies[[study]], id))
  shared <- Reduce(intersect, lapply(links, names))
  if (length(members) < 3L) return(summary_row(base, why = "fewer than three bundles of this class ask this"))
  if (rows[[1]]$type %in% COUNTED) return(summary_row(base, why = "decided by counts: see the verdicts"))
  if (!length(shared)) return(summary_row(base, why = "no estimate that all of them have"))
  data.table::rbindlist(lapply(shared, function(link) combine_link(base, link, lapply(links, `[[`, link))))
}

combine_link <- function(base, link, found) {
  y <- vapply(found, `[[`, 0, "estimate")
  se <- vapply(found, `[[`, 0, "se")
  if (anyNA(c(y, se)) || any(se <= 0)) return(summary_row(base, link_name(link),
                                                          why = "withheld, or without a standard error"))
  s <- random_effects(y, se)
  scale <- found[[1]]$scale
  show <- function(x) exact(from_scale(x, scale))
  summary_row(base, link_name(link), scale = scale, estimate = show(s$estimate), lo = show(s$lo), hi = show(s$hi),
              tau2 = exact(s$tau2), i2 = exact(s$i2), q = exact(s$q), q_p = exact(s$q_p), method = SUMMARY_METHOD)
}

summary_row <- function(base, link = "", scale = "", estimate = "", lo = "", hi = "", tau2 = "", i2 = "", q = "",
                        q_p = "", method = "none", why = "") {
  data.table::as.data.table(c(base, list(link = link, scale = scale, estimate = estimate, lo = lo, hi = hi, tau2 = tau2,
                                         i2 = i2, q = q, q_p = q_p, method = method, why = why)))
}
