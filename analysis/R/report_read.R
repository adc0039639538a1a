# What the report is made of: the studies of the campaign, the claims of the whole catalogue, copies of what it cites.

REPORT_INPUTS <- c(
  "dataset.csv" = "dataset", "estimates.csv" = "estimate", "verdicts.csv" = "estimate", "plan.json" = "plan",
  "facts.json" = "machine", "timing.json" = "dataset", "figures/lint.json" = "figures"
)

#' Everything the report needs about one study; a missing input is an error that names the stage that makes it.
read_report_study <- function(results, study, studies) {
  dir <- file.path(results, study)
  for (name in names(REPORT_INPUTS)) {
    must_exist(file.path(dir, name), "report input", paste("made by stage:", REPORT_INPUTS[[name]]))
  }
  asked <- read_asked(studies, study)
  spec <- read_yaml_strict(file.path(studies, study, "figures.yaml"))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  read_stage <- function(name) jsonlite::read_json(file.path(dir, name))
  c(asked, list(
    dir = dir, data = data, spec = spec, class = lowest_class(data$rows$validity_class), verdicts = read_verdicts(dir),
    estimates = read_text_table(file.path(dir, "estimates.csv")), plan = read_stage("plan.json"),
    facts = read_stage("facts.json"), timing = read_stage("timing.json"),
    figures = lapply(spec$figures, read_report_figure, dir = dir), images = unique(data$rows$image),
    factors = factor_levels(data, dir)
  ))
}

#' What a study asks: its files, and the lines on which its claims stand.
read_asked <- function(studies, study) {
  folder <- file.path(studies, study)
  claims <- read_yaml_strict(file.path(folder, "claims.yaml"))
  list(
    name = study, folder = folder, claims = claims, setup = read_yaml_strict(file.path(folder, "study.yaml")),
    claims_sha256 = digest::digest(file = file.path(folder, "claims.yaml"), algo = "sha256"),
    lines = lines_of_claims(file.path(folder, "claims.yaml"), vapply(claims$claims, `[[`, "", "id"))
  )
}

read_report_figure <- function(item, dir) {
  base <- file.path(dir, "figures", item$id)
  for (kind in c(".svg", ".pdf", ".png", ".json")) must_exist(paste0(base, kind), "figure", "made by stage: figures")
  c(jsonlite::read_json(paste0(base, ".json")), list(svg = paste0(base, ".svg")))
}

#' Everything on the page. Studies that were asked about but not measured are named too.
read_report <- function(results, names, studies, config) {
  campaign <- read_yaml_strict(must_exist(config, "configuration", "--config FILE: as config/config.yaml"))$campaign
  catalogue <- sort(basename(dirname(Sys.glob(file.path(studies, "*", "claims.yaml")))))
  measured <- lapply(names, function(name) read_report_study(results, name, studies))
  other <- lapply(setdiff(catalogue, names), function(name) read_asked(studies, name))
  order <- vapply(other, function(study) study$claims$source$id, "")
  page <- list(results = results, campaign = campaign, studies = measured, others = other[order(order)])
  page$claims <- all_claims(page)
  page$audits <- all_audits(page)
  page
}

#' Every claim of the catalogue, one row each: first those of the campaign, then those it did not measure.
all_claims <- function(page) {
  rows <- data.table::rbindlist(c(lapply(page$studies, decided_claims), lapply(page$others, unmeasured_claims)),
                                fill = TRUE)
  rows[, line := .I + 1L][]
}

decided_claims <- function(study) {
  v <- study$verdicts
  data.table::data.table(
    study = study$name, source_id = study$claims$source$id, v,
    from = at_rows(file.path(study$name, "verdicts.csv"), seq_len(nrow(v)) + 1L),
    asked = asked_at(study, v$claim)
  )
}

NOT_MEASURED <- "not measured"

unmeasured_claims <- function(study) {
  items <- study$claims$claims
  pick <- function(key) vapply(items, function(item) or_else(item[[key]], ""), "")
  data.table::data.table(
    study = study$name, source_id = study$claims$source$id, claim = pick("id"), statement = pick("statement"),
    published = pick("published"), min_class = pick("min_class"), verdict = "NOT TESTABLE HERE", detail = NOT_MEASURED,
    reason = "Not measured in this campaign.", ours = "", bound = "", fragile = "", magnitude = "", data_class = "",
    rows = "", from = asked_at(study, pick("id")), asked = asked_at(study, pick("id"))
  )
}

#' Where a claim stands in claims.yaml.
asked_at <- function(study, ids) {
  found <- match(ids, study$lines$claim)
  at <- study$lines[found]
  at_line(cited_path(study, "claims.yaml"), at$from, at$to)
}

cited_path <- function(study, file) file.path("cited", study$name, file)

#' Where a key of study.yaml stands.
setup_at <- function(study, key) {
  lines <- key_lines(file.path(study$folder, "study.yaml"), key)
  at_line(cited_path(study, "study.yaml"), lines[1], lines[2])
}

source_at <- function(study) {
  lines <- key_lines(file.path(study$folder, "claims.yaml"), "source")
  at_line(cited_path(study, "claims.yaml"), lines[1], lines[2])
}

CITED_FILES <- c("claims.yaml", "study.yaml", "published.csv", "published.audit.yaml")

#' Copy what the page cites to beside it, so that its links hold wherever the results folder goes.
write_cited <- function(page, folder) {
  dir.create(folder, recursive = TRUE)
  for (study in c(page$studies, page$others)) copy_into(file.path(folder, study$name), study$folder,
                                                        CITED_FILES)
  for (image in unique(unlist(lapply(page$studies, `[[`, "images")))) {
    manifest <- manifest_path(page, image)
    if (file.exists(manifest)) copy_as(manifest, file.path(folder, "images", paste0(image, ".json")))
  }
  kept <- page$claims[, .(claim, study, source = source_id, verdict, detail, reason, from)]
  data.table::fwrite(kept, file.path(folder, "claims.csv"), quote = "auto", eol = "\n", qmethod = "double")
  data.table::fwrite(page$audits, file.path(folder, "audit.csv"), quote = "auto", eol = "\n", qmethod = "double")
  data.table::fwrite(method_constants(), file.path(folder, "method.csv"), quote = "auto", eol = "\n")
  jsonlite::write_json(page$campaign, file.path(folder, "campaign.json"), auto_unbox = TRUE, pretty = TRUE)
}

manifest_path <- function(page, image) file.path(page$results, "images", image, "manifest.json")

copy_into <- function(to, from, names) {
  for (name in names) if (file.exists(file.path(from, name))) copy_as(file.path(from, name), file.path(to, name))
}

copy_as <- function(from, to) {
  dir.create(dirname(to), recursive = TRUE, showWarnings = FALSE)
  if (!file.copy(from, to, overwrite = TRUE)) abort(sprintf("cannot write %s", to))
}
