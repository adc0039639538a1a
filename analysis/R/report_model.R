# What the report says, gathered and worded before the template is opened: the template computes nothing.

REPORT_INPUTS <- c(
  "dataset.csv" = "dataset", "estimates.csv" = "estimate", "verdicts.csv" = "estimate", "plan.json" = "plan",
  "facts.json" = "machine", "timing.json" = "dataset", "figures/lint.json" = "figures"
)

#' Everything the report needs about one study; a missing input is an error that names the stage that makes it.
read_report_study <- function(results, study, studies) {
  dir <- file.path(results, study)
  asked <- file.path(studies, study)
  for (name in names(REPORT_INPUTS)) {
    must_exist(file.path(dir, name), "report input", paste("made by stage:", REPORT_INPUTS[[name]]))
  }
  spec <- read_yaml_strict(file.path(asked, "figures.yaml"))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  read_stage <- function(name) jsonlite::read_json(file.path(dir, name))
  list(
    name = study, dir = dir, results = results, data = data, spec = spec,
    class = lowest_class(data$rows$validity_class),
    claims = read_yaml_strict(file.path(asked, "claims.yaml")),
    setup = read_yaml_strict(file.path(asked, "study.yaml")),
    claims_sha256 = digest::digest(file = file.path(asked, "claims.yaml"), algo = "sha256"),
    verdicts = read_verdicts(dir), estimates = read_text_table(file.path(dir, "estimates.csv")),
    plan = read_stage("plan.json"), facts = read_stage("facts.json"), timing = read_stage("timing.json"),
    figures = lapply(spec$figures, read_report_figure, dir = dir),
    manifests = read_manifests(results, unique(data$rows$image))
  )
}

read_report_figure <- function(item, dir) {
  base <- file.path(dir, "figures", item$id)
  for (kind in c(".svg", ".pdf", ".png", ".json")) must_exist(paste0(base, kind), "figure", "made by stage: figures")
  c(jsonlite::read_json(paste0(base, ".json")), list(svg = paste0(base, ".svg")))
}

#' Manifests of the images in this results folder; an image that is not linked here is reported as such.
read_manifests <- function(results, images) {
  paths <- stats::setNames(file.path(results, "images", images, "manifest.json"), images)
  lapply(paths, function(path) if (file.exists(path)) jsonlite::read_json(path))
}

SECTION_WORDS <- c("REPLICATED" = "replicated", "NOT REPLICATED" = "not replicated", "INCONCLUSIVE" = "inconclusive",
                   "NOT TESTABLE HERE" = "not testable here", "EFFECT FOUND" = "found to have an effect",
                   "EQUIVALENT" = "equivalent", "EXPLORATORY" = "exploratory")

#' One sentence over all studies.
conclusion <- function(studies) {
  verdicts <- data.table::rbindlist(lapply(studies, function(s) s$verdicts[, .(verdict, detail)]))
  tally <- verdicts[, .N, by = verdict][match(names(SECTION_WORDS), verdict, nomatch = 0L)]
  parts <- sprintf("%d %s %s", tally$N, ifelse(tally$N == 1L, "is", "are"), SECTION_WORDS[tally$verdict])
  sprintf("Of %s, %s%s.", count(nrow(verdicts), "claim"), join_words(parts), because(studies, verdicts))
}

join_words <- function(x) {
  if (length(x) < 2L) return(x)
  paste(paste(utils::head(x, -1), collapse = ", "), "and", utils::tail(x, 1))
}

because <- function(studies, verdicts) {
  blocked <- sum(verdicts$detail == "class")
  if (!blocked) return("")
  worst <- lowest_class(vapply(studies, `[[`, "", "class"))
  switch(worst, S = " (these data are synthetic and decide nothing about ZFS)",
         E = " (this host emulates the CPU, so times are not evidence; counts are)",
         " (the rest needs another class of machine)")
}

CLASS_NOTES <- c(
  S = "The data are <strong>synthetic</strong> (class S). They exercise the pipeline and say nothing about ZFS.",
  E = paste(
    "This host emulates the CPU (class E), so times are not evidence; counts are.",
    "Compress ratios, allocated bytes, thread counts and the",
    "bookkeeping of the measurement are as real as anywhere and are decided below. Claims about seconds are marked",
    "<em>not testable here</em>, by rule, and their estimates are withheld:",
    "emulation makes computation dearer unevenly and can even turn a sign round."
  ),
  V = paste(
    "The guests ran on hardware virtualisation (class V): ratios within this host count,",
    "absolute speeds are not properties of the hardware."
  ),
  B = "The runs were on bare metal (class B)."
)

