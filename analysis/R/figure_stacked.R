# Stacked bars from zero, the source beside us, and the source's chart as first drawn.

figure_stacked <- function(study, item) {
  stack <- unlist(item$stack)
  runs <- run_values(study, c(stack, item$total), item$at)
  unit <- unit_of(study, item$total)
  ours <- stacked_plot(study, item, stacked_data(runs, stack, item), runs_points(runs, item),
                       block_summary(runs, item$total, c(item$x, item$facet)), "here", unit)
  plots <- list(ours = ours)
  published <- stacked_published(study, item, stack, unit)
  if (!is.null(published)) plots <- c(list(published = published), plots)
  if (!is.null(item$as_first_drawn)) plots$quotation <- as_first_drawn(study, item, item$as_first_drawn, unit)
  widths <- c(published = 1, ours = 1.25, quotation = 0.42)[names(plots)]
  compose <- function(plots) {
    patchwork::wrap_plots(plots, widths = widths, guides = "collect") & legend_below()
  }
  new_figure(study, item, plots, compose, quotations = intersect("quotation", names(plots)), what = paste(
    "bars: arithmetic means of runs; points: every run's total;",
    "ranges: 95 % t interval of the total over blocks."
  ))
}

stacked_data <- function(runs, stack, item) {
  means <- runs[, lapply(.SD, mean), by = c(item$x, item$facet), .SDcols = stack]
  stack_long(means, stack)
}

stack_long <- function(wide, stack) {
  long <- data.table::melt(wide, measure.vars = stack, variable.name = "part", variable.factor = FALSE)
  long[, part := factor(part, levels = rev(stack))][]
}

runs_points <- function(runs, item) runs[!is.na(get(item$total)), c(item$x, item$facet, item$total), with = FALSE]

stacked_plot <- function(study, item, bars, points, interval, title, unit) {
  labels <- function(part) vapply(as.character(part), function(p) label_of(study, p), "")
  plot <- ggplot(bars, aes(x = .data[[item$x]])) +
    geom_col(aes(y = value, fill = part), width = 0.75, colour = "grey20", linewidth = 0.2) +
    geom_point(data = points, aes(y = .data[[item$total]]), shape = 1, size = 0.9, stroke = 0.3,
               position = position_jitter(width = 0.12, height = 0, seed = 1)) +
    facet_wrap(vars(.data[[item$facet]])) +
    scale_fill_manual(name = NULL, values = c("#56B4E9", "#004C7A"), breaks = levels(bars$part), labels = labels,
                      drop = FALSE) +
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.06)), labels = plain_numbers) +
    labs(x = NULL, y = with_unit("time", unit), subtitle = title) + theme_zassay() + x_slanted()
  plot <- shows_units(plot, unit)
  if (is.null(interval)) return(plot)
  plot + geom_linerange(data = with_range(interval), aes(ymin = pmax(0, lo), ymax = hi), linewidth = 0.4)
}

stacked_published <- function(study, item, stack, unit) {
  wide <- published_wide(study, item, c(stack, item$total), c(item$x, item$facet))
  if (is.null(wide)) return(NULL)
  stacked_plot(study, item, stack_long(wide, stack), wide, NULL, published_name(study), unit)
}

#' Ratio of drawn heights over ratio of values, for bars drawn from `base`.
lie_factor <- function(a, b, base) ((b - base) / (a - base)) / (b / a)

#' The source's bars on the source's axis: a quotation that says how much it exaggerates.
as_first_drawn <- function(study, item, quote, unit) {
  over <- item$x
  bars <- published_rows(study, list(at = quote$at, published_at = c(quote$at, item$at)), quote$metric, over)
  bars <- bars[match(unlist(quote$levels), as.character(bars[[over]]))]
  factor <- lie_factor(bars$value[1], bars$value[2], quote$base)
  plot <- ggplot(bars, aes(x = .data[[over]], y = value)) +
    geom_col(width = 0.7, fill = "grey75", colour = "grey40", linewidth = 0.2) +
    geom_point(shape = PUBLISHED_SHAPE, size = 0.9, stroke = 0.3) +
    coord_cartesian(ylim = c(quote$base, max(bars$value) * 1.04), expand = FALSE, xlim = c(0.4, nrow(bars) + 0.6)) +
    labs(x = NULL, y = with_unit("time", unit), subtitle = sprintf("as first drawn,\nlie factor %.1f", factor)) +
    theme_zassay() + x_slanted()
  shows_units(plot, unit)
}
