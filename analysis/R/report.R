# The report verb: one R Markdown template, one self-contained HTML file.

#' Build report.html.
#'
#' @param results results folder; `names` studies in it; `studies` folder of study definitions; `out` the file to write;
#'   `template_dir` inst/report.
#' @return invisibly the path.
build_report <- function(results, names, studies, out, template_dir) {
  # Knitting happens in another folder, so no path may stay relative.
  results <- normalizePath(results, mustWork = FALSE)
  studies <- normalizePath(studies, mustWork = FALSE)
  gathered <- lapply(names, function(name) read_report_study(results, name, studies))
  page <- list(studies = gathered, conclusion = conclusion(gathered),
               class = lowest_class(vapply(gathered, `[[`, "", "class")),
               dated = max(unlist(lapply(gathered, function(s) max(s$data$rows$started_at)))))
  work <- tempfile("report-")
  dir.create(work)
  on.exit(unlink(work, recursive = TRUE))
  file.copy(list.files(template_dir, full.names = TRUE), work)
  knit_page(work, page)
  part <- paste0(out, ".part")
  if (!file.copy(file.path(work, "report.html"), part, overwrite = TRUE)) abort(sprintf("cannot write %s", out))
  file.rename(part, out)
  invisible(out)
}

knit_page <- function(work, page) {
  home <- list2env(list(page = page), parent = environment(build_report))
  format <- rmarkdown::output_format(
    knitr = rmarkdown::knitr_options(opts_chunk = list(echo = FALSE, results = "asis", comment = NA, message = FALSE,
                                                       warning = FALSE)),
    pandoc = rmarkdown::pandoc_options(
      to = "html5", from = "markdown-smart-auto_identifiers",
      args = c("--template", file.path(work, "page.html"), "--metadata", "pagetitle=zassay report")
    )
  )
  tryCatch(
    rmarkdown::render(file.path(work, "report.Rmd"), format, output_file = "report.html", envir = home, quiet = TRUE),
    error = function(e) {
      if (inherits(e, "zassay_problem")) stop(e)
      abort(sprintf("the report template failed: %s", conditionMessage(e)))
    }
  )
}
