# Figures to files: PDF, SVG and 600-dpi PNG, the same bytes on every run.

FIGURE_VERBS <- c(stacked = "figure_stacked", cost = "figure_cost", share = "figure_share", design = "figure_design",
                  forest = "figure_forest")

#' Draw the figures of a study.
#'
#' @param set "data" (needs the dataset only; writes lint.json), "claims" (needs verdicts.csv) or "all".
#' @return paths written.
draw_figures <- function(study, set = "all", out = file.path(study$dir, "figures"), only = NULL) {
  dir.create(out, recursive = TRUE, showWarnings = FALSE)
  items <- Filter(function(item) wanted_figure(item, set, only), study$spec$figures)
  figures <- lapply(items, function(item) get(FIGURE_VERBS[[item$kind]], mode = "function")(study, item))
  findings <- data.table::rbindlist(lapply(figures, lint_figure))
  stop_on_lint(findings)
  files <- unlist(lapply(figures, save_figure, out = out))
  if (set != "claims" && is.null(only)) files <- c(files, write_lint(study, findings, out))
  files
}

wanted_figure <- function(item, set, only) {
  of_claims <- item$kind == "forest"
  (set == "all" || (set == "claims") == of_claims) && (is.null(only) || item$id %in% only)
}

#' lint.json holds the findings on figures drawn from data; figures of claims come later and have no bars.
write_lint <- function(study, findings, out) {
  path <- file.path(out, "lint.json")
  kept <- findings[!grepl("^GA", figure)]
  jsonlite::write_json(list(study = study$spec$study, data_sha256 = study$data$sha256, findings = kept), path,
                       auto_unbox = TRUE, pretty = TRUE, na = "null", digits = 10)
  path
}

save_figure <- function(figure, out) {
  inches <- figure$size_mm / 25.4
  picture <- assemble(figure)
  base <- file.path(out, figure$id)
  draw <- function(open, path, ...) {
    open(path, ...)
    on.exit(grDevices::dev.off())
    print(picture)
  }
  draw(svglite::svglite, paste0(base, ".svg"), width = inches[1], height = inches[2])
  draw(grDevices::cairo_pdf, paste0(base, ".pdf"), width = inches[1], height = inches[2])
  fix_pdf_dates(paste0(base, ".pdf"))
  draw(ragg::agg_png, paste0(base, ".png"), width = inches[1], height = inches[2], units = "in", res = 600)
  write_caption(figure, base)
}

#' The caption as text, so that the report can show it beside the picture without computing it.
write_caption <- function(figure, base) {
  jsonlite::write_json(list(id = figure$id, kind = figure$kind, title = figure$title, caption = figure$caption,
                            class = figure$class,
                            size_mm = figure$size_mm), paste0(base, ".json"), auto_unbox = TRUE, pretty = TRUE)
  paste0(base, c(".svg", ".pdf", ".png", ".json"))
}

#' Cairo writes the time of day; the same number of digits of a fixed time keeps every offset in the file right.
fix_pdf_dates <- function(path) {
  bytes <- readBin(path, "raw", file.size(path))
  text <- rawToChar(replace(bytes, bytes == 0, as.raw(1)))
  spots <- gregexpr("/(CreationDate|ModDate) \\(D:[0-9]{14}", text, useBytes = TRUE)[[1]]
  if (spots[1] < 0) return(invisible())
  ends <- spots + attr(spots, "match.length") - 1L
  fixed <- charToRaw("20000101000000")
  for (end in ends) bytes[(end - 13L):end] <- fixed
  writeBin(bytes, path)
}
