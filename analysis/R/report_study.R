# One source on the page: claimed, done, held, how sure, and why the rest could not be decided.

#' The ready pieces of one source's section, by the names of the holes of source.html.
study_parts <- function(study, page) {
  claims <- page$claims
  held <- c("REPLICATED", "EQUIVALENT", "EFFECT FOUND")
  list(
    id = study$name, title = paste(ident(study$claims$source$id), named(study$setup$title)),
    claimed = claimed_html(study), design = design_list(study),
    held = claims_that(study, claims, held, "Nothing that could be decided here."),
    refuted = claims_that(study, claims, "NOT REPLICATED",
                          "Nothing: no claim was contradicted, none proved negligible."),
    sure = sure_html(study, claims), class_note = CLASS_NOTES[[study$class]],
    undecided = undecided_claims(study, claims), figures = figures_html(study),
    cells_note = cells_note(study), cells = cell_table(study),
    failures = paste0(failure_table(study), missing_table(study), flag_sentence(study)), time = timing_table(study),
    environment = environment_html(study, page), audit = audit_html(study, page), estimates = estimate_table(study),
    runs = run_table(study)
  )
}

claimed_html <- function(study) {
  source <- study$claims$source
  at <- source_at(study)
  system <- if (!is.null(source$system)) {
    paragraph("Its system: ", said(source$system, at), ". Its repetitions: ",
              said(or_else(source$replicates, "not stated"), at), ".")
  }
  paste0(paragraph(source_citation(study), " ", said(or_else(source$summary, ""), at)), system, claimed_list(study))
}

#' What was done, as sentences of the plan and the study file.
design_list <- function(study) {
  rows <- study$data$rows
  plan <- file.path(study$name, "plan.json")
  html_list(c(
    sprintf("Asked: %s", said(study$setup$question, setup_at(study, "question"))),
    sprintf("Varied: %s; %s in all.", paste(varied(study), collapse = "; "),
            counted(nrow(study$data$cells), "cell", at_key(plan, "/cells"))),
    repetition_words(study, plan),
    sprintf("Guests: %s; protocol %s; scale %s.", esc(guest_words(unique(rows$mode))),
            named(paste(unique(rows$protocol), collapse = ", ")), named(or_else(study$plan$scale, "unknown"))),
    if (planned_here(study)) sprintf("Fixed beforehand: claims and plan, %s.", prereg_words(study)),
    unkept_words(study)
  ))
}

varied <- function(study) {
  at <- setup_at(study, if (is.null(study$setup$factors)) "designs" else "factors")
  vapply(study$data$factors, function(factor) {
    levels <- paste(level_html(study$factors[[factor]], at), collapse = ", ")
    sprintf("%s (%s)", said(label_of(study, factor), at), levels)
  }, "")
}

#' Data from outside come with a plan that was written afterwards: it has no seed.
planned_here <- function(study) !is.null(study$plan$seed)

repetition_words <- function(study, plan) {
  data <- file.path(study$name, "dataset.csv")
  if (!planned_here(study)) {
    return(sprintf("Repeated: %s, measured outside in an order of its author's; nothing was fixed beforehand.",
                   counted(length(study$data$blocks), "block", data)))
  }
  sprintf("Repeated: %s planned, %s with data, every cell once per block in a random order drawn from seed %s %s.",
          counted(as.integer(planned_blocks(study$data, study$dir)), "block", at_key(plan, "/blocks")),
          counted(length(study$data$blocks), "block", data),
          num(or_else(format(study$plan$seed, scientific = FALSE), "unknown"), at_key(plan, "/seed")),
          "and written down before the first run")
}

guest_words <- function(mode) {
  words <- c(clone = "a copy-on-write clone of a template booted for the block", boot = "a fresh boot",
             imported = "none of ours, these are outputs from outside")
  paste(ifelse(mode %in% names(words), words[mode], mode), collapse = "; ")
}

prereg_words <- function(study) {
  planned <- study$plan$claims_sha256
  if (is.null(planned)) return("but the plan does not record the hash of the claims")
  same <- "the same file, byte for byte"
  changed <- "<strong>not the file that was planned</strong>: they changed afterwards"
  sprintf("hash %s; the claims used here are %s", ident(substr(or_else(study$plan$prereg, "not recorded"), 1, 16)),
          if (identical(planned, study$claims_sha256)) same else changed)
}

#' What the source had and we do not, at this scale.
unkept_words <- function(study) {
  planned <- unlist(study$plan$unkept)
  here <- Filter(function(item) is.null(item$scale) || study$plan$scale %in% unlist(item$scale), study$setup$unkept)
  words <- if (length(planned)) planned else vapply(here, `[[`, "", "what")
  if (!length(words)) return(NULL)
  at <- if (length(planned)) at_key(file.path(study$name, "plan.json"), "/unkept") else setup_at(study, "unkept")
  paste0("Not kept from the source:", html_list(said(words, at)))
}

