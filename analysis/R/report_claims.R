# Claims on the page: the table of all of them, and for each source what held, what did not, and what could not be
# decided.

#' Every claim with its verdict, its reason and what bound the runs it rests on.
claims_table <- function(claims) {
  cells <- list(
    claim = sprintf("<a href=\"#claim-%s\">%s</a> %s", claims$claim, ident(claims$claim),
                    said(claims$statement, claims$asked)),
    verdict = verdict_cell(claims), ours = ours_cell(claims), published = said(claims$published, claims$asked),
    ledger = ledger_cell(claims$bound), reason = said(claims$reason, claims$from)
  )
  html_table(cells, c("Claim", "Verdict", "Ours", "Published", "Ledger", "Why"), "claims cards",
             keys = list(verdict = match(claims$verdict, names(SECTION_WORDS)), claim = sprintf("%04d", claims$line)),
             caption = "Every claim of every source in the catalogue")
}

ours_cell <- function(claims) {
  absent <- ifelse(claims$detail == "class", "withheld", "none")
  ifelse(nzchar(claims$ours), said(claims$ours, claims$from), sprintf("<span class=\"none\">%s</span>", absent))
}

ledger_cell <- function(bound) {
  ifelse(nzchar(bound), sprintf("<span class=\"bound\">%s</span>", named(gsub("; ", ", ", bound, fixed = TRUE))),
         "<span class=\"none\">none</span>")
}

verdict_cell <- function(claims) {
  small <- function(text) ifelse(nzchar(text), sprintf("<br><small>%s</small>", esc(text)), "")
  paste0(verdict_word(claims$verdict), small(detail_words(claims)),
         small(ifelse(claims$fragile == "true", "fragile", "")))
}

verdict_word <- function(verdict) {
  sprintf("<span class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> %s</span>", gsub(" ", "-", tolower(verdict)),
          GLYPHS[verdict], esc(verdict))
}

detail_words <- function(claims) {
  plain <- ifelse(claims$detail == "n", "too few blocks",
                  ifelse(claims$detail == NOT_MEASURED, "not measured in this campaign", claims$detail))
  ifelse(claims$detail == "class", sprintf("class %s < %s", claims$data_class, claims$min_class), plain)
}

#' Claims of a study that came out one way, each with its reason and the way back to the raw records.
claims_that <- function(study, claims, verdicts, none) {
  rows <- claims_of(claims, study)[verdict %in% verdicts]
  if (!nrow(rows)) return(paragraph(none))
  html_list(vapply(seq_len(nrow(rows)), function(i) claim_item(study, rows[i]), ""))
}

claims_of <- function(claims, study) {
  wanted <- study$name
  claims[claims$study == wanted]
}

claim_item <- function(study, row) {
  # A reason that quotes our value need not be followed by it.
  fresh <- nzchar(row$ours) && !grepl(row$ours, row$reason, fixed = TRUE)
  numbers <- c(sprintf("Ours: %s", said(row$ours, row$from))[fresh],
               sprintf("Published: %s", said(row$published, row$asked))[nzchar(row$published)],
               sprintf("Magnitude: %s", esc(row$magnitude))[!row$magnitude %in% c("", "not assessable")])
  paste0(claim_heading(row), "<br>", verdict_word(row$verdict), detail_phrase(row), " ", said(row$reason, row$from),
         paste0(" <span class=\"numbers\">", numbers, ".</span>", collapse = ""), trace(study, row))
}

claim_heading <- function(row) {
  sprintf("<span id=\"claim-%s\"></span><strong>%s %s</strong>", row$claim, ident(row$claim),
          said(row$statement, row$asked))
}

detail_phrase <- function(row) {
  words <- c(detail_words(row)[nzchar(row$detail)], if (identical(row$fragile, "true")) "fragile")
  if (length(words)) sprintf(" (%s).", esc(paste(words, collapse = ", "))) else "."
}

