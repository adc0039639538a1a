# Runs one after another inside a boot: panels with a shared axis of run numbers, lines per block, stacks from zero.

figure_runs <- function(study, item) {
  plots <- lapply(item$panels, function(panel) {
    if (length(panel$stack)) runs_stack(study, item, panel) else runs_lines(study, item, panel)
  })
  names(plots) <- sprintf("panel%d", seq_along(plots))
  last <- max(run_values(study, item$panels[[1]]$metric, item$at)$run)
  for (i in seq_along(plots)) plots[[i]] <- plots[[i]] + runs_axis(i == 1L, i == length(plots), last)
  heights <- vapply(item$panels, function(panel) as.numeric(or_else(panel$height, 1)), 0)
  compose <- function(plots) patchwork::wrap_plots(plots, ncol = 1, heights = heights)
  new_figure(study, item, plots, compose, what = paste(
    "thin: every block; points: every run; thick: mean with 95 % t interval over blocks;",
    published_words(study, runs_published(study, item, item$panels[[1]]$metric)), bound_words(study, item)
  ))
}

runs_axis <- function(top, bottom, last) {
  list(
    scale_x_continuous(limits = c(0.55, last + 0.45), breaks = scales::breaks_width(1),
                       minor_breaks = NULL, expand = c(0, 0)),
    theme_zassay(), theme(legend.position = "right"),
    if (!top) theme(strip.text.x = element_blank()),
    if (bottom) labs(x = "run") else list(labs(x = NULL), theme(axis.text.x = element_blank()))
  )
}

runs_facet <- function(study, item, table) {
  data.table::set(table, j = "facet", value = combine_levels(study, table, unlist(item$facet)))
  if ("cell" %in% names(table)) check_one_cell(study, item, table, "facet")
  table[]
}

runs_published <- function(study, item, metric) {
  needs <- c(unlist(item$facet), "run")
  rows <- published_rows(study, item, metric, needs)
  if (is.null(rows) || !nrow(rows)) return(NULL)
  runs_facet(study, item, rows)
}

runs_lines <- function(study, item, panel) {
  values <- runs_facet(study, item, long_values(study, item["at"], panel$metric))
  shown <- quantity(study, panel$metric, values$value)
  values[, value := value / shown$factor]
  printed <- runs_published(study, item, panel$metric)
  if (!is.null(printed)) printed[, value := value / shown$factor]
  means <- block_summary(values, "value", c("facet", "run"))
  plot <- ggplot(values, aes(x = run, y = value)) + runs_bounds(study, item, panel) +
    geom_line(aes(group = paste(cell, block)), linewidth = 0.2, colour = "grey70") +
    geom_point(shape = 1, size = 0.8, stroke = 0.3, colour = "grey40") +
    geom_linerange(data = with_range(means), aes(y = mean, ymin = pmax(0, lo), ymax = hi), linewidth = 0.5) +
    geom_line(data = means, aes(y = mean), linewidth = 0.5) +
    facet_wrap(vars(facet), nrow = 1) + runs_limits(study, panel) + labs(y = wrap_label(shown$label))
  if (!is.null(printed)) plot <- plot + geom_point(data = printed, shape = PUBLISHED_SHAPE, size = 1.7, stroke = 0.5,
                                                   colour = PUBLISHED_COLOUR)
  shows_units(plot, shown$unit)
}

#' Shares keep their whole axis; other metrics start at zero.
runs_limits <- function(study, panel) {
  share <- base_unit(study, panel$metric) == "1"
  scale_y_continuous(limits = if (share) c(0, 1) else c(0, NA), expand = expansion(mult = c(0.02, 0.06)),
                     labels = plain_numbers, breaks = scales::breaks_extended(4))
}

wrap_label <- function(label) sub(" (", "\n(", label, fixed = TRUE)

#' Lines that the data cannot cross for a stated reason.
runs_bounds <- function(study, item, panel) {
  parts <- lapply(panel$bounds, function(bound) {
    values <- bound_values(study, item, bound)
    if (is.null(values)) return(NULL)
    values[, bound := bound$label]
  })
  lines <- data.table::rbindlist(parts)
  if (!nrow(lines)) return(NULL)
  words <- vapply(panel$bounds, `[[`, "", "label")
  list(
    geom_segment(data = lines, aes(x = run - 0.4, xend = run + 0.4, y = value, yend = value, linetype = bound),
                 colour = OKABE[5], linewidth = 0.5),
    scale_linetype_manual(name = NULL, values = stats::setNames(c("21", "solid", "44")[seq_along(words)], words))
  )
}

#' A metric's mean per run, or the replay bound: the accesses of the run before over those of this one, at most 1.
bound_values <- function(study, item, bound) {
  if (!is.null(bound$metric)) {
    runs <- runs_facet(study, item, long_values(study, item["at"], bound$metric))
    return(runs[, .(value = mean(value)), by = .(facet, run)])
  }
  counts <- unlist(bound$replay_of)
  runs <- runs_facet(study, item, run_values(study, counts, item$at))
  runs[, total := rowSums(.SD), .SDcols = counts]
  data.table::setorder(runs, cell, block, run)
  runs[, before := data.table::shift(total), by = .(cell, block)]
  out <- runs[!is.na(before) & total > 0, .(value = mean(pmin(1, before / total))), by = .(facet, run)]
  if (nrow(out)) out
}

bound_words <- function(study, item) {
  bounds <- unlist(lapply(item$panels, function(panel) vapply(panel$bounds, `[[`, "", "label")))
  if (length(bounds)) sprintf("Blue: %s.", paste(bounds, collapse = "; ")) else ""
}

#' Parts of a count as areas from zero, in order; the total of every run as a point.
runs_stack <- function(study, item, panel) {
  parts <- unlist(panel$stack)
  runs <- runs_facet(study, item, run_values(study, parts, item$at))
  runs[, total := rowSums(.SD), .SDcols = parts]
  shown <- quantity(study, parts, runs$total, or_else(panel$label, "count"))
  means <- stack_means(runs, parts, c("facet", "run"), shown$factor)
  plot <- ggplot(means, aes(x = run)) + geom_area(aes(y = value, fill = part), colour = "grey20", linewidth = 0.2) +
    stack_points(runs, shown) + facet_wrap(vars(facet), nrow = 1) + stack_fills(study, parts) +
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.06)), labels = plain_numbers,
                       breaks = scales::breaks_extended(4)) + labs(y = wrap_label(shown$label))
  shows_units(plot, shown$unit)
}

#' Means over blocks of the parts, first part at the bottom.
stack_means <- function(runs, parts, by, factor) {
  boots <- runs[, lapply(.SD, mean), by = c(by, "block"), .SDcols = parts]
  means <- boots[, lapply(.SD, mean), by = by, .SDcols = parts]
  long <- data.table::melt(means, measure.vars = parts, variable.name = "part", variable.factor = FALSE)
  long[, c("part", "value") := .(factor(part, levels = rev(parts)), value / factor)][]
}

stack_points <- function(runs, shown) {
  points <- runs[is.finite(total)]
  points[, shift := beside(points, c("facet", "run"), 0.3)]
  geom_point(data = points, aes(x = run + shift, y = total / shown$factor), shape = 1, size = 0.7, stroke = 0.3)
}

stack_fills <- function(study, parts) {
  scale_fill_manual(name = NULL, values = stats::setNames(STACK_FILLS[seq_along(parts)], parts), breaks = rev(parts),
                    labels = function(part) vapply(part, function(p) label_of(study, p), ""))
}
