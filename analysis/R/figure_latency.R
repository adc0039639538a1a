# GC, service times: pooled cumulative shares on a log axis down to the rare ones, run-level percentiles on top of them,
# and, where histograms were taken along the way, how they moved in time.

LEAST_BEYOND <- 30 # fewer operations beyond a percentile say nothing about it

figure_latency <- function(study, item) {
  counts <- read_latency(study, item)
  if (is.null(counts)) not_measured(sprintf("no latency histograms recorded (%s has no latency.csv of them)",
                                            basename(study$dir)))
  data.table::set(counts, j = "tint", value = combine_levels(study, counts, item$colour))
  points <- latency_percentiles(study, item, counts)
  shown <- shown_unit("s", rep(counts$bin_s, pmin(counts$count, 1)))
  plots <- list(cdf = latency_cdf(study, item, counts, points, shown))
  moving <- counts[is.finite(t_s)]
  if (nrow(moving)) plots$time <- latency_heat(study, item, moving, shown)
  compose <- function(plots) patchwork::wrap_plots(plots, nrow = 1, widths = c(1, 1.1)[seq_along(plots)])
  new_figure(study, item, plots, compose, what = paste(
    "curves: all operations pooled; small: every run; large: geometric mean of the runs' percentiles with 95 % t",
    "interval on logs over blocks (only where", LEAST_BEYOND, "operations lie beyond it).",
    if (nrow(moving)) "Right: share of the operations of each second, all runs." else "No histograms over time."
  ))
}

#' latency.csv of a study (docs/series.md) for the cells and operations of a figure; NULL when there is none.
read_latency <- function(study, item) {
  path <- file.path(study$dir, "latency.csv")
  if (!file.exists(path)) return(NULL)
  rows <- data.table::fread(path, colClasses = list(character = c("study", "cell", "op")), na.strings = "")
  absent <- setdiff(c("cell", "block", "run", "op", "bin_s", "count"), names(rows))
  if (length(absent)) abort(sprintf("%s: column \"%s\" is missing", path, absent[1]),
                            "its columns are in docs/series.md")
  rows <- rows[, !"study"] # it would hide our own variable of that name
  if (!"t_s" %in% names(rows)) rows[, t_s := NA_real_]
  cells <- figure_cells(study, item$at)
  rows <- rows[cell %in% cells & count > 0 & bin_s > 0]
  if (length(item$ops)) rows <- rows[op %in% unlist(item$ops)]
  if (nrow(rows)) with_factors(study, rows)
}

#' Percentiles that the dataset has per run, where enough operations lie beyond them.
latency_percentiles <- function(study, item, counts) {
  wanted <- unlist(item$percentiles)
  values <- long_values(study, item["at"], names(wanted))
  values[, tint := factor(combine_levels(study, values, item$colour), levels = levels(counts$tint))]
  values[, share := wanted[metric]]
  sizes <- counts[, .(n = sum(count)), by = .(cell, block, run)]
  values[sizes, on = c("cell", "block", "run"), nomatch = NULL][n * (1 - share) >= LEAST_BEYOND & value > 0]
}

#' 0.9, 0.99, 0.999 at equal distances: what is rare is what matters.
nines <- function() {
  scales::trans_new("nines", function(p) -log10(pmax(1 - p, 1e-9)), function(x) 1 - 10^-x,
                    breaks = function(...) c(0, 0.5, 0.9, 0.99, 0.999, 0.9999), domain = c(0, 1))
}

latency_cdf <- function(study, item, counts, points, shown) {
  curve <- counts[, .(count = sum(count)), by = .(tint, bin_s)][order(tint, bin_s)]
  curve[, share := cumsum(count) / sum(count), by = tint]
  curve <- curve[share < 1 - 1e-9]
  means <- block_summary(points, "value", c("tint", "share"), log = TRUE)
  unit <- shown$factor
  plot <- ggplot(curve, aes(x = bin_s / unit, y = share)) +
    geom_hline(yintercept = unlist(item$percentiles), linewidth = 0.25, colour = "grey80") +
    geom_step(aes(colour = tint, linetype = tint), linewidth = 0.45) +
    geom_point(data = points, aes(x = value / unit, colour = tint, shape = tint), size = 0.6, stroke = 0.3) +
    geom_linerange(data = with_range(means), aes(x = mean / unit, xmin = lo / unit, xmax = hi / unit, colour = tint,
                                                 linetype = tint),
                   linewidth = 0.6, orientation = "y", show.legend = FALSE) +
    geom_point(data = means, aes(x = mean / unit, colour = tint, shape = tint), size = 1.9) +
    level_scales(levels(counts$tint), NULL) + line_scale(levels(counts$tint)) +
    do.call(scale_x_log10, log_axis()) +
    scale_y_continuous(trans = nines(), limits = c(0, max(0.9995, curve$share)), labels = plain_shares) +
    labs(x = sprintf("service time (%s)", shown$name), y = "share at least as fast") + theme_zassay() +
    theme(legend.key.width = unit(6, "mm"), panel.grid.major.y = element_blank())
  shows_units(plot, shown$name)
}

plain_shares <- function(p) ifelse(is.na(p), "", format(p, drop0trailing = TRUE, scientific = FALSE, trim = TRUE))

#' Share of the operations of each second in each latency bin; columns of a second add up to 1.
latency_heat <- function(study, item, moving, shown) {
  steps <- 10
  moving <- data.table::copy(moving)[, bin := round(log10(bin_s / shown$factor) * steps) / steps]
  tiles <- moving[, .(count = sum(count)), by = .(tint, t_s, bin)]
  tiles[, share := count / sum(count), by = .(tint, t_s)]
  width <- min(diff(sort(unique(tiles$t_s))), 1)
  plot <- ggplot(tiles, aes(x = t_s + width / 2, y = bin, fill = share)) +
    geom_tile(width = width, height = 1 / steps) + facet_wrap(vars(tint), nrow = 1) +
    scale_fill_gradientn(name = "share", colours = viridisLite::viridis(64), limits = c(0, NA),
                         guide = guide_colourbar(barwidth = unit(25, "mm"), barheight = unit(2.5, "mm"),
                                                 title.vjust = 1)) +
    scale_x_continuous(expand = c(0, 0), breaks = scales::breaks_extended(4)) +
    scale_y_continuous(breaks = -6:6, labels = plain_numbers(10^(-6:6)), expand = c(0, 0), minor_breaks = NULL) +
    labs(x = "time in the run (s)", y = sprintf("service time (%s)", shown$name)) + theme_zassay() +
    theme(panel.grid.major = element_blank(), panel.spacing.x = unit(5, "mm"))
  shows_units(plot, c("s", shown$name))
}
