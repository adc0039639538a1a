# What is gained (x) against what it costs (ratio of y to a reference level in the same block), as a path of levels.

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
    "small: every block; large: geometric mean with 95 % t interval on logs over blocks; ",
    "grey path: ", published_name(study), "."
  ))
}

published_cost <- function(study, item) {
  wide <- published_wide(study, item, c(item$x, item$y), c(item$over, item$facet))
  if (is.null(wide)) return(NULL)
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
      geom_point(data = published, colour = PUBLISHED_COLOUR, shape = PUBLISHED_SHAPE, size = 1.6, stroke = 0.4)
  }
  look <- aes(colour = .data[[item$over]], shape = .data[[item$over]])
  plot <- plot + geom_path(data = in_path(summary, item), linetype = "22", linewidth = 0.3, colour = "black") +
    geom_linerange(aes(ymin = lo, ymax = hi, colour = .data[[item$over]], linetype = "interval"),
                   data = with_range(summary), linewidth = 0.4, show.legend = FALSE) +
    geom_point(look, size = 0.8, stroke = 0.3) + geom_point(look, data = summary, size = 2) +
    facet_wrap(vars(.data[[item$facet]])) + level_scales(study$levels[[item$over]], NULL) +
    scale_linetype_manual(values = c(interval = "solid"), guide = "none") +
    do.call(scale_x_log10, log_axis()) + do.call(scale_y_log10, log_axis()) +
    labs(x = label_of(study, item$x), y = sprintf("%s time, ratio to %s", label_of(study, item$y), item$reference)) +
    guides(colour = guide_legend(nrow = 2), shape = guide_legend(nrow = 2)) + theme_zassay()
  shows_units(plot, character())
}