#' How sure: interval, adjusted p, blocks, magnitude, fragility and ledger of every decided claim, and their sum.
sure_html <- function(study, claims) {
  rows <- claims_of(claims, study)[!verdict %in% c("NOT TESTABLE HERE")]
  if (!nrow(rows)) return(paragraph("No claim could be decided, so there is nothing to be sure of."))
  interval <- ifelse(is.na(rows$lo), "", paste(show_each(rows$lo), "to", show_each(rows$hi)))
  cells <- list(
    claim = link_to(paste0("#claim-", rows$claim), ident(rows$claim)), verdict = verdict_word(rows$verdict),
    interval = said(interval, rows$from), kind = esc(ifelse(nzchar(interval), rows$scale, "")),
    p = said(ifelse(is.na(rows$p_adj), "", trimws(vapply(rows$p_adj, show_p, ""))), rows$from),
    blocks = num(ifelse(rows$n_blocks > 0, as.character(rows$n_blocks), ""), rows$from),
    magnitude = esc(rows$magnitude),
    fragile = esc(ifelse(nzchar(rows$fragile), rows$fragile, "not asked")), ledger = ledger_cell(rows$bound)
  )
  paste0(paragraph(sure_words(study, rows)),
         html_table(cells, c("Claim", "Verdict", "Interval", "Of what", "p (Holm)", "Blocks", "Magnitude", "Fragile",
                             "Ledger"), "sure", keys = list(p = rows$p_adj), caption = "How sure each decision is"))
}

show_each <- function(x) vapply(x, function(one) if (is.na(one)) "" else show_number(one), "")

sure_words <- function(study, rows) {
  at <- function(which) {
    lines <- match(rows$claim[which], study$verdicts$claim) + 1L
    at_rows(file.path(study$name, "verdicts.csv"), row_ranges(lines))
  }
  said_of <- function(which, words) if (any(which)) paste(num(as.character(sum(which)), at(which)), words)
  intervals <- !is.na(rows$p_adj)
  parts <- c(
    sprintf("Of %s that got an answer:", counted(nrow(rows), "claim", at(rep(TRUE, nrow(rows))))),
    paste(c(
      said_of(!intervals, "without a test, because a count either holds in every block or boot or it does not"),
      said_of(intervals, "by a t interval over blocks"),
      said_of(rows$fragile == "true", "fragile: decided otherwise without one block or without the flagged runs"),
      said_of(rows$fragile == "not assessed", "not assessed for fragility, because the blocks leave none to leave out")
    ), collapse = "; ")
  )
  paste0(paste(parts, collapse = " "), ". ", calibration_pointer())
}

calibration_pointer <- function() {
  "Whether intervals of this kind cover what they promise is <a href=\"#calibration\">checked by simulation</a>."
}

figures_html <- function(study) {
  absent <- vapply(study$figures, function(figure) !is.null(figure$absent), TRUE)
  drawn <- vapply(study$figures[!absent], function(figure) figure_html(study, figure), "")
  paste(c(drawn, if (any(absent)) absent_figures(study, study$figures[absent])), collapse = "\n")
}

#' Figures that would show what this campaign did not measure.
absent_figures <- function(study, figures) {
  paste0(paragraph("Not drawn, for want of what they would show:"), html_list(vapply(figures, function(figure) {
    at <- sprintf("%s/figures/%s.json", study$name, figure$id)
    sprintf("%s %s: %s", ident(figure$id), said(figure$title, at), said(figure$absent, at))
  }, "")))
}

#' A figure with its caption and its files; the picture is inside the page.
figure_html <- function(study, figure) {
  place <- function(kind) sprintf("%s/figures/%s.%s", study$name, figure$id, kind)
  links <- paste(vapply(c("svg", "pdf", "png"), function(kind) link_to(place(kind), toupper(kind)), ""), collapse = " ")
  wide <- if (figure$size_mm[[1]] > 100) "wide" else "narrow"
  said_of <- said(c(figure$title, figure$caption), place("json"))
  caption <- tag("figcaption", c(tag("strong", ident(figure$id)), " ", said_of[1], ". ", links,
                                 html_details("What it shows", paragraph(said_of[2]), "caption")))
  picture <- sprintf("<img alt=\"%s\" src=\"%s\">", esc(paste(figure$title, figure$caption)),
                     data_uri(figure$svg, "image/svg+xml"))
  tag("figure", c(tag("div", picture, class = "scroll"), caption), class = wide,
      id = sprintf("fig-%s-%s", study$name, figure$id))
}
