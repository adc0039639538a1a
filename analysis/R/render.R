# Figures to files: PDF, SVG and 600-dpi PNG, the same bytes on every run.

#' Draw one figure; what this campaign did not measure becomes a note.
draw_figure <- function(study, item) {
  verb <- get(paste0("figure_", item$kind), mode = "function")
  tryCatch(verb(study, item), zassay_absent = function(e) note_figure(study, item, conditionMessage(e)))
}

#' Draw the figures of a study.
#'
#' @param set "data" (needs the dataset only; writes lint.json), "claims" (needs verdicts.csv) or "all".
#' @return paths written.
draw_figures <- function(study, set = "all", out = file.path(study$dir, "figures"), only = NULL) {
  dir.create(out, recursive = TRUE, showWarnings = FALSE)
  items <- Filter(function(item) wanted_figure(item, set, only), study$spec$figures)
  figures <- lapply(items, function(item) draw_figure(study, item))
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

#' One layout for the three files: the picture is laid out once, on the device that measures text best.
save_figure <- function(figure, out) {
  inches <- figure$size_mm / 25.4
  base <- file.path(out, figure$id)
  path <- function(kind) paste0(base, ".", kind)
  ragg::agg_png(path("png"), width = inches[1], height = inches[2], units = "in", res = 600)
  picture <- on_device(patchwork::patchworkGrob(assemble(figure)))
  svglite::svglite(path("svg"), width = inches[1], height = inches[2])
  on_device(picture)
  grDevices::cairo_pdf(path("pdf"), width = inches[1], height = inches[2])
  on_device(picture)
  fix_pdf_dates(path("pdf"))
  write_caption(figure, base)
}

#' Draw on the open device, and close it whatever happens.
on_device <- function(picture) {
  on.exit(grDevices::dev.off())
  grid::grid.draw(picture)
  invisible(picture)
}

#' The caption as text, so that the report can show it beside the picture without computing it.
write_caption <- function(figure, base) {
  said <- list(id = figure$id, kind = figure$kind, title = figure$title, caption = figure$caption, class = figure$class,
               size_mm = figure$size_mm)
  if (!is.null(figure$absent)) said$absent <- figure$absent
  jsonlite::write_json(said, paste0(base, ".json"), auto_unbox = TRUE, pretty = TRUE)
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
