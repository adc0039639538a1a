# GD, the design check: was the order random, does position matter, did blocks drift?

figure_design <- function(study, item) {
  runs <- run_values(study, item$metric, item$at)
  check_positive_runs(runs, item$metric, study)
  runs[, log_value := log(get(item$metric))]
  runs[, residual := exp(log_value - mean(log_value)), by = cell]
  metric <- label_of(study, item$metric)
  plots <- list(
    order = design_order(study, item, runs), position = design_position(study, item, runs, metric),
    blocks = design_blocks(study, item, runs, metric)
  )
  compose <- function(plots) {
    patchwork::wrap_plots(plots$order, plots$position, plots$blocks, design = "AA\nBC", guides = "collect") &
      theme(legend.position = "bottom")
  }
  new_figure(study, item, plots, compose, what = paste(
    "points: every run, as a ratio to the geometric mean of its cell;",
    "block means with 95 % t interval over the cells of the block (logs)."
  ))
}

design_order <- function(study, item, runs) {
  ggplot(unique(runs[, c("block", "position", item$colour), with = FALSE]),
         aes(x = position, y = factor(block), colour = .data[[item$colour]], shape = .data[[item$colour]])) +
    geom_point(size = 1.6, stroke = 0.5) + level_scales(study$levels[[item$colour]], NULL) +
    labs(x = "position in the block", y = "block", subtitle = "order of cells as run") +
    guides(colour = guide_legend(nrow = 1), shape = guide_legend(nrow = 1)) + theme_zassay()
}

design_position <- function(study, item, runs, metric) {
  ggplot(runs, aes(x = position, y = residual, colour = .data[[item$colour]], shape = .data[[item$colour]])) +
    geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
      geom_point(size = 1, stroke = 0.4, show.legend = FALSE) +
    level_scales(study$levels[[item$colour]], NULL) + scale_y_log10() +
    labs(x = "position in the block", y = sprintf("%s, ratio to cell mean", metric),
         subtitle = "residual against position") + theme_zassay()
}

design_blocks <- function(study, item, runs, metric) {
  means <- runs[, {
    s <- t_interval(log(residual))
    .(mean = exp(s$estimate), lo = exp(s$ci95[1]), hi = exp(s$ci95[2]))
  }, by = block]
  ggplot(runs, aes(x = factor(block), y = residual)) + geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
    geom_point(aes(colour = .data[[item$colour]], shape = .data[[item$colour]]), size = 1, stroke = 0.4,
               show.legend = FALSE,
               position = position_jitter(width = 0.15, height = 0, seed = 1)) +
    geom_pointrange(data = means[!is.na(lo)], aes(y = mean, ymin = lo, ymax = hi), size = 0.25, linewidth = 0.4) +
    level_scales(study$levels[[item$colour]], NULL) + scale_y_log10() +
    labs(x = "block", y = sprintf("%s, ratio to cell mean", metric), subtitle = "block means") + theme_zassay()
}
