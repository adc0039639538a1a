# One verb per kind of figure; everything it draws comes from the study's figures.yaml and the data.

#' Stacked bars from zero, the source beside us, and the source's chart as first drawn.
figure_stacked <- function(study, item) {
  stack <- unlist(item$stack)
  runs <- run_values(study, c(stack, item$total), item$at)
  unit <- unit_of(study, item$total)
  ours <- stacked_plot(study, item, stacked_data(runs, stack, item), runs_points(runs, item),
                       block_summary(runs, item$total, c(item$x, item$facet)), "here", unit)
  plots <- list(ours = ours)
  if (!is.null(study$published)) plots <- c(list(published = stacked_published(study, item, stack, unit)), plots)
  if (!is.null(item$as_first_drawn)) plots$quotation <- as_first_drawn(study, item$as_first_drawn)
  widths <- c(published = 1, ours = 1.25, quotation = 0.42)[names(plots)]
  compose <- function(plots) {
    patchwork::wrap_plots(plots, widths = widths, guides = "collect") & theme(legend.position = "bottom")
  }
  new_figure(study, item, plots, compose, quotations = intersect("quotation", names(plots)), what = paste0(
    at_words(item$at), "bars: arithmetic means of runs; points: every run's total; ",
    "ranges: 95 % t interval of the total over blocks."
  ))
}

at_words <- function(at) if (length(at)) sprintf("%s; ", paste(names(at), unlist(at), collapse = ", ")) else ""

stacked_data <- function(runs, stack, item) {
  means <- runs[, lapply(.SD, mean), by = c(item$x, item$facet), .SDcols = stack]
  long <- data.table::melt(means, measure.vars = stack, variable.name = "part", variable.factor = FALSE)
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
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.06))) +
    labs(x = NULL, y = sprintf("time (%s)", unit), subtitle = title) + theme_zassay() + x_slanted()
  if (is.null(interval)) return(plot)
  plot + geom_linerange(data = interval[!is.na(lo)], aes(ymin = pmax(0, lo), ymax = hi), linewidth = 0.4)
}

stacked_published <- function(study, item, stack, unit) {
  wide <- published_wide(study, c(stack, item$total))
  long <- data.table::melt(wide, measure.vars = stack, variable.name = "part", variable.factor = FALSE)
  long[, part := factor(part, levels = rev(stack))]
  stacked_plot(study, item, long, wide, NULL, sprintf("published (%s)", study$claims$source$id), unit)
}

#' Ratio of drawn heights over ratio of values, for bars drawn from `base`.
lie_factor <- function(a, b, base) ((b - base) / (a - base)) / (b / a)

#' The source's bars on the source's axis: a quotation that says how much it exaggerates.
as_first_drawn <- function(study, quote) {
  wanted <- quote$metric
  bars <- study$published[metric == wanted]
  for (name in names(quote$at)) bars <- bars[as.character(bars[[name]]) == quote$at[[name]]]
  over <- setdiff(unlist(study$spec$published$factors), names(quote$at))[1]
  bars <- bars[match(unlist(quote$levels), as.character(bars[[over]]))]
  factor <- lie_factor(bars$value[1], bars$value[2], quote$base)
  ggplot(bars, aes(x = .data[[over]], y = value)) +
    geom_col(width = 0.7, fill = "grey75", colour = "grey40", linewidth = 0.2) +
    geom_point(shape = 5, size = 0.9, stroke = 0.3) +
    coord_cartesian(ylim = c(quote$base, max(bars$value) * 1.04), expand = FALSE, xlim = c(0.4, nrow(bars) + 0.6)) +
    labs(x = NULL, y = NULL, subtitle = sprintf("as first drawn,\nlie factor %.1f", factor)) +
    theme_zassay() + x_slanted()
}

#' What is gained (x) against what it costs (ratio of y to a reference level in the same block).
figure_cost <- function(study, item) {
  runs <- run_values(study, c(item$x, item$y), item$at)
  check_positive_runs(runs, c(item$x, item$y), study)
  boots <- runs[, .(x = exp(mean(log(get(item$x)))), y = mean(log(get(item$y)))),
                by = c("block", item$over, item$facet)]
  base <- boots[as.character(boots[[item$over]]) == item$reference, c("block", item$facet, "y"), with = FALSE]
  data.table::setnames(base, "y", "base")
  points <- boots[base, on = c("block", item$facet)][, ratio := exp(y - base)][!is.na(ratio)]
  by <- c(item$over, item$facet)
  summary <- block_summary(points, "ratio", by, log = TRUE)[points[, .(x = exp(mean(log(x)))), by = by], on = by]
  data.table::setnames(summary, "mean", "ratio")
  plot <- cost_plot(study, item, points, summary, published_cost(study, item))
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = paste0(
    at_words(item$at), "small: every block; large: geometric mean with 95 % t interval on logs over blocks; ",
    "grey: published."
  ))
}

