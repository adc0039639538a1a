# Bars from zero, one column per metric, the source's bar above ours; beside them, if asked, the same on a log axis.

figure_bars <- function(study, item) {
  metrics <- unlist(item$metrics)
  by <- c("bar", "facet", "metric")
  runs <- check_one_cell(study, item, bar_keys(study, item, long_values(study, item, metrics)), by)
  printed <- bar_published(study, item, metrics, by)
  sheet <- bar_sheet(study, item, runs, printed)
  extremes <- bar_extremes(study, item, sheet)
  plots <- list(bars = bars_plot(sheet, extremes))
  if (isTRUE(item$log_panel)) {
    plots$bars <- plots$bars + theme(strip.text.y = element_blank())
    plots$points <- bars_log_plot(sheet)
  }
  widths <- if (is.null(item$ratio)) c(1, 1) else c(0.7, 1)
  compose <- function(plots) {
    patchwork::wrap_plots(plots, widths = widths[seq_along(plots)], guides = "collect") &
      legend_below()
  }
  new_figure(study, item, plots, compose, what = bar_words(study, item, printed))
}

bar_words <- function(study, item, printed) {
  ratio <- item$ratio
  what <- if (is.null(ratio)) "bars: means of blocks; circles: every run;" else sprintf(
    "bars: ratio to %s %s, geometric mean; circles: every block;", label_of(study, ratio$over), ratio$reference
  )
  ends <- if (length(item$points)) sprintf(" triangles: %s;", paste(vapply(unlist(item$points), function(name) {
    label_of(study, name)
  }, ""), collapse = ", "))
  paste0(what, ends, " ranges: 95 % t interval over blocks",
         if (is.null(printed)) "; the source prints no such number." else ".")
}

#' What is drawn where: `bar` names a row, `facet` a group of rows.
bar_keys <- function(study, item, table) {
  data.table::set(table, j = "bar", value = combine_levels(study, table, unlist(item$bars)))
  data.table::set(table, j = "facet", value = combine_levels(study, table, unlist(item$facet)))[]
}

bar_published <- function(study, item, metrics, by) {
  needs <- c(unlist(item$bars), unlist(item$facet))
  find <- if (is.null(item$ratio)) published_rows else published_ratio
  rows <- find(study, item, metrics, needs)
  if (is.null(rows) || !nrow(rows)) return(NULL)
  rows <- bar_keys(study, item, rows)
  check_one_each(study, rows, by)
  rows[, c("block", "run", "capped") := list(0L, 1L, FALSE)]
  rows[, c("bar", "facet", "metric", "block", "run", "value", "capped"), with = FALSE]
}

#' Everything on paper: rows numbered downwards, values in the unit of their column.
bar_sheet <- function(study, item, runs, printed) {
  log <- !is.null(item$ratio)
  by <- c("bar", "facet", "metric")
  all <- levels_in_order(study, item, runs, printed)
  metrics <- stats::setNames(nm = unlist(item$metrics))
  units <- lapply(metrics, function(name) bar_quantity(study, item, name, runs))
  lift <- if (is.null(printed)) 0 else 0.2
  place <- function(table, up) {
    if (is.null(table)) return(NULL)
    scale <- vapply(units, `[[`, 0, "factor")[as.character(table$metric)]
    for (column in intersect(c("value", "mean", "lo", "hi"), names(table))) {
      data.table::set(table, j = column, value = table[[column]] / scale)
    }
    table[, y := up - match(as.character(bar), all$bars)]
    table[, facet := factor(as.character(facet), levels = all$facets)]
    table[, metric := factor(vapply(units, `[[`, "", "label")[as.character(metric)],
                             levels = vapply(units, `[[`, "", "label"))][]
  }
  points <- data.table::copy(runs)
  points[, shift := beside(points, by, if (is.null(printed)) 0.5 else 0.28)]
  list(
    runs = place(points, -lift), means = place(block_means(runs, by, log), -lift),
    here = place(block_summary(runs, "value", by, log), -lift), logs = place(log_summary(runs, by), -lift),
    published = place(printed, lift), bars = all$bars, facets = all$facets, units = units, lift = lift,
    source = published_name(study),
    width = if (is.null(printed)) 0.7 else 0.38, ratio = log
  )
}

#' Geometric means for the log panel; a metric with a zero has none.
log_summary <- function(runs, by) {
  positive <- runs[, if (all(value > 0)) .SD, by = by]
  if (nrow(positive)) block_summary(positive, "value", by, log = TRUE) else block_summary(runs[0], "value", by)
}

bar_quantity <- function(study, item, name, runs) {
  if (!is.null(item$ratio)) return(list(label = or_else(item$ratio$label, "ratio"), factor = 1, unit = ""))
  quantity(study, name, runs[metric == name, value])
}

levels_in_order <- function(study, item, runs, printed) {
  both <- function(column) {
    ours <- levels(runs[[column]])
    theirs <- if (is.null(printed)) character() else levels(droplevels(printed[[column]]))
    merge_orders(ours, theirs, study, unlist(if (column == "bar") item$bars else item$facet))
  }
  list(bars = both("bar"), facets = both("facet"))
}

