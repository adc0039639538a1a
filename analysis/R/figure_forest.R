# GA, the claims forest: every claim a row, also those that cannot be decided here.

GLYPHS <- c(
  "REPLICATED" = "\u2713", "NOT REPLICATED" = "\u2717", "INCONCLUSIVE" = "?", "NOT TESTABLE HERE" = "\u2013",
  "EFFECT FOUND" = "\u2191", "EQUIVALENT" = "=", "EXPLORATORY" = "\u00b7"
)
VERDICT_COLOURS <- c(
  "REPLICATED" = "#009E73", "NOT REPLICATED" = "#D55E00", "INCONCLUSIVE" = "#0072B2", "NOT TESTABLE HERE" = "#7F7F7F",
  "EFFECT FOUND" = "#0072B2", "EQUIVALENT" = "#009E73", "EXPLORATORY" = "#7F7F7F"
)
VERDICT_SHAPES <- c(
  "REPLICATED" = 16, "NOT REPLICATED" = 4, "INCONCLUSIVE" = 1, "NOT TESTABLE HERE" = 3, "EFFECT FOUND" = 17,
  "EQUIVALENT" = 15, "EXPLORATORY" = 8
)

#' Height in mm for n claims: rows of 8.5 mm, within the journal page.
forest_height <- function(n, most) min(most, 30 + 8.5 * n)

figure_forest <- function(study, item) {
  verdicts <- with_claim_rows(read_verdicts(study$dir))
  size <- c(unlist(item$size_mm)[1], forest_height(nrow(verdicts), unlist(item$size_mm)[2]))
  plots <- list(claims = shows_units(forest_words(verdicts), character()),
                ratios = forest_plot(verdicts, forest_marks(study, verdicts)),
                verdicts = shows_units(forest_verdicts(verdicts), character()))
  compose <- function(plots) patchwork::wrap_plots(plots, widths = c(1.15, 1, 1.05))
  new_figure(study, item, plots, compose, size_mm = size, what = paste(
    "dots: estimate with 95 % t interval over blocks, small points: each block (observed values for",
    "deterministic claims); open diamonds: published; shaded: equivalence margin; grey rows cannot be decided here.",
    "Effects without a ratio appear as text."
  ))
}

#' A row of the picture per claim, the first on top.
with_claim_rows <- function(verdicts) {
  data.table::set(verdicts, j = "row", value = factor(verdicts$claim, levels = rev(verdicts$claim)))[]
}

#' verdicts.csv with numbers as numbers.
read_verdicts <- function(study_dir) {
  path <- must_exist(file.path(study_dir, "verdicts.csv"), "verdicts", "made by: analysis/exec/estimate")
  table <- read_text_table(path)
  for (column in c("estimate", "lo", "hi", "published_effect", "n_blocks", "p_adj")) {
    data.table::set(table, j = column, value = as.numeric(table[[column]]))
  }
  table[]
}

row_text <- function(verdicts, label, limit) {
  shades <- ifelse(verdicts$verdict == "NOT TESTABLE HERE", "grey40", "black")
  ggplot(verdicts, aes(x = 0, y = row)) +
    geom_text(aes(label = label), hjust = 0, size = text_size(), family = FONT, lineheight = 0.9, colour = shades) +
    scale_x_continuous(limits = c(0, limit), expand = c(0, 0)) + theme_void(base_family = FONT) +
      theme(plot.margin = margin(0, 0, 0, 0))
}

forest_words <- function(verdicts) {
  wrapped <- vapply(verdicts$statement, function(s) paste(strwrap(s, 41), collapse = "\n"), "")
  ids <- ggplot(verdicts, aes(x = 0, y = row))
  ids + geom_text(aes(label = claim), hjust = 0, size = text_size(), family = FONT, fontface = "bold") +
    geom_text(aes(x = 0.19, label = wrapped), hjust = 0, size = text_size(), family = FONT, lineheight = 0.9,
              colour = ifelse(verdicts$verdict == "NOT TESTABLE HERE", "grey40", "black")) +
    scale_x_continuous(limits = c(0, 1), expand = c(0, 0)) + theme_void(base_family = FONT) +
      theme(plot.margin = margin(0, 0, 0, 0))
}

forest_verdicts <- function(verdicts) {
  state <- ifelse(nzchar(verdicts$detail), sprintf("%s (%s)", verdicts$verdict, verdicts$detail), verdicts$verdict)
  line <- function(name, text) ifelse(nzchar(text), shorten(sprintf("\n%s %s", name, text), 44), "")
  label <- paste0(GLYPHS[verdicts$verdict], " ", state, line("ours", verdicts$ours),
                  line("published", verdicts$published))
  row_text(verdicts, label, 1)
}

