# Two checks that are no measurement of ours: the sources' own arithmetic, and the method on simulated campaigns.

#' Audits of the printed tables of the whole catalogue (audit.R), one row per check.
all_audits <- function(page) {
  studies <- c(page$studies, page$others)
  found <- data.table::rbindlist(c(list(audit_none()), lapply(studies, audit_of)), fill = TRUE)
  if (nrow(found)) found[, line := .I + 1L]
  found[]
}

audit_of <- function(study) {
  path <- file.path(study$folder, "published.csv")
  if (!file.exists(path)) return(NULL)
  found <- audit_findings(path)
  if (!nrow(found)) return(NULL)
  ids <- read_text_table(path)$row_id
  lines <- lapply(strsplit(found$rows, " ", fixed = TRUE), function(one) which(ids %in% one) + 1L)
  printed_at <- at_rows(cited_path(study, "published.csv"), lines)
  data.table::data.table(study = study$name, source_id = study$claims$source$id, found, printed_at = printed_at)
}

#' What was found in the tables of one source, in a sentence; the findings themselves have a section of their own.
audit_html <- function(study, page) {
  found <- claims_of(page$audits, study)
  if (!nrow(found)) return(paragraph("Nothing in its printed numbers can be computed from others."))
  odd <- found$verdict != "ok"
  at <- function(which) at_rows("cited/audit.csv", row_ranges(found$line[which]))
  sprintf("<p>Of %s between its printed numbers that can be checked within rounding, %s.</p>",
          counted(nrow(found), "relation", at(TRUE)),
          if (any(odd)) sprintf("%s %s not in order: <a href=\"#audit\">which, and how</a>",
                                num(as.character(sum(odd)), at(odd)), if (sum(odd) == 1L) "is" else "are")
          else "all are in order")
}

#' All sources, those that were not measured too.
audits_html <- function(page) {
  found <- page$audits
  if (!nrow(found)) return(paragraph("No printed table of the catalogue was audited."))
  rows <- lapply(c(page$studies, page$others), function(study) {
    own <- claims_of(found, study)
    cell <- function(which) num(as.character(sum(which)), at_rows("cited/audit.csv", row_ranges(own$line[which])))
    if (nrow(own)) list(source = ident(study$claims$source$id), checked = cell(rep(TRUE, nrow(own))),
                        odd = if (any(own$verdict != "ok")) cell(own$verdict != "ok") else num("0", "cited/audit.csv"))
  })
  rows <- data.table::rbindlist(rows)
  odd <- found[found$verdict != "ok"]
  paste0(html_table(as.list(rows), c("Source", "Relations checked", "Not in order"), "timing",
                    caption = "Relations between printed numbers, by source"),
         if (nrow(odd)) audit_table(odd))
}

audit_table <- function(found) {
  at <- at_rows("cited/audit.csv", found$line)
  html_table(list(source = ident(found$source_id), what = said(found$what, found$printed_at),
                  verdict = tag_each("strong", esc(found$verdict)),
                  printed = said(found$printed, found$printed_at),
                  recomputed = said(trimws(paste(found$recomputed, found$interval)), at),
                  sentence = said(found$sentence, at)),
             c("Source", "Relation", "Finding", "As printed", "Computed again", "In words"), "audit cards",
             caption = "Where printed numbers do not follow from each other")
}

#' The self-check by simulation (results/calibration.csv, by `make calibrate`), when it was made.
calibration_html <- function(page) {
  path <- file.path(page$results, "calibration.csv")
  if (!file.exists(path)) {
    return(paragraph("Not checked in this results folder: <code>make calibrate</code> makes what would stand here."))
  }
  found <- read_text_table(path)
  at <- at_rows("calibration.csv", seq_len(nrow(found)) + 1L)
  passed <- found$pass == "TRUE"
  rows <- function(which) at_rows("calibration.csv", row_ranges(which + 1L))
  words <- paragraph(num(as.character(sum(passed)), rows(which(passed))), " of ",
                     counted(nrow(found), "check", rows(seq_len(nrow(found)))), " passed. Simulated campaigns went ",
                     "through the files and the code that decided the claims above; wrong methods are among the ",
                     "checks, and pass when they are seen to be wrong.")
  paste0(words, html_details("All checks", calibration_table(found, at, passed)))
}

calibration_table <- function(found, at, passed) {
  rate <- function(x) {
    value <- suppressWarnings(as.numeric(x))
    ifelse(is.na(value), "", sprintf("%.3f", value))
  }
  accepted <- ifelse(nzchar(rate(found$low)), paste(rate(found$low), "to", rate(found$high)), "")
  html_table(list(check = said(found$check, at), case = said(found$case, at), sims = num(found$sims, at),
                  found = num(rate(found$found), at), stated = said(found$stated, at), accepted = said(accepted, at),
                  outcome = paste0(ifelse(passed, "passed", "<strong>FAILED</strong>"),
                                   ifelse(found$control == "TRUE", " (wrong method)", ""))),
             c("Check", "Case", "Simulated", "Found", "Stated", "Accepted", "Outcome"), "calibration cards",
             caption = "Rates found in simulation, beside those that the method states")
}
