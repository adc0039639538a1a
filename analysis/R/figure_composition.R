# What the accesses of each run were made of: stacked counts from zero, one bar per run, every run's total as a point.

figure_composition <- function(study, item) {
  parts <- unlist(item$stack)
  runs <- runs_facet(study, item, run_values(study, parts, item$at))
  parts <- Filter(function(part) any(is.finite(runs[[part]])), parts)
  runs[, total := rowSums(.SD), .SDcols = parts]
  shown <- quantity(study, parts, runs$total, or_else(item$y_label, "accesses"))
  means <- stack_means(runs, parts, c("facet", "run"), shown$factor)
  interval <- block_summary(runs, "total", c("facet", "run"))
  plot <- ggplot(means, aes(x = run)) +
    geom_col(aes(y = value, fill = part), width = 0.75, colour = "grey20", linewidth = 0.2) +
    stack_points(runs, shown) +
    geom_linerange(data = with_range(interval), aes(ymin = pmax(0, lo) / shown$factor, ymax = hi / shown$factor),
                   linewidth = 0.45) +
    facet_wrap(vars(facet), nrow = 1) + stack_fills(study, parts) +
    scale_x_continuous(breaks = scales::breaks_width(1), minor_breaks = NULL) +
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.06)), labels = plain_numbers,
                       breaks = scales::breaks_extended(4)) +
    labs(x = "run", y = shown$label) + theme_zassay() + guides(fill = guide_legend(nrow = 1 + (length(parts) > 3)))
  new_figure(study, item, list(main = shows_units(plot, shown$unit)), function(plots) plots$main, what = paste(
    "bars: means over blocks; circles: every run's total; ranges: 95 % t interval of the total."
  ))
}