#' The way from a verdict back to what the guests printed: tables, cells, and from each cell its raw records.
trace <- function(study, row) {
  if (!nzchar(row$rows)) return("")
  lines <- which(study$estimates$claim == row$claim) + 1L
  used <- unique(study$data$rows$cell[expand_ranges(row$rows) - 1L])
  place <- function(file) file.path(study$name, file)
  html_details("Where it comes from", html_list(c(
    sprintf("The verdict: %s; its estimates: %s", link_to(row$from, "row of verdicts.csv"),
            link_to(at_rows(place("estimates.csv"), row_ranges(lines)), "rows of estimates.csv")),
    sprintf("They rest on %s of dataset.csv", counted(length(expand_ranges(row$rows)), "row",
                                                      at_rows(place("dataset.csv"), row$rows))),
    sprintf("What bound those runs: %s", ledger_cell(row$bound)),
    paste("Cells, each with its raw records:", paste(cell_link(study, used), collapse = ", "))
  )), "trace")
}

cell_link <- function(study, cells) link_to(sprintf("#cell-%s-%s", study$name, cells), named(cells))

#' "2-4;9" as the numbers it stands for.
expand_ranges <- function(text) {
  unlist(lapply(strsplit(text, ";", fixed = TRUE)[[1]], function(part) {
    ends <- as.integer(strsplit(part, "-", fixed = TRUE)[[1]])
    seq(ends[1], ends[length(ends)])
  }))
}

#' Claims that could not be decided, grouped by their reason, so that one reason is said once.
undecided_claims <- function(study, claims) {
  rows <- claims_of(claims, study)[verdict %in% c("INCONCLUSIVE", "NOT TESTABLE HERE", "EXPLORATORY")]
  if (!nrow(rows)) return(paragraph("None: every claim was decided."))
  key <- paste(rows$verdict, rows$detail, rows$reason)
  groups <- split(seq_len(nrow(rows)), factor(key, levels = unique(key)))
  paste(vapply(groups, function(at) undecided_group(study, rows[at]), ""), collapse = "\n")
}

undecided_group <- function(study, rows) {
  first <- rows[1]
  paste0(paragraph(verdict_word(first$verdict), detail_phrase(first), " ", said(first$reason, first$from)),
         html_list(vapply(seq_len(nrow(rows)), function(i) {
           number <- if (nzchar(rows$ours[i])) paste0("<br>Ours: ", said(rows$ours[i], rows$from[i])) else ""
           paste0(claim_heading(rows[i]), number, if (rows$verdict[i] != "NOT TESTABLE HERE") trace(study, rows[i]))
         }, "")))
}

#' The claims of a source, as we read them.
claimed_list <- function(study) {
  items <- study$claims$claims
  said_of <- vapply(items, function(item) {
    at <- asked_at(study, item$id)
    printed <- if (nzchar(item$published)) paste0(" Printed: ", said(item$published, at), ".") else ""
    sprintf("<a href=\"#claim-%s\">%s</a> %s.%s", item$id, ident(item$id), said(sub("[.]$", "", item$statement), at),
            printed)
  }, "")
  html_details("Its claims, as we read them", html_list(said_of))
}

#' A study of the catalogue that this campaign did not measure: all its claims, each not testable here.
unmeasured_study <- function(study, claims) {
  rows <- claims_of(claims, study)
  source <- study$claims$source
  items <- vapply(seq_len(nrow(rows)), function(i) claim_heading(rows[i]), "")
  head <- sprintf("<h3 id=\"unmeasured-%s\">%s %s</h3>", study$name, ident(source$id), named(study$setup$title))
  paste0(head, paragraph(source_citation(study)),
         paragraph("Each of its ", num(as.character(nrow(rows)), at_rows("cited/claims.csv", row_ranges(rows$line))),
                   " claims is ", verdict_word("NOT TESTABLE HERE"), " (not measured in this campaign)."),
         html_details("Its claims", html_list(items)))
}

unmeasured_studies <- function(page) {
  if (!length(page$others)) return(paragraph("None: every source of the catalogue was measured."))
  paste(vapply(page$others, unmeasured_study, "", claims = page$claims), collapse = "\n")
}

source_citation <- function(study) {
  source <- study$claims$source
  at <- source_at(study)
  where <- if (is.null(source$where)) "" else sprintf(", %s", place_html(source$where))
  sprintf("%s (%s), <cite>%s</cite>%s.", esc(source$author), dated(source$date), said(source$title, at), where)
}

#' Where a source was published: an address is a name, anything else a sentence with numbers.
place_html <- function(where) if (grepl("\\s", where)) named(where) else ident(where)
