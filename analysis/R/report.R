# The report verb: templates with holes, filled with pieces that carry their sources; one self-contained HTML file.

#' Build report.html, and beside it the folder `cited` with what its links lead to.
#'
#' @param results results folder; `names` studies in it; `studies` folder of study definitions; `out` the file to write;
#'   `template_dir` inst/report; `config` config.yaml, for the campaign's title.
#' @return invisibly the path.
build_report <- function(results, names, studies, out, template_dir, config) {
  page <- read_report(results, names, studies, config)
  staged <- paste0(file.path(results, "cited"), ".part")
  unlink(staged, recursive = TRUE)
  on.exit(unlink(staged, recursive = TRUE))
  write_cited(page, staged)
  html <- render_page(page, template_dir)
  check_numbers(html, results, staged, basename(out))
  replace_folder(staged, file.path(results, "cited"))
  write_whole(html, out)
  invisible(out)
}

render_page <- function(page, template_dir) {
  template <- function(name) read_whole(must_exist(file.path(template_dir, name), "template"))
  section <- template("source.html")
  sources <- vapply(page$studies, function(study) fill(section, study_parts(study, page), "source.html"), "")
  holes <- c(page_holes(page, template_dir), method_holes(),
             list(sources = sources, style = template("report.css"), script = template("sort.js")))
  fill(template("page.html"), holes, "page.html")
}

page_holes <- function(page, template_dir) {
  title <- or_else(page$campaign$title, page$campaign$name)
  list(
    page_title = esc(title), title = said(title, at_key("cited/campaign.json", "/title")),
    conclusion = conclusion(page),
    summary = summary_table(page), class_notes = class_notes(page), contents = contents_html(page),
    unmeasured = unmeasured_studies(page), claims = claims_table(page$claims), failures = all_failures(page),
    time = campaign_time(page), calibration = calibration_html(page), audits = audits_html(page),
    references = references_html(file.path(template_dir, "references.yaml")), glossary = glossary_html(),
    provenance = provenance_html(page)
  )
}

contents_html <- function(page) {
  sources <- vapply(page$studies, function(s) link_to(paste0("#study-", s$name), ident(s$claims$source$id)), "")
  rest <- c(claims = "All claims", audit = "Sources' arithmetic", failures = "Failures", time = "Time",
            method = "Method", calibration = "Calibration", words = "Words")
  html_list(c(sources, link_to("#unmeasured", "Not measured")[length(page$others) > 0L],
              link_to(paste0("#", names(rest)), rest)))
}

#' Where the data are, and what they are called by content.
provenance_html <- function(page) {
  data <- vapply(page$studies, function(s) {
    sprintf("%s (%s %s)", link_to(file.path(s$name, "dataset.csv"), paste0(named(s$name), "/dataset.csv")),
            ident("SHA-256"), ident(substr(s$data$sha256, 1, 16)))
  }, "")
  last <- max(unlist(lapply(page$studies, function(s) max(s$data$rows$started_at))))
  paragraph("Campaign ", ident(page$campaign$name), ", version ", ident(page$campaign$version), ". Data: ",
            paste(data, collapse = ", "), ". Last run started ", dated(last), ".")
}

replace_folder <- function(staged, folder) {
  unlink(folder, recursive = TRUE)
  if (!file.rename(staged, folder)) abort(sprintf("cannot write %s", folder))
}

#' Written beside and renamed: a reader never sees half a page.
write_whole <- function(text, out) {
  part <- paste0(out, ".part")
  done <- tryCatch({
    writeLines(enc2utf8(text), part, useBytes = TRUE)
    file.rename(part, out)
  }, warning = function(w) FALSE, error = function(e) FALSE)
  if (!done) abort(sprintf("cannot write %s", out))
}
