# Time series of a run, panels under one time axis: medians with their range over blocks, stacked shares, and spans.

#' series.csv of a study (docs/series.md), or NULL when the campaign recorded none.
series_table <- function(study, file = "series.csv") {
  path <- file.path(study$dir, file)
  if (!file.exists(path)) return(NULL)
  rows <- data.table::fread(path, colClasses = list(character = c("study", "cell", "series", "unit")), na.strings = "")
  absent <- setdiff(c("study", "cell", "block", "run", "t_s", "series", "value", "unit"), names(rows))
  if (length(absent)) abort(sprintf("%s: column \"%s\" is missing", path, absent[1]),
                            "its columns are in docs/series.md")
  rows[, !"study"] # it would hide our own variable of that name
}

no_series <- function(study) sprintf("no series recorded (%s has no series.csv of them)", basename(study$dir))

#' Samples of some series in the cells picked by `at`, factors as columns; NULL when there are none.
#'
#' @param phase keep the samples inside this span of each run, and count time from its start.
read_series <- function(study, names, at = NULL, phase = NULL) {
  table <- study_series(study)
  if (is.null(table)) return(NULL)
  wanted <- unlist(names)
  cells <- figure_cells(study, at)
  found <- table[cell %in% cells & series %in% wanted]
  if (!nrow(found)) return(NULL)
  if (length(phase)) found <- within_phase(found, table[series == paste0("phase_", phase)])
  with_factors(study, found)
}

#' Read once per study; a table of a million samples takes a while.
study_series <- function(study) {
  cache <- study$data$cache
  if (is.null(cache[["series"]])) cache[["series"]] <- list(series_table(study))
  cache[["series"]][[1]]
}

within_phase <- function(samples, spans) {
  spans <- spans[, .(start = min(t_s), end = max(t_s + value)), by = .(cell, block, run)]
  out <- samples[spans, on = c("cell", "block", "run"), nomatch = NULL]
  out[t_s >= start & t_s <= end][, t_s := t_s - start][, c("start", "end") := NULL][]
}

with_factors <- function(study, table) {
  at <- match(table$cell, study$data$cells$cell)
  for (factor in study$data$factors) {
    level <- study$data$cells[[paste0("f_", factor)]][at]
    data.table::set(table, j = factor, value = factor(level, levels = study$levels[[factor]]))
  }
  table
}

#' Median and 10 to 90 % range over runs, second by second.
series_summary <- function(samples, by) {
  samples[, .(median = stats::median(value), lo = stats::quantile(value, 0.1, names = FALSE),
              hi = stats::quantile(value, 0.9, names = FALSE), runs = .N), by = c(by, "t_s")]
}

figure_series <- function(study, item) {
  names <- unlist(lapply(item$panels, function(panel) unlist(panel$series)))
  samples <- read_series(study, c(names, unlist(item$mark)), item$at)
  if (is.null(samples)) not_measured(no_series(study))
  data.table::set(samples, j = "facet", value = combine_levels(study, samples, unlist(item$facet)))
  marks <- series_marks(samples, item$mark)
  panels <- Filter(function(panel) any(samples$series %in% unlist(panel$series)), item$panels)
  plots <- lapply(panels, function(panel) series_panel(study, item, panel, samples, marks))
  names(plots) <- sprintf("panel%d", seq_along(plots))
  end <- max(samples$t_s)
  for (i in seq_along(plots)) plots[[i]] <- plots[[i]] + series_axis(i == 1L, i == length(plots), end)
  heights <- vapply(panels, function(panel) as.numeric(or_else(panel$height, 1)), 0)
  lacking <- setdiff(names, samples$series)
  compose <- function(plots) patchwork::wrap_plots(plots, ncol = 1, heights = heights)
  new_figure(study, item, plots, compose, what = paste0(
    "samples of 1 s: medians with their 10 to 90 % range over blocks, so no 95 % t interval; areas: means; ",
    sprintf("spans: block %d; ", min(samples$block)), if (length(item$mark)) sprintf("vertical: %s; ", item$mark$label),
    if (length(lacking)) sprintf("not recorded: %s.", paste(lacking, collapse = ", ")) else "grey: every sample."
  ))
}

