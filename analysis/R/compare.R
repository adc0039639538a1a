# Two bundles or more, claim by claim: what the original predicts for a replication, and whether it came out so.

REPLICATIONS <- c("agree", "disagree", "inconclusive", "cannot be compared")
DECIDED <- c("REPLICATED", "NOT REPLICATED", "EFFECT FOUND", "EQUIVALENT")
COUNTED <- c("det", "lint")

#' What was found in one unpacked bundle.
#'
#' @param dir its data folder; `label` a letter for it.
#' @return list: label, studies (named; each verdicts, estimates, claims as written, sha256 of the dataset).
read_findings <- function(dir, label) {
  names <- basename(dirname(Sys.glob(file.path(must_exist(dir, "bundle"), "results", "*", "verdicts.csv"))))
  list(label = label, studies = stats::setNames(lapply(names, function(name) read_finding(dir, name)), names))
}

read_finding <- function(dir, study) {
  at <- function(...) must_exist(file.path(dir, ...), "comparison input")
  claims <- read_yaml_strict(at("config", "studies", study, "claims.yaml"))$claims
  list(
    verdicts = read_bundled_table(at("results", study, "verdicts.csv")),
    estimates = read_bundled_table(at("results", study, "estimates.csv")),
    claims = stats::setNames(claims, vapply(claims, `[[`, "", "id")),
    sha256 = digest::digest(file = at("results", study, "dataset.csv"), algo = "sha256")
  )
}

#' A table of a bundle, without the apostrophes put before what a spreadsheet would run.
read_bundled_table <- function(path) {
  table <- read_text_table(path)
  table[, lapply(.SD, sub, pattern = "^'(?=[-+=@])", replacement = "", perl = TRUE)]
}

#' Degrees of freedom of a difference of two estimates: Welch and Satterthwaite, to the nearest whole number.
#'
#' Rounded because the known answer of methods 2.3 (S0-04: 37.8 to 87.8) is.
pooled_df <- function(se_a, df_a, se_b, df_b) {
  if (se_a == 0 && se_b == 0) return(min(df_a, df_b))
  max(1, round((se_a^2 + se_b^2)^2 / (se_a^4 / df_a + se_b^4 / df_b)))
}

#' Where a replication should land if it measures the same effect (Patil, Peng and Leek 2016), on the working scale.
#'
#' @param a,b lists with estimate, se, df; of b only the precision counts.
predict_replication <- function(a, b, level = 0.95) {
  if (anyNA(c(a$estimate, a$se, a$df, b$se, b$df)) || min(a$df, b$df) < 1) return(c(NA_real_, NA_real_))
  t_range(a$estimate, sqrt(a$se^2 + b$se^2), pooled_df(a$se, a$df, b$se, b$df), level)
}

numeric_cell <- function(row, name) suppressWarnings(as.numeric(row[[name]]))

#' One row of estimates.csv on the working scale; its interval stays on the display scale.
working_link <- function(row) {
  estimate <- numeric_cell(row, "estimate")
  list(estimate = if (row$scale == "log") log(estimate) else estimate, se = numeric_cell(row, "se"),
       df = numeric_cell(row, "df"), scale = row$scale)
}

#' The links of a claim by name; the name of an only link is empty in the table, and cannot be in a list.
links_of <- function(finding, id) {
  rows <- finding$estimates[finding$estimates$claim == id & !startsWith(finding$estimates$link, BESIDE)]
  stats::setNames(lapply(seq_len(nrow(rows)), function(i) working_link(rows[i])), paste0("link ", rows$link))
}

link_name <- function(key) sub("^link ", "", key)

#' The prediction for every link that both bundles estimated; Bonferroni over the links, as one outside is enough.
#'
#' @return data.table with one row per link; no row when nothing can be predicted.
predictions <- function(a, b, id) {
  first <- links_of(a, id)
  second <- links_of(b, id)
  shared <- intersect(names(first), names(second))
  shared <- shared[vapply(shared, function(link) !anyNA(c(first[[link]]$se, second[[link]]$se)), TRUE)]
  level <- 1 - 0.05 / max(1L, length(shared))
  delta0 <- smallest_effect(a$claims[[id]])
  data.table::rbindlist(lapply(shared, function(link) {
    prediction_row(id, link, first[[link]], second[[link]], level, delta0)
  }))
}

smallest_effect <- function(claim) {
  claim$estimator$scale <- or_else(claim$estimator$scale, "log")
  default_delta0(claim)
}

prediction_row <- function(id, link, first, second, level, delta0) {
  range <- predict_replication(first, second, level)
  noise <- 1e-12
  inside <- second$estimate >= range[1] - noise && second$estimate <= range[2] + noise
  show <- function(x) exact(from_scale(x, first$scale))
  data.table::data.table(
    claim = id, link = link_name(link), scale = first$scale, original = show(first$estimate),
    se_original = exact(first$se),
    df_original = exact(first$df), replication = show(second$estimate), se_replication = exact(second$se),
    df_replication = exact(second$df), level = exact(level), prediction_lo = show(range[1]),
    prediction_hi = show(range[2]), inside = flag(inside),
    negligible = flag(abs(second$estimate - first$estimate) < delta0)
  )
}