#' Names of rows that only the source has go where the study's order of levels puts them.
merge_orders <- function(ours, theirs, study, factors) {
  all <- union(ours, theirs)
  if (length(factors) != 1L || length(all) == length(ours)) return(all)
  order <- level_words(study, factors, study$levels[[factors]])
  all[order(match(all, order))]
}

#' Least and greatest of the parts behind a bar, such as the slowest and the fastest writer.
bar_extremes <- function(study, item, sheet) {
  if (!length(item$points)) return(NULL)
  parts <- unlist(item$points)
  runs <- bar_keys(study, item, long_values(study, item[c("at", "bars", "facet")], parts))
  unit <- sheet$units[[1]]
  runs[, c("part", "value") := list(factor(metric, levels = parts), value / unit$factor)]
  runs[, shift := beside(runs, c("bar", "facet", "part"), 0.5)]
  runs[, c("y", "metric") := list(-match(as.character(bar), sheet$bars) - sheet$lift, factor(unit$label))][]
}

bars_frame <- function(plot, sheet) {
  several <- length(sheet$units) > 1L
  plot <- plot + facet_rows(sheet$facets, names(sheet$units), scales = if (several) "free" else "free_y",
                            space = "free_y") +
    scale_y_continuous(breaks = -seq_along(sheet$bars), labels = sheet$bars, expand = expansion(add = 0.5),
                       minor_breaks = NULL) +
    labs(y = NULL, x = if (several) NULL else sheet$units[[1]]$label) + theme_zassay() +
    theme(panel.grid.major.y = element_blank())
  shows_units(plot, vapply(sheet$units, `[[`, "", "unit"))
}

bars_plot <- function(sheet, extremes) {
  fills <- stats::setNames(c("white", HERE_FILL), c(sheet$source, "here"))
  bar <- function(data, name, value) {
    if (is.null(data)) return(NULL)
    geom_col(data = data, aes(x = .data[[value]], y = y, fill = !!name), orientation = "y", width = sheet$width,
             colour = "grey20", linewidth = 0.2)
  }
  plot <- ggplot() + bar(sheet$published, sheet$source, "value") + bar(sheet$here, "here", "mean") +
    geom_point(data = sheet$runs[!(capped)], aes(x = value, y = y + shift), shape = 1, size = 0.6, stroke = 0.25,
               colour = "grey25") +
    geom_point(data = sheet$runs[(capped)], aes(x = value, y = y + shift), shape = CAPPED_SHAPE, size = 0.9,
               stroke = 0.3) +
    geom_linerange(data = with_range(sheet$here), aes(xmin = pmax(0, lo), xmax = hi, y = y), linewidth = 0.45) +
    extreme_points(extremes) +
    scale_fill_manual(name = NULL, values = fills, breaks = names(fills)) +
    scale_x_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.09)), breaks = inner_breaks(4),
                       labels = plain_numbers)
  plot <- bars_frame(plot, sheet)
  if (is.null(sheet$published)) plot + guides(fill = "none") else plot
}

extreme_points <- function(extremes) {
  if (is.null(extremes)) return(NULL)
  list(geom_point(data = extremes, aes(x = value, y = y + shift, shape = part), size = 1, stroke = 0.3, fill = "white",
                  show.legend = FALSE),
       scale_shape_manual(values = c(25, 24)))
}

#' The same numbers as points on a log axis, where 40 and 2458 can both be read; ratios get a line at 1.
bars_log_plot <- function(sheet) {
  plot <- ggplot()
  if (sheet$ratio) {
    plot <- plot + geom_vline(xintercept = 1, linewidth = 0.3, colour = "grey40")
  }
  plot <- plot +
    geom_point(data = sheet$runs[!(capped) & value > 0], aes(x = value, y = y + shift), shape = 1, size = 0.7,
               stroke = 0.3, colour = "grey40") +
    geom_point(data = sheet$runs[(capped) & value > 0], aes(x = value, y = y + shift), shape = CAPPED_SHAPE, size = 0.9,
               stroke = 0.3) +
    geom_point(data = sheet$means[value > 0], aes(x = value, y = y), shape = 16, size = 0.9, colour = "grey20") +
    geom_linerange(data = with_range(sheet$logs), aes(xmin = lo, xmax = hi, y = y), linewidth = 0.45) +
    geom_point(data = sheet$logs, aes(x = mean, y = y), shape = 18, size = 1.9) +
    published_points(sheet$published)
  bars_frame(plot + do.call(scale_x_log10, log_axis(3)), sheet) + no_y_labels()
}

published_points <- function(published) {
  if (is.null(published)) return(NULL)
  geom_point(data = published[value > 0], aes(x = value, y = y), shape = PUBLISHED_SHAPE, size = 1.5, stroke = 0.4,
             colour = PUBLISHED_COLOUR)
}
