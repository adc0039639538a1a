# What is gained against what it costs others: one point per block, means with both intervals, the front of the best.

figure_pareto <- function(study, item) {
  runs <- run_values(study, c(item$x, item$y), item$at)
  keys <- setdiff(study$data$factors, item$ratio$over)
  cost <- ratio_values(study, item$ratio, runs, item$y)
  gain <- long_values(study, item[c("at")], item$x)
  gain <- gain[value > 0, .(gain = exp(mean(log(value)))), by = c("block", study$data$factors)]
  if (!nrow(gain)) not_measured(sprintf("no %s above zero", item$x))
  points <- cost[gain, on = c("block", keys, item$ratio$over), nomatch = NULL]
  if (!nrow(points)) not_measured(sprintf("no block has both %s and %s", item$x, item$y))
  shown <- quantity(study, item$x, points$gain)
  points[, gain := gain / shown$factor]
  data.table::set(points, j = "facet", value = combine_levels(study, points, unlist(item$facet)))
  by <- c(item$colour, "facet")
  check_one_cell(study, item, points, by)
  plot <- pareto_plot(study, item, points, pareto_means(points, by), shown)
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = paste0(
    "small: every block; large: geometric means with 95 % t interval on logs over blocks; ",
    "grey steps: nothing is better in both (lower right is better)."
  ))
}

pareto_means <- function(points, by) {
  cost <- block_summary(points, "value", by, log = TRUE)
  gain <- block_summary(points, "gain", by, log = TRUE)
  data.table::setnames(gain, c("mean", "lo", "hi"), c("gain", "gain_lo", "gain_hi"))
  data.table::setnames(cost, "mean", "value")
  cost[gain[, !"blocks"], on = by]
}

#' Means that no other beats in both, from left to right.
pareto_front <- function(means) {
  means[, {
    order <- order(-gain, value)
    best <- value[order] <= cummin(value[order])
    .SD[order][best][order(gain)]
  }, by = facet]
}

pareto_plot <- function(study, item, points, means, shown) {
  seen <- intersect(study$levels[[item$colour]], as.character(points[[item$colour]]))
  words <- level_words(study, item$colour, seen)
  look <- aes(colour = .data[[item$colour]], shape = .data[[item$colour]])
  range <- aes(colour = .data[[item$colour]], linetype = "interval")
  plot <- ggplot(points, aes(x = gain, y = value)) +
    geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
    geom_step(data = pareto_front(means), direction = "vh", colour = "grey60", linewidth = 0.4) +
    geom_linerange(data = with_range(means), aes(ymin = lo, ymax = hi, !!!range), linewidth = 0.35) +
    geom_linerange(data = means[is.finite(gain_lo)], aes(xmin = gain_lo, xmax = gain_hi, !!!range), linewidth = 0.35,
                   orientation = "y") +
    geom_point(look, data = points[!(capped)], size = 0.8, stroke = 0.3) +
    geom_point(data = points[(capped)], shape = CAPPED_SHAPE, size = 1, stroke = 0.3) +
    geom_point(look, data = means, size = 2) +
    scale_linetype_manual(values = c(interval = "solid"), guide = "none") + level_scales(seen, NULL, words) +
    do.call(scale_x_log10, log_axis()) + do.call(scale_y_log10, log_axis()) +
    labs(x = shown$label, y = or_else(item$ratio$label, "ratio")) +
    guides(colour = guide_legend(nrow = 1 + (length(seen) > 4)), shape = guide_legend(nrow = 1 + (length(seen) > 4))) +
    theme_zassay()
  if (data.table::uniqueN(points$facet) > 1L) plot <- plot + facet_wrap(vars(facet))
  shows_units(plot, shown$unit)
}