check_positive_runs <- function(runs, metrics, study) {
  for (metric in metrics) {
    bad <- any(runs[[metric]] <= 0, na.rm = TRUE)
    if (bad) abort(sprintf("%s: metric %s has values <= 0, which have no ratio", study$data$path, metric))
  }
}

published_cost <- function(study, item) {
  if (is.null(study$published)) return(NULL)
  wide <- published_wide(study, c(item$x, item$y))
  base <- wide[as.character(wide[[item$over]]) == item$reference, c(item$facet, item$y), with = FALSE]
  data.table::setnames(base, item$y, "base")
  wide[base, on = item$facet][, c("x", "ratio") := .(get(item$x), get(item$y) / base)][]
}

in_path <- function(table, item) {
  keep <- as.character(table[[item$over]]) %in% unlist(item$path)
  table[keep][order(match(as.character(table[[item$over]])[keep], unlist(item$path)))]
}

cost_plot <- function(study, item, points, summary, published) {
  plot <- ggplot(points, aes(x = x, y = ratio)) + geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40")
  if (!is.null(published)) {
    plot <- plot + geom_path(data = in_path(published, item), colour = "grey60", linewidth = 0.4) +
      geom_point(data = published, colour = "grey50", shape = 5, size = 1.6, stroke = 0.4)
  }
  look <- aes(colour = .data[[item$over]], shape = .data[[item$over]])
  plot + geom_path(data = in_path(summary, item), linetype = "22", linewidth = 0.3, colour = "black") +
    geom_linerange(aes(ymin = lo, ymax = hi, colour = .data[[item$over]], linetype = "interval"),
                   data = summary[!is.na(lo)], linewidth = 0.4, show.legend = FALSE) +
    geom_point(look, size = 0.8, stroke = 0.3) + geom_point(look, data = summary, size = 2) +
    facet_wrap(vars(.data[[item$facet]])) + level_scales(study$levels[[item$over]], NULL) +
    scale_linetype_manual(values = c(interval = "solid"), guide = "none") + scale_x_log10() + scale_y_log10() +
    labs(x = label_of(study, item$x), y = sprintf("%s time, ratio to %s", label_of(study, item$y), item$reference)) +
    guides(colour = guide_legend(nrow = 2), shape = guide_legend(nrow = 2)) + theme_zassay()
}

#' A share between 0 and 1 by level, with the line that it cannot cross.
figure_share <- function(study, item) {
  runs <- run_values(study, c(item$metric, item$cap), item$at)
  by <- c(item$x, item$facet, item$colour)
  caps <- runs[, .(cap = mean(get(item$cap), na.rm = TRUE)), by = c(item$facet)][is.finite(cap)]
  caps[, label := sprintf("cap %.2f", cap)]
  titles <- function(value) paste0(label_of(study, item$facet), ": ", value)
  spread <- position_dodge(width = 0.55)
  look <- aes(colour = .data[[item$colour]], shape = .data[[item$colour]])
  plot <- ggplot(runs[!is.na(get(item$metric))], aes(x = .data[[item$x]], y = .data[[item$metric]])) +
    geom_hline(data = caps, aes(yintercept = cap), linetype = "22", linewidth = 0.4) +
    geom_text(data = caps, aes(x = 0.5, y = cap, label = label), hjust = 0, vjust = -0.4, size = text_size(),
              family = FONT) +
    geom_linerange(data = block_summary(runs, item$metric, by)[!is.na(lo)],
                   aes(y = mean, ymin = pmax(0, lo), ymax = hi, colour = .data[[item$colour]],
                       linetype = .data[[item$colour]]),
                   position = spread, linewidth = 0.4, show.legend = FALSE) +
    geom_point(look, position = spread, size = 1.1, stroke = 0.4) +
    facet_wrap(vars(.data[[item$facet]]), labeller = as_labeller(titles)) +
      level_scales(study$levels[[item$colour]], NULL) +
    scale_linetype_discrete(guide = "none") + scale_x_discrete(limits = study$levels[[item$x]]) +
      scale_y_continuous(limits = c(0, 1), oob = scales::squish, expand = expansion(mult = c(0, 0.02))) +
    labs(x = NULL, y = label_of(study, item$metric)) + theme_zassay() + x_slanted()
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = paste0(
    at_words(item$at), "points: every run; ranges: 95 % t interval over blocks; ",
    "dashed: threads / CPUs as counted in the kernel."
  ))
}
