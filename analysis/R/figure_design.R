# GD, the design check: was the order random, does position matter, did blocks drift, did runs settle?

figure_design <- function(study, item) {
  runs <- run_values(study, item$metric, item$at)
  runs <- runs[!is.na(get(item$metric))]
  if (!nrow(runs)) not_measured(sprintf("no valid run of %s", item$metric))
  check_positive_runs(runs, item$metric, study)
  runs[, log_value := log(get(item$metric))]
  runs[, residual := exp(log_value - mean(log_value)), by = cell]
  runs[, tint := factor(get(item$colour), levels = intersect(study$levels[[item$colour]], get(item$colour)))]
  metric <- label_of(study, item$metric)
  look <- level_scales(levels(runs$tint), NULL, level_words(study, item$colour, levels(runs$tint)))
  plots <- list(order = design_order(runs, look), position = design_position(runs, metric, look),
                blocks = design_blocks(runs, metric, look))
  plots$trace <- design_trace(study, item)
  compose <- function(plots) {
    layout <- if (is.null(plots$trace)) "AA\nBC" else "AAA\nBCD"
    patchwork::wrap_plots(plots, design = layout, guides = "collect", heights = c(0.8, 1)) &
      legend_below()
  }
  new_figure(study, item, plots, compose, what = paste(
    "points: every run, as a ratio to the geometric mean of its cell; block means with 95 % t interval over the cells",
    "of the block (logs).", design_words(study, item, plots$trace)
  ))
}

design_words <- function(study, item, trace) {
  if (is.null(item$series)) return("")
  if (is.null(trace)) return(paste0(no_series(study), "."))
  "Trace: first run of the first cell in each of the first blocks; vertical: changes in mean or variance (3 log n)."
}

design_order <- function(runs, look) {
  blocks <- sort(unique(runs$block))
  plot <- ggplot(unique(runs[, .(block, position, tint)]), aes(x = position, y = block, colour = tint, shape = tint)) +
    geom_point(size = 1.4, stroke = 0.5) + look +
    scale_y_reverse(breaks = if (length(blocks) > 10) scales::breaks_extended(6) else blocks, minor_breaks = NULL) +
    labs(x = "position in the block", y = "block", subtitle = "order of cells as run") +
    guides(colour = guide_legend(nrow = 1), shape = guide_legend(nrow = 1)) + theme_zassay()
  shows_units(plot, character())
}

design_position <- function(runs, metric, look) {
  plot <- ggplot(runs, aes(x = position, y = residual, colour = tint, shape = tint)) +
    geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
    geom_point(size = 1, stroke = 0.4, show.legend = FALSE) + look + do.call(scale_y_log10, log_axis()) +
    labs(x = "position in the block", y = sprintf("%s, ratio to cell mean", metric),
         subtitle = "residual against position") + theme_zassay()
  shows_units(plot, character())
}

design_blocks <- function(runs, metric, look) {
  means <- runs[, {
    s <- t_interval(log(residual))
    .(mean = exp(s$estimate), lo = exp(s$ci95[1]), hi = exp(s$ci95[2]))
  }, by = block]
  plot <- ggplot(runs, aes(x = factor(block), y = residual)) +
    geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
    geom_point(aes(colour = tint, shape = tint), size = 1, stroke = 0.4, show.legend = FALSE,
               position = position_jitter(width = 0.15, height = 0, seed = 1)) +
    geom_pointrange(data = with_range(means), aes(y = mean, ymin = lo, ymax = hi), size = 0.25, linewidth = 0.4) +
    look + do.call(scale_y_log10, log_axis()) +
    labs(x = "block", y = sprintf("%s, ratio to cell mean", metric), subtitle = "block means") + theme_zassay()
  shows_units(plot, character())
}

#' One run per block, second by second, with its change points.
design_trace <- function(study, item, most = 3L) {
  if (is.null(item$series)) return(NULL)
  samples <- read_series(study, item$series$names, item$at, item$series$phase)
  if (is.null(samples)) return(NULL)
  first <- samples$cell[1]
  samples <- samples[cell == first & run == min(run) & block %in% utils::head(sort(unique(block)), most)]
  data.table::setorder(samples, block, t_s)
  shown <- shown_unit(samples$unit[1], samples$value)
  samples[, c("value", "panel") := .(value / shown$factor, sprintf("block %d", block))]
  changes <- samples[, .(t_s = t_s[trace_changes(value)]), by = panel]
  plot <- ggplot(samples, aes(x = t_s, y = value)) + geom_line(linewidth = 0.25, colour = "grey60") +
    geom_point(size = 0.4) +
    geom_vline(data = changes, aes(xintercept = t_s), linewidth = 0.4, linetype = "42", colour = OKABE[6]) +
    facet_wrap(vars(panel), ncol = 1) +
    scale_y_continuous(limits = c(0, NA), breaks = scales::breaks_extended(3), labels = plain_numbers) +
    labs(x = "time in the run (s)", subtitle = "within a run",
         y = with_unit(label_of(study, samples$series[1]), shown$name)) + theme_zassay()
  shows_units(plot, c("s", shown$name))
}

#' Samples after which a run changes; none in a run too short for two segments.
trace_changes <- function(value) if (length(value) >= 10L) changepoints(value) else integer()
