# A slope graph: from the reference level to the others, one line per block, the source's lines in panels beside ours.

figure_slope <- function(study, item) {
  needs <- c(item$over, item$colour)
  runs <- run_values(study, item$metric, item$at)
  check_positive_runs(runs, item$metric, study)
  boots <- runs[!is.na(get(item$metric)), .(value = exp(mean(log(get(item$metric)))), capped = any(capped)),
                by = c("block", study$data$factors)]
  ours <- slope_pairs(boots, item, setdiff(c("block", study$data$factors), item$over))
  if (!nrow(ours)) not_measured(sprintf("no block has both %s \"%s\" and another level of it", item$over,
                                        item$reference))
  lines <- slope_panels(study, item, ours, slope_published(study, item, needs))
  shown <- quantity(study, item$metric, lines$to)
  lines[, c("from", "to") := .(from / shown$factor, to / shown$factor)]
  plot <- slope_plot(study, item, lines, shown)
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = paste0(
    "one line per block, hence no 95 % t interval; log axis; triangles: cut off at the time limit (lower bounds); ",
    "left panels: ", published_name(study), "."
  ))
}

#' Each block's reference with its other levels, all other factors equal.
slope_pairs <- function(boots, item, keys) {
  is_base <- as.character(boots[[item$over]]) == item$reference
  base <- boots[is_base, c(keys, "value"), with = FALSE]
  data.table::setnames(base, "value", "from")
  pairs <- boots[!is_base][base, on = keys, nomatch = NULL]
  data.table::setnames(pairs, "value", "to")
  pairs
}

slope_published <- function(study, item, needs) {
  rows <- published_rows(study, item, item$metric, needs)
  if (is.null(rows) || !nrow(rows)) return(NULL)
  pairs <- pair_published(rows, item$over, item$reference, needs)
  data.table::setnames(pairs, c("value", "base"), c("to", "from"))
  pairs[, c("block", "capped") := list(0L, FALSE)][]
}

#' A panel per level and origin, the source's first.
slope_panels <- function(study, item, ours, printed) {
  columns <- c("block", "from", "to", "capped", item$over, item$colour)
  parts <- list(ours[, columns, with = FALSE][, origin := "here"])
  if (!is.null(printed)) parts <- c(parts, list(printed[, columns, with = FALSE][, origin := published_name(study)]))
  lines <- data.table::rbindlist(parts)
  words <- function(level, origin) paste0(level_words(study, item$over, level), ", ", origin)
  order <- unlist(lapply(setdiff(study$levels[[item$over]], item$reference), words,
                         origin = c(published_name(study), "here")))
  lines[, panel := factor(words(get(item$over), origin), levels = order)]
  lines[, panel := droplevels(panel)][]
}

slope_plot <- function(study, item, lines, shown) {
  seen <- intersect(study$levels[[item$colour]], as.character(lines[[item$colour]]))
  words <- level_words(study, item$colour, seen)
  tell <- aes(colour = .data[[item$colour]], linetype = .data[[item$colour]])
  dots <- aes(colour = .data[[item$colour]], shape = .data[[item$colour]])
  plot <- ggplot(lines) +
    geom_segment(aes(x = 1, xend = 2, y = from, yend = to, !!!tell), linewidth = 0.35) +
    geom_point(aes(x = 1, y = from, !!!dots), size = 1.3, stroke = 0.4) +
    geom_point(aes(x = 2, y = to, !!!dots), data = lines[!(capped)], size = 1.3, stroke = 0.4) +
    geom_point(aes(x = 2, y = to), data = lines[(capped)], shape = CAPPED_SHAPE, size = 1.5, stroke = 0.4) +
    facet_wrap(vars(panel), nrow = 1) + level_scales(seen, NULL, words) + line_scale(seen, labels = words) +
    scale_x_continuous(breaks = 1:2, labels = c(level_words(study, item$over, item$reference), "loaded"),
                       limits = c(0.75, 2.25), minor_breaks = NULL) +
    do.call(scale_y_log10, log_axis()) + labs(x = NULL, y = shown$label) +
    guides(colour = guide_legend(nrow = 1), shape = guide_legend(nrow = 1), linetype = guide_legend(nrow = 1)) +
    theme_zassay() + theme(legend.key.width = unit(7, "mm"))
  shows_units(plot, shown$unit)
}