#' All marks of the ratios of one study's claims.
forest_marks <- function(study, verdicts) {
  ratio_scale <- vapply(verdicts$claim, function(id) is_ratio(study$claims$claims[[id]]), TRUE)
  shown <- verdicts[(scale == "ratio" | scale == "observed range") & ratio_scale & !is.na(estimate) & estimate > 0]
  list(shown = shown[, .(row, verdict, estimate, lo, hi)], points = forest_points(study, verdicts),
       published = forest_published(study, verdicts), bands = forest_bands(study, verdicts))
}

#' Ratios on a log axis with a line at 1; only claims whose effect is a ratio have marks.
forest_plot <- function(verdicts, marks, edges = NULL) {
  nudge <- if (is.null(edges)) -0.22 else 0
  plot <- ggplot(verdicts, aes(y = row)) +
    geom_blank() + geom_vline(xintercept = 1, linewidth = 0.3, colour = "grey40") +
    geom_segment(data = marks$bands, aes(x = lo, xend = hi, yend = row), linewidth = if (is.null(edges)) 2.6 else 1.8,
                 colour = "grey85") +
    geom_point(data = marks$published, aes(x = value), shape = PUBLISHED_SHAPE, size = 1.5, stroke = 0.4,
               colour = PUBLISHED_COLOUR) +
    geom_point(data = marks$points, aes(x = value), size = 0.5, colour = "grey55",
               position = position_nudge(y = nudge)) +
    geom_linerange(data = with_range(marks$shown), aes(xmin = lo, xmax = hi, colour = verdict, linetype = "interval"),
                   linewidth = 0.5) +
    geom_point(data = marks$shown, aes(x = estimate, colour = verdict, shape = verdict), size = 1.6) +
    do.call(scale_x_log10, log_axis()) + scale_y_discrete(drop = FALSE) +
    scale_colour_manual(values = VERDICT_COLOURS, guide = "none") +
    scale_shape_manual(values = VERDICT_SHAPES, guide = "none") +
    scale_linetype_manual(values = c(interval = "solid"), guide = "none") +
    labs(x = "ratio", y = NULL) + theme_zassay() + no_y_labels()
  if (!is.null(edges)) plot <- plot + overview_lines(edges) + theme(panel.grid.major.y = element_blank())
  shows_units(plot, character())
}

#' The block contrasts (or observed values) behind each estimate that may be shown.
forest_points <- function(study, verdicts) {
  shown <- verdicts[verdict != "NOT TESTABLE HERE" & type != "lint", claim]
  found <- lapply(shown, function(id) {
    claim <- study$claims$claims[[id]]
    if (!is_ratio(claim)) return(NULL)
    item <- prepare_claim_data(study$data, claim, length(study$data$blocks), NULL)
    value <- if (length(item$links)) exp(item$links[[deciding_link_of(claim, item)]]$d) else predicate_values(item)
    if (length(value)) data.table::data.table(claim = id, row = factor(id, levels = levels(verdicts$row)),
                                              value = unname(value))
  })
  out <- data.table::rbindlist(found)
  if (nrow(out)) out[value > 0] else no_marks(verdicts)
}

#' A table of marks without a row, with the claims as levels.
no_marks <- function(verdicts) {
  none <- factor(character(), levels = levels(verdicts$row))
  data.table::data.table(claim = character(), row = none, value = numeric(), lo = numeric(), hi = numeric())
}

#' Is a claim's number a ratio? A predicate is one when everything it requires is on the log scale.
is_ratio <- function(claim) {
  scales <- vapply(claim$estimator$require, function(need) or_else(need$scale, claim$estimator$scale), "")
  all(c(if (!length(scales)) claim$estimator$scale, scales) == "log") && claim$type != "lint"
}

predicate_values <- function(item) {
  if (nrow(unique(item$units[, .(id, part)])) == 1L) item$units$value else numeric()
}

deciding_link_of <- function(claim, item) {
  if (length(item$links) == 1L || item$n < 2L) return(1L)
  deciding_link(claim, link_statistics(item))
}

#' Published effects; a claim of several links has one diamond per link.
forest_published <- function(study, verdicts) {
  rows <- lapply(verdicts$claim, function(id) {
    claim <- study$claims$claims[[id]]
    value <- unlist(claim$published_effect)
    if (!is_ratio(claim) || is.null(value)) return(NULL)
    data.table::data.table(claim = id, row = factor(id, levels = levels(verdicts$row)), value = value)
  })
  out <- data.table::rbindlist(rows)
  # A source may print no effect at all, and data from outside have none.
  if (nrow(out)) out[value > 0] else no_marks(verdicts)
}

forest_bands <- function(study, verdicts) {
  rows <- lapply(verdicts$claim, function(id) {
    claim <- study$claims$claims[[id]]
    if (claim$type != "eq" || claim$estimator$scale != "log") return(NULL)
    data.table::data.table(row = factor(id, levels = levels(verdicts$row)), lo = claim$null_value / claim$margin,
                           hi = claim$null_value * claim$margin)
  })
  out <- data.table::rbindlist(rows)
  if (nrow(out)) out else no_marks(verdicts)
}