#' Do original and replication agree on a claim?
#'
#' @param a,b rows of verdicts.csv; `changed` whether the claim itself is another one; `predicted` from predictions().
#' @return list: replication (one of REPLICATIONS), why (words, may be empty).
judge_replication <- function(a, b, changed, predicted) {
  blocked <- incomparable(a, b, changed)
  if (nzchar(blocked)) return(list(replication = "cannot be compared", why = blocked))
  open <- Filter(function(v) v$row$verdict == "INCONCLUSIVE", list(list(who = "original", row = a),
                                                                   list(who = "replication", row = b)))
  if (length(open)) {
    said <- vapply(open, function(v) sprintf("%s: %s", v$who, or_else(v$row$detail, "interval")), "")
    return(list(replication = "inconclusive", why = sprintf("undecided (%s)", paste(said, collapse = "; "))))
  }
  note <- class_note(a, b)
  if (outcome(a) == outcome(b)) return(list(replication = "agree", why = paste0(note, size_note(predicted))))
  if (nrow(predicted) && all(predicted$inside == "true")) {
    return(list(replication = "inconclusive", why = "the verdicts differ, yet the estimates fit one another"))
  }
  list(replication = "disagree", why = sprintf("%s%s, then %s", note, outcome(a), outcome(b)))
}

#' Why two verdicts cannot be set side by side; empty when they can. Validity classes are never mixed silently.
incomparable <- function(a, b, changed) {
  if (is.null(a)) return("not asked in the original")
  if (is.null(b)) return("not asked in the replication")
  if (changed) return("the claim was changed between the two: not the same question")
  untold <- c(without_verdict("original", a), without_verdict("replication", b))
  if (length(untold)) return(untold[1])
  classes_apart(a, b)
}

without_verdict <- function(who, row) {
  if (row$verdict == "NOT TESTABLE HERE") return(sprintf("not testable in the %s (%s)", who, row$detail))
  if (!row$verdict %in% c(DECIDED, "INCONCLUSIVE")) sprintf("no verdict in the %s (%s)", who, row$verdict)
}

classes_apart <- function(a, b) {
  if (a$data_class == b$data_class) return("")
  if (!a$type %in% COUNTED) return(sprintf("validity classes differ (%s, %s)", a$data_class, b$data_class))
  if (a$type == "det" && "S" %in% c(a$data_class, b$data_class)) return("one of the two is synthetic")
  ""
}

class_note <- function(a, b) {
  if (a$data_class == b$data_class) return("")
  sprintf("by outcome, counts of class %s and %s; ", a$data_class, b$data_class)
}

#' The verdict, with its sign where the verdict alone has none.
outcome <- function(row) if (row$verdict == "EFFECT FOUND") paste(row$verdict, row$detail) else row$verdict

#' Same verdict, another size: said when a link lies outside its prediction by more than the smallest effect of
#' interest.
size_note <- function(predicted) {
  if (!nrow(predicted)) return("")
  far <- predicted[inside == "false" & negligible == "false"]
  if (nrow(far)) sprintf("but the size differs (%d of %d links outside the prediction)", nrow(far),
                         nrow(predicted)) else ""
}

#' Every claim of original and replication.
#'
#' @return list of two data.tables: claims (one row per claim) and links (one row per predicted link).
compare_pair <- function(a, b) {
  studies <- union(names(a$studies), names(b$studies))
  parts <- lapply(studies, function(name) compare_study(name, a$studies[[name]], b$studies[[name]]))
  tag <- function(table) if (nrow(table)) cbind(original_is = a$label, replication_is = b$label, table) else table
  list(claims = tag(data.table::rbindlist(lapply(parts, `[[`, "claims"))),
       links = tag(data.table::rbindlist(lapply(parts, `[[`, "links"))))
}

compare_study <- function(name, a, b) {
  ids <- union(a$verdicts$claim, b$verdicts$claim)
  found <- lapply(ids, function(id) compare_claim(name, id, a, b))
  list(claims = data.table::rbindlist(lapply(found, `[[`, "row")),
       links = data.table::rbindlist(lapply(found, `[[`, "links")))
}

compare_claim <- function(study, id, a, b) {
  rows <- lapply(list(a, b), function(x) if (id %in% x$verdicts$claim) x$verdicts[x$verdicts$claim == id][1])
  both <- !is.null(rows[[1]]) && !is.null(rows[[2]])
  changed <- both && !same_question(a$claims[[id]], b$claims[[id]])
  comparable <- both && !nzchar(incomparable(rows[[1]], rows[[2]], changed))
  links <- if (comparable) predictions(a, b, id) else data.table::data.table()
  judged <- judge_replication(rows[[1]], rows[[2]], changed, links)
  known <- if (is.null(rows[[1]])) rows[[2]] else rows[[1]]
  cell <- function(i, name) if (is.null(rows[[i]])) "" else rows[[i]][[name]]
  row <- data.table::data.table(
    study = study, claim = id, type = known$type, replication = judged$replication, why = judged$why,
    published = known$published, original = cell(1, "ours"), original_verdict = cell(1, "verdict"),
    original_class = cell(1, "data_class"), ours = cell(2, "ours"), ours_verdict = cell(2, "verdict"),
    ours_class = cell(2, "data_class"), prediction = prediction_words(links), statement = known$statement
  )
  if (nrow(links)) links <- cbind(study = study, links)
  list(row = row, links = links)
}

#' The same claim, as far as data can tell: everything of it but the notes.
same_question <- function(a, b) identical(a[setdiff(names(a), "notes")], b[setdiff(names(b), "notes")])

prediction_words <- function(links) {
  if (!nrow(links)) return("")
  if (nrow(links) > 2L) return(sprintf("%d of %d links inside", sum(links$inside == "true"), nrow(links)))
  shown <- function(x) vapply(as.numeric(x), show_number, "")
  paste(sprintf("%s [%s, %s]", ifelse(links$inside == "true", "inside", "outside"), shown(links$prediction_lo),
                shown(links$prediction_hi)), collapse = "; ")
}