series_axis <- function(top, bottom, end) {
  list(
    scale_x_continuous(limits = c(0, end), expand = expansion(mult = c(0, 0.01))), theme_zassay(),
    theme(legend.position = "right", legend.justification = "left", panel.spacing.x = unit(4, "mm")),
    if (!top) theme(strip.text.x = element_blank()),
    if (bottom) labs(x = "time in the run (s)") else list(labs(x = NULL), theme(axis.text.x = element_blank()))
  )
}

#' When the median of one series first reaches the other: the moment the cache is full.
series_marks <- function(samples, mark) {
  if (is.null(mark)) return(NULL)
  level <- samples[series == mark$series, .(value = stats::median(value)), by = .(facet, t_s)]
  limit <- samples[series == mark$reaches, .(limit = stats::median(value)), by = facet]
  if (!nrow(level) || !nrow(limit)) return(NULL)
  level[limit, on = "facet"][value >= or_else(mark$share, 1) * limit, .(t_s = min(t_s)), by = facet]
}

series_panel <- function(study, item, panel, samples, marks) {
  own <- samples[series %in% unlist(panel$series)]
  own[, series := factor(series, levels = intersect(unlist(panel$series), series))]
  shown <- series_quantity(study, panel, own)
  if (or_else(panel$draw, "lines") != "spans") own[, value := value / shown$factor]
  drawn <- switch(or_else(panel$draw, "lines"), lines = series_lines(study, own), stack = series_stack(study, own),
                  spans = series_spans(study, own, max(samples$t_s)))
  plot <- drawn + series_mark_lines(marks) + facet_wrap(vars(facet), nrow = 1) + labs(y = wrap_label(shown$label))
  shows_units(plot, shown$unit)
}

series_mark_lines <- function(marks) {
  if (is.null(marks)) return(NULL)
  geom_vline(data = marks, aes(xintercept = t_s), linewidth = 0.4, linetype = "42", colour = OKABE[6])
}

series_quantity <- function(study, panel, own) {
  if (identical(panel$draw, "spans")) return(list(label = or_else(panel$label, ""), factor = 1, unit = ""))
  base <- unique(own$unit)
  if (length(base) > 1L) abort(sprintf("series.csv: %s share a panel but not a unit (%s)",
                                       paste(unlist(panel$series), collapse = ", "), paste(base, collapse = ", ")))
  shown <- shown_unit(base, own$value)
  list(label = with_unit(or_else(panel$label, label_of(study, as.character(own$series[1]))), shown$name),
       factor = shown$factor, unit = shown$name)
}

series_labels <- function(study, levels) vapply(levels, function(name) label_of(study, name), "")

series_lines <- function(study, own) {
  levels <- levels(own$series)
  summary <- series_summary(own, c("facet", "series"))
  words <- series_labels(study, levels)
  ggplot(summary, aes(x = t_s, y = median)) +
    geom_point(data = own, aes(y = value), size = 0.05, colour = "grey75") +
    geom_ribbon(aes(ymin = lo, ymax = hi, group = series), fill = "grey50", alpha = 0.25) +
    geom_line(aes(colour = series, linetype = series), linewidth = 0.4) +
    level_scales(levels, NULL, words) + line_scale(levels, labels = words) +
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.06)), labels = plain_numbers,
                       breaks = scales::breaks_extended(3))
}

series_stack <- function(study, own) {
  parts <- levels(own$series)
  means <- own[, .(value = mean(value)), by = .(facet, series, t_s)]
  totals <- own[, .(value = sum(value)), by = .(facet, t_s, block, run)]
  ggplot(means, aes(x = t_s, y = value)) +
    geom_area(aes(fill = factor(series, levels = rev(parts)))) +
    geom_point(data = totals, size = 0.05, colour = "grey25") + stack_fills(study, parts) +
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.04)), breaks = scales::breaks_extended(3))
}

#' Spans of one block, a row per kind: when each was open, and for how long.
series_spans <- function(study, own, end) {
  levels <- rev(levels(own$series))
  spans <- own[block == min(block) & run == min(run)]
  spans[, row := match(as.character(series), levels)]
  ggplot(spans) +
    geom_rect(aes(xmin = t_s, xmax = pmin(t_s + value, end), ymin = row - 0.4, ymax = row + 0.4, fill = series),
              colour = "white", linewidth = 0.1) +
    stack_fills(study, levels(own$series)) + guides(fill = "none") +
    scale_y_continuous(breaks = seq_along(levels), labels = series_labels(study, levels), limits = c(0.5, NA),
                       minor_breaks = NULL)
}
