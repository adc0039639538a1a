# What the report says, gathered and worded before the template is opened: the template computes nothing.

REPORT_INPUTS <- c(
  "dataset.csv" = "dataset", "estimates.csv" = "estimate", "verdicts.csv" = "estimate", "plan.json" = "plan", "facts.json" = "image facts",
  "timing.json" = "run", "figures/lint.json" = "figures"
)

#' Everything the report needs about one study; a missing input is an error that names the stage that makes it.
read_report_study <- function(results, study, studies) {
  dir <- file.path(results, study)
  for (name in names(REPORT_INPUTS)) must_exist(file.path(dir, name), "report input", paste("made by stage:", REPORT_INPUTS[[name]]))
  spec <- read_yaml_strict(file.path(studies, study, "figures.yaml"))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  list(
    name = study, dir = dir, results = results, data = data, spec = spec, claims = read_yaml_strict(file.path(studies, study, "claims.yaml")),
    setup = read_yaml_strict(file.path(studies, study, "study.yaml")), claims_sha256 = digest::digest(file = file.path(studies, study, "claims.yaml"), algo = "sha256"),
    verdicts = read_verdicts(dir), estimates = read_text_table(file.path(dir, "estimates.csv")), plan = jsonlite::read_json(file.path(dir, "plan.json")),
    facts = jsonlite::read_json(file.path(dir, "facts.json")), timing = jsonlite::read_json(file.path(dir, "timing.json")),
    figures = lapply(spec$figures, read_report_figure, dir = dir), manifests = read_manifests(results, unique(data$rows$image)),
    class = lowest_class(data$rows$validity_class)
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
                   "NOT TESTABLE HERE" = "not testable here", "EFFECT FOUND" = "found to have an effect", "EQUIVALENT" = "equivalent", "EXPLORATORY" = "exploratory")

#' One sentence over all studies.
conclusion <- function(studies) {
  verdicts <- data.table::rbindlist(lapply(studies, function(s) s$verdicts[, .(verdict, detail)]))
  tally <- verdicts[, .N, by = verdict][match(names(SECTION_WORDS), verdict, nomatch = 0L)]
  parts <- sprintf("%d %s %s", tally$N, ifelse(tally$N == 1L, "is", "are"), SECTION_WORDS[tally$verdict])
  sprintf("Of %s, %s%s.", count(nrow(verdicts), "claim"), join_words(parts), because(studies, verdicts))
}

join_words <- function(x) if (length(x) < 2L) x else paste(paste(utils::head(x, -1), collapse = ", "), "and", utils::tail(x, 1))

because <- function(studies, verdicts) {
  blocked <- sum(verdicts$detail == "class")
  if (!blocked) return("")
  worst <- lowest_class(vapply(studies, `[[`, "", "class"))
  switch(worst, S = " (these data are synthetic and decide nothing about ZFS)",
         E = " (this host emulates the CPU, so times are not evidence; counts are)", " (the rest needs another class of machine)")
}

CLASS_NOTES <- c(
  S = "The data are <strong>synthetic</strong> (class S). They exercise the pipeline and say nothing about ZFS.",
  E = paste(
    "This host emulates the CPU (class E), so times are not evidence; counts are. Compress ratios, allocated bytes, thread counts and the",
    "bookkeeping of the measurement are as real as anywhere and are decided below. Claims about seconds are marked",
    "<em>not testable here</em>, by rule, and their estimates are withheld: emulation makes computation dearer unevenly and can even turn a sign round."
  ),
  V = "The guests ran on hardware virtualisation (class V): ratios within this host count, absolute speeds are not properties of the hardware.",
  B = "The runs were on bare metal (class B)."
)

#' The verdict table of one or more studies.
verdict_table <- function(studies) {
  rows <- data.table::rbindlist(lapply(studies, function(s) {
    v <- data.table::copy(s$verdicts)
    v[, c("study", "line") := list(s$name, .I + 1L)]
  }))
  href <- function(line) sprintf("%s/verdicts.csv#row=%d", rows$study, line)
  state <- sprintf("<span class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> %s</span>%s%s", gsub(" ", "-", tolower(rows$verdict)), GLYPHS[rows$verdict],
                   esc(rows$verdict), ifelse(nzchar(rows$detail), sprintf("<br><small>%s</small>", esc(detail_words(rows))), ""),
                   ifelse(rows$fragile == "true", "<br><small>fragile</small>", ""))
  cells <- list(
    claim = sprintf("<a href=\"#claim-%s\"><strong>%s</strong></a> %s", rows$claim, rows$claim, esc(rows$statement)), verdict = state,
    ours = ifelse(nzchar(rows$ours), linked(rows$ours, paste0("v-", rows$claim, "-ours"), href(rows$line)), "<span class=\"none\">withheld</span>"),
    published = linked(rows$published, paste0("v-", rows$claim, "-published"), sprintf("%s/verdicts.csv#row=%d", rows$study, rows$line)), reason = esc(rows$reason)
  )
  cells$ours[rows$verdict == "NOT TESTABLE HERE" & rows$detail != "class"] <- "<span class=\"none\">none</span>"
  html_table(cells, c("Claim", "Verdict", "Ours", "Published", "Why"), "verdicts",
             keys = list(verdict = match(rows$verdict, names(SECTION_WORDS)), claim = sprintf("%04d", seq_len(nrow(rows)))))
}

detail_words <- function(rows) ifelse(rows$detail == "class", sprintf("class %s < %s", rows$data_class, rows$min_class), rows$detail)

#' Claims that came out one way, as a list with reasons.
verdict_list <- function(study, verdicts) {
  rows <- study$verdicts[verdict %in% verdicts]
  if (!nrow(rows)) return("<p>None.</p>")
  html_list(sprintf("<span id=\"claim-%s\"></span><strong>%s</strong> %s. <em>%s%s.</em> %s", rows$claim, rows$claim, esc(rows$statement),
                    esc(rows$verdict), ifelse(nzchar(rows$detail), paste0(" (", esc(detail_words(rows)), ")"), ""), esc(rows$reason)))
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
    sprintf("Repeated: %s planned, %s with data, every cell once per block in a random order drawn from seed %s and written down before the first run.",
            count(as.integer(planned_blocks(study$data, study$dir)), "block"), count(length(study$data$blocks), "block"), esc(or_else(study$plan$seed, "unknown"))),
    sprintf("Guests: %s; protocol %s; scale %s.", esc(guest_words(unique(rows$mode))), esc(paste(unique(rows$protocol), collapse = ", ")), esc(or_else(study$plan$scale, "unknown"))),
    sprintf("Fixed beforehand: claims and plan, %s.", prereg_words(study)),
    if (length(unkept)) sprintf("Not kept from the source: %s", paste(esc(unkept), collapse = " "))
  ))
}

guest_words <- function(mode) {
  words <- c(clone = "a copy-on-write clone of a template booted for the block", boot = "a fresh boot")
  paste(ifelse(mode %in% names(words), words[mode], mode), collapse = "; ")
}

prereg_words <- function(study) {
  planned <- study$plan$claims_sha256
  if (is.null(planned)) return("but the plan does not record the hash of the claims")
  same <- identical(planned, study$claims_sha256)
  sprintf("hash %s; the claims used here are %s", substr(or_else(study$plan$prereg, ""), 1, 12),
          if (same) "the same file, byte for byte" else "<strong>not the file that was planned</strong>: they changed afterwards")
}
