# GA over all studies: one line per claim, the whole campaign on one page.

OVERVIEW_SIZE_MM <- c(182, 240)

#' The forest of all studies.
#'
#' @param studies list of figure studies (read_figure_study), each with its verdicts.csv.
figure_overview <- function(studies) {
  parts <- lapply(studies, function(study) with_claim_rows(read_verdicts(study$dir)))
  all <- data.table::rbindlist(parts, fill = TRUE)
  all <- with_claim_rows(all[order(source_order(source), claim_order(claim))])
  marks <- Map(forest_marks, studies, parts)
  together <- function(name) {
    table <- data.table::rbindlist(lapply(marks, `[[`, name), fill = TRUE)
    data.table::set(table, j = "row", value = factor(as.character(table$row), levels = levels(all$row)))[]
  }
  edges <- overview_edges(all)
  plots <- list(claims = shows_units(overview_words(all, edges), character()),
                ratios = forest_plot(all, lapply(stats::setNames(nm = names(marks[[1]])), together), edges),
                verdicts = shows_units(overview_verdicts(all, edges), character()))
  compose <- function(plots) patchwork::wrap_plots(plots, widths = c(1.22, 0.85, 1.05))
  height <- max(55, min(OVERVIEW_SIZE_MM[2], 28 + 2.55 * nrow(all)))
  list(id = "GA", kind = "overview", title = "What the sources claim, and what became of it", plots = plots,
       compose = compose, quotations = character(), size_mm = c(OVERVIEW_SIZE_MM[1], height),
       class = lowest_class(vapply(studies, `[[`, "", "class")), caption = overview_caption(studies, all))
}

#' Lines between the sources.
overview_edges <- function(all) {
  n <- nrow(all)
  n - which(diff(source_order(all$source)) != 0) + 0.5
}

overview_caption <- function(studies, all) {
  blocks <- unlist(lapply(studies, function(s) length(s$data$blocks)))
  runs <- unlist(lapply(studies, function(s) max(s$data$rows$run)))
  classes <- unique(vapply(studies, `[[`, "", "class"))
  hashes <- vapply(studies, function(s) s$data$sha256, "")
  paste0(
    sprintf("n = %s \u00d7 %s per cell; ", span(blocks, "block"), span(as.integer(runs), "run")),
    "dots: estimate with 95 % t interval over blocks; small points: each block; open diamonds: published; ",
    "shaded: equivalence margin; grey rows cannot be decided here. ",
    paste(sprintf("Class %s (%s)", classes, CLASS_WORDS[classes]), collapse = ", "),
    sprintf("; data %s.", substr(digest::digest(unname(hashes), algo = "sha256"), 1, 12))
  )
}

row_shades <- function(verdicts) ifelse(verdicts$verdict == "NOT TESTABLE HERE", "grey40", "black")

overview_lines <- function(edges) {
  if (length(edges)) geom_hline(yintercept = edges, linewidth = 0.25, colour = "grey60")
}

overview_words <- function(all, edges) {
  ggplot(all, aes(x = 0, y = row)) + overview_lines(edges) +
    geom_text(aes(label = claim), hjust = 0, size = text_size(), family = FONT, fontface = "bold") +
    geom_text(aes(x = 0.16, label = shorten(statement, 45)), hjust = 0, size = text_size(), family = FONT,
              colour = row_shades(all)) +
    scale_x_continuous(limits = c(0, 1), expand = c(0, 0)) + scale_y_discrete(drop = FALSE) +
    theme_void(base_family = FONT) +
    theme(plot.margin = margin(0, 0, 0, 0))
}

#' A verdict and its detail in a word or two.
short_verdicts <- function(all) {
  known <- c("", "interval", "exploratory")
  word <- ifelse(all$detail %in% known, tolower(all$verdict), sprintf("%s (%s)", tolower(all$verdict), all$detail))
  word <- sub("^not replicated \\((contradicted|negligible)\\)$", "\\1", word)
  sub("^not testable here", "not testable", word)
}

#' Our number with its interval in three digits; what was observed, or else what was published, in words.
short_numbers <- function(all) {
  digits <- function(x) vapply(signif(x, 3), format, "", drop0trailing = TRUE)
  whole <- is.finite(all$estimate) & is.finite(all$lo) & is.finite(all$hi) & all$scale %in% c("ratio", "difference")
  said <- ifelse(nzchar(all$ours), all$ours, ifelse(nzchar(all$published), paste("published", all$published), ""))
  ifelse(whole, sprintf("%s [%s, %s]", digits(all$estimate), digits(all$lo), digits(all$hi)), said)
}

overview_verdicts <- function(all, edges) {
  shades <- row_shades(all)
  words <- function(at, label) {
    geom_text(aes(x = !!at, label = !!label), hjust = 0, size = text_size(), family = FONT, colour = shades)
  }
  ggplot(all, aes(x = 0, y = row)) + overview_lines(edges) + words(0.01, unname(GLYPHS[all$verdict])) +
    words(0.06, shorten(short_verdicts(all), 21)) + words(0.54, shorten(short_numbers(all), 20)) +
    scale_x_continuous(limits = c(0, 1), expand = c(0, 0)) + scale_y_discrete(drop = FALSE) +
    theme_void(base_family = FONT) +
    theme(plot.margin = margin(0, 0, 0, 0))
}

#' GA and GB over all studies of a results folder.
#'
#' @param campaigns named: label = results folder; the columns of GB. Only `results` itself when NULL.
#' @return paths written.
draw_overview <- function(results, studies_dir, out, schemas, names = NULL, campaigns = NULL) {
  found <- basename(dirname(Sys.glob(file.path(must_exist(results, "results folder"), "*", "verdicts.csv"))))
  for (name in setdiff(names, found)) abort_unknown("--studies", name, found)
  if (!is.null(names)) found <- names
  if (!length(found)) abort(sprintf("%s: no study with a verdicts.csv", results), "made by: analysis/exec/estimate")
  studies <- lapply(found, function(name) {
    asked <- file.path(studies_dir, name)
    read_figure_study(file.path(results, name), file.path(asked, "claims.yaml"), file.path(asked, "published.csv"),
                      schemas)
  })
  dir.create(out, recursive = TRUE, showWarnings = FALSE)
  figures <- list(figure_overview(studies), figure_matrix(or_else(campaigns, c(here = results)), found))
  stop_on_lint(data.table::rbindlist(lapply(figures, lint_figure)))
  unlist(lapply(figures, save_figure, out = out))
}

#' "a=x", "b=y" as a named vector.
named_words <- function(words, option) {
  if (is.null(words)) return(NULL)
  bad <- words[!grepl("^[^=]+=.+", words)][1]
  if (!is.na(bad)) abort(sprintf("%s: \"%s\"", option, bad), "expected LABEL=DIR")
  stats::setNames(sub("^[^=]+=", "", words), sub("=.*", "", words))
}