#' The verdict table of one or more studies.
verdict_table <- function(studies) {
  rows <- data.table::rbindlist(lapply(studies, function(s) {
    v <- data.table::copy(s$verdicts)
    v[, c("study", "line") := list(s$name, .I + 1L)]
  }))
  href <- sprintf("%s/verdicts.csv#row=%d", rows$study, rows$line)
  named <- sprintf("<a href=\"#claim-%s\"><strong>%s</strong></a> %s", rows$claim, rows$claim, esc(rows$statement))
  ours <- linked(rows$ours, paste0("v-", rows$claim, "-ours"), href)
  cells <- list(
    claim = named, verdict = verdict_cell(rows), ours = ifelse(nzchar(ours), ours,
        "<span class=\"none\">withheld</span>"),
    published = linked(rows$published, paste0("v-", rows$claim, "-published"), href), reason = esc(rows$reason)
  )
  cells$ours[rows$verdict == "NOT TESTABLE HERE" & rows$detail != "class"] <- "<span class=\"none\">none</span>"
  html_table(cells, c("Claim", "Verdict", "Ours", "Published", "Why"), "verdicts",
             keys = list(verdict = match(rows$verdict, names(SECTION_WORDS)),
                         claim = sprintf("%04d", seq_len(nrow(rows)))))
}

verdict_cell <- function(rows) {
  small <- function(text) ifelse(nzchar(text), sprintf("<br><small>%s</small>", esc(text)), "")
  word <- sprintf("<span class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> %s</span>",
                  gsub(" ", "-", tolower(rows$verdict)), GLYPHS[rows$verdict], esc(rows$verdict))
  paste0(word, small(detail_words(rows)), small(ifelse(rows$fragile == "true", "fragile", "")))
}

detail_words <- function(rows) {
  plain <- ifelse(rows$detail == "n", "n: too few blocks", rows$detail)
  ifelse(rows$detail == "class", sprintf("class %s < %s", rows$data_class, rows$min_class), plain)
}

#' Claims that came out one way, grouped by their reason, so that one reason is said once.
verdict_list <- function(study, verdicts) {
  rows <- study$verdicts[verdict %in% verdicts]
  if (!nrow(rows)) return("<p>None.</p>")
  words <- ifelse(nzchar(rows$detail), sprintf("%s (%s)", rows$verdict, detail_words(rows)), rows$verdict)
  groups <- split(seq_len(nrow(rows)), factor(paste(words, rows$reason), levels = unique(paste(words, rows$reason))))
  html_list(vapply(groups, function(at) reason_item(rows[at], words[at[1]]), ""))
}

reason_item <- function(rows, words) {
  named <- sprintf("<span id=\"claim-%s\"></span><strong>%s</strong> %s", rows$claim, rows$claim, esc(rows$statement))
  said <- sprintf("<em>%s.</em> %s", esc(words), esc(rows$reason[1]))
  if (nrow(rows) == 1L) sprintf("%s. %s", named, said) else paste0(said, html_list(named))
}

#' What was done, as sentences of the plan and the study file.
design_list <- function(study) {
  factors <- vapply(study$data$factors, function(f) {
    sprintf("%s (%s)", esc(label_of(study, f)), esc(paste(factor_levels(study$data, study$dir)[[f]], collapse = ", ")))
  }, "")
  rows <- study$data$rows
  unkept <- vapply(study$setup$unkept, `[[`, "", "what")
  html_list(c(
    sprintf("Asked: %s", esc(study$setup$question)),
    sprintf("Varied: %s; %s in all.", paste(factors, collapse = "; "), count(nrow(study$data$cells), "cell")),
    repetition_words(study),
    sprintf("Guests: %s; protocol %s; scale %s.", esc(guest_words(unique(rows$mode))),
            esc(paste(unique(rows$protocol), collapse = ", ")), esc(or_else(study$plan$scale, "unknown"))),
    sprintf("Fixed beforehand: claims and plan, %s.", prereg_words(study)),
    if (length(unkept)) sprintf("Not kept from the source: %s", paste(esc(unkept), collapse = " "))
  ))
}

repetition_words <- function(study) {
  planned <- count(as.integer(planned_blocks(study$data, study$dir)), "block")
  seen <- count(length(study$data$blocks), "block")
  sprintf("Repeated: %s planned, %s with data, every cell once per block in a random order drawn from seed %s %s.",
          planned, seen, esc(or_else(study$plan$seed, "unknown")), "and written down before the first run")
}

guest_words <- function(mode) {
  words <- c(clone = "a copy-on-write clone of a template booted for the block", boot = "a fresh boot")
  paste(ifelse(mode %in% names(words), words[mode], mode), collapse = "; ")
}

prereg_words <- function(study) {
  planned <- study$plan$claims_sha256
  if (is.null(planned)) return("but the plan does not record the hash of the claims")
  same <- "the same file, byte for byte"
  changed <- "<strong>not the file that was planned</strong>: they changed afterwards"
  sprintf("hash %s; the claims used here are %s", substr(or_else(study$plan$prereg, ""), 1, 12),
          if (identical(planned, study$claims_sha256)) same else changed)
}
