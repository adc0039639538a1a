# A share between 0 and 1 by level, with the line that it cannot cross; over time, where a series was recorded.

figure_share <- function(study, item) {
  caps <- share_caps(study, item)
  plots <- list(levels = share_levels(study, item, caps))
  track <- if (!is.null(item$series)) share_track(study, item, caps)
  if (!is.null(track)) plots <- list(track = track)
  said <- if (is.null(track)) {
    paste("points: every run; ranges: 95 % t interval over blocks;",
          if (!is.null(item$series)) paste0(no_series(study), ";"))
  } else {
    paste("medians over runs with their 10 to 90 % range second by second, so no 95 % t interval;",
          at_words(study, item$series$at))
  }
  new_figure(study, item, plots, function(plots) plots[[1]], what = paste(trimws(said), or_else(item$cap_words,
                                                                                    "dashed: the cap.")))
}

share_caps <- function(study, item) {
  runs <- run_values(study, item$cap, item$at)
  caps <- runs[, .(cap = mean(get(item$cap), na.rm = TRUE)), by = c(item$facet)][is.finite(cap)]
  caps[, label := sprintf("cap %.2f", cap)][]
}

share_titles <- function(study, item) {
  function(value) paste0(label_of(study, item$facet), ": ", level_words(study, item$facet, value))
}

share_axis <- function(study, item) {
  list(scale_y_continuous(limits = c(0, 1), oob = scales::squish, expand = expansion(mult = c(0, 0.02))),
       labs(x = NULL, y = label_of(study, item$metric)), theme_zassay())
}

share_levels <- function(study, item, caps) {
  runs <- run_values(study, c(item$metric, item$cap), item$at)
  by <- c(item$x, item$facet, item$colour)
  spread <- position_dodge(width = 0.55)
  look <- aes(colour = .data[[item$colour]], shape = .data[[item$colour]])
  levels <- study$levels[[item$colour]]
  plot <- ggplot(runs[!is.na(get(item$metric))], aes(x = .data[[item$x]], y = .data[[item$metric]])) +
    cap_lines(caps, 0.5) +
    geom_linerange(data = with_range(block_summary(runs, item$metric, by)),
                   aes(y = mean, ymin = pmax(0, lo), ymax = hi, colour = .data[[item$colour]],
                       linetype = .data[[item$colour]]),
                   position = spread, linewidth = 0.4, show.legend = FALSE) +
    geom_point(look, position = spread, size = 1.1, stroke = 0.4) +
    facet_wrap(vars(.data[[item$facet]]), labeller = as_labeller(share_titles(study, item))) +
    level_scales(levels, NULL) + line_scale(levels) + guides(linetype = "none") +
    scale_x_discrete(limits = study$levels[[item$x]]) + share_axis(study, item) + x_slanted()
  shows_units(plot, character())
}

cap_lines <- function(caps, at) {
  list(
    geom_hline(data = caps, aes(yintercept = cap), linetype = "22", linewidth = 0.4),
    geom_text(data = caps, aes(x = at, y = cap, label = label), hjust = 0, vjust = -0.4, size = text_size(),
              family = FONT)
  )
}

#' The share over time: the median over runs and its 10 to 90 % range, a line per level.
share_track <- function(study, item, caps) {
  wanted <- item$series
  samples <- read_series(study, wanted$names, wanted$at, unlist(wanted$phase))
  if (is.null(samples)) return(NULL)
  colour <- or_else(wanted$colour, item$colour)
  samples[, level := factor(as.character(get(colour)), levels = or_else(unlist(wanted$levels), study$levels[[colour]]))]
  samples <- samples[!is.na(level)]
  if (!nrow(samples)) return(NULL)
  summary <- series_summary(samples, c(item$facet, "level"))
  levels <- levels(droplevels(samples$level))
  plot <- ggplot(summary, aes(x = t_s, y = median)) + cap_lines(caps, 0) +
    geom_point(data = samples, aes(y = value), size = 0.1, colour = "grey70") +
    geom_ribbon(aes(ymin = lo, ymax = hi, group = level), fill = "grey50", alpha = 0.25) +
    geom_line(aes(colour = level, linetype = level), linewidth = 0.45) +
    facet_wrap(vars(.data[[item$facet]]), labeller = as_labeller(share_titles(study, item)), scales = "free_x") +
    level_scales(levels, NULL, level_words(study, colour, levels)) +
    line_scale(levels, labels = level_words(study, colour, levels)) + share_axis(study, item) + labs(x = "time (s)")
  shows_units(plot, "s")
}
