# Two factors, each off and on: lines that are not parallel interact; beside them the effects as a forest on logs.

figure_interaction <- function(study, item) {
  metrics <- unlist(item$metrics)
  factors <- names(item$effects)
  if (length(factors) != 2L) abort(sprintf("figure %s: effects names %d factors", item$id, length(factors)),
                                   "expected two, each with its two levels")
  at <- c(lapply(item$effects, unlist), item$at)
  values <- interaction_keys(study, item, long_values(study, list(at = at), metrics))
  check_one_cell(study, item, values, c("metric", "facet", "tint", "a", "b"))
  for (name in metrics) check_positive_runs(values[metric == name], "value", study)
  printed <- interaction_published(study, item, metrics, factors, at)
  effects <- interaction_effects(values, item, "block")
  theirs <- if (!is.null(printed)) interaction_effects(printed, item, character())
  plots <- list(means = interaction_plot(study, item, values, printed),
                effects = effects_plot(study, item, effects, theirs))
  compose <- function(plots) {
    patchwork::wrap_plots(plots, widths = c(1.25, 1), guides = "collect") & legend_below()
  }
  new_figure(study, item, plots, compose, what = paste(
    "small: every run (left), every block (right); large: geometric means with 95 % t interval on logs over blocks;",
    "effect of each factor: with the other one off;", published_words(study, printed)
  ))
}

#' The two factors as numbers 0 and 1, the facet and the colour as words.
interaction_keys <- function(study, item, table) {
  for (i in 1:2) {
    name <- names(item$effects)[i]
    data.table::set(table, j = c("a", "b")[i],
                    value = match(as.character(table[[name]]), unlist(item$effects[[i]])) - 1L)
  }
  data.table::set(table, j = "facet", value = combine_levels(study, table, unlist(item$facet)))
  data.table::set(table, j = "tint", value = combine_levels(study, table, unlist(item$colour)))[]
}

interaction_published <- function(study, item, metrics, factors, at) {
  pinned <- item
  pinned$at <- at[setdiff(names(at), names(item$published_at))]
  pinned$published_at <- c(item$published_at, pinned$at)
  needs <- c(factors, unlist(item$facet), unlist(item$colour))
  rows <- published_rows(study, pinned, metrics, needs)
  if (is.null(rows) || !nrow(rows)) return(NULL)
  interaction_keys(study, item, rows)[!is.na(a) & !is.na(b)]
}

#' Simple effects and their interaction, per block, as log ratios; a cell that is missing leaves its effects out.
interaction_effects <- function(values, item, unit) {
  by <- c("metric", "facet", "tint", unit)
  cells <- values[, .(y = mean(log(value))), by = c(by, "a", "b")]
  words <- effect_words(names(item$effects))
  pick <- function(y, a, b, i, j) if (any(a == i & b == j)) y[a == i & b == j] else NA_real_
  out <- cells[, {
    y00 <- pick(y, a, b, 0, 0)
    y10 <- pick(y, a, b, 1, 0)
    y01 <- pick(y, a, b, 0, 1)
    y11 <- pick(y, a, b, 1, 1)
    .(effect = factor(words, levels = words), value = c(y10 - y00, y01 - y00, y11 - y10 - y01 + y00))
  }, by = by]
  out[!is.na(value)][, value := exp(value)][]
}

effect_words <- function(factors) c(factors, "interaction")

interaction_plot <- function(study, item, values, printed) {
  metrics <- unlist(item$metrics)
  units <- lapply(stats::setNames(nm = metrics), function(name) {
    quantity(study, name, values[metric == name, value])
  })
  labels <- vapply(units, `[[`, "", "label")
  label <- function(table) table[, metric := factor(labels[metric], levels = labels)]
  scaled <- function(table) {
    out <- data.table::copy(table)
    out[, value := value / vapply(units, `[[`, 0, "factor")[metric]]
    label(out)[]
  }
  runs <- scaled(values)
  by <- c("metric", "facet", "tint", "a", "b")
  means <- block_summary(runs, "value", by, log = TRUE)
  theirs <- if (!is.null(printed)) scaled(printed)
  second <- names(item$effects)[2]
  ticks <- unlist(item$effects[[second]])
  first <- names(item$effects)[1]
  lines <- stats::setNames(c("22", "solid"), c("0", "1"))
  plot <- ggplot(runs, aes(x = b + (match(tint, levels(runs$tint)) - 1.5) * 0.07, y = value)) +
    interaction_lines(theirs, PUBLISHED_COLOUR) + interaction_means(means, runs) +
    geom_point(aes(colour = tint, shape = tint), size = 0.6, stroke = 0.3, alpha = 0.6) +
    facet_grid(rows = vars(metric), cols = vars(facet), scales = "free_y",
               labeller = labeller(metric = stacked_words)) +
    scale_linetype_manual(name = label_of(study, first), values = lines, labels = unlist(item$effects[[first]]))
  plot <- plot + level_scales(levels(runs$tint), NULL) + do.call(scale_y_log10, log_axis(3)) +
    scale_x_continuous(breaks = 0:1, labels = ticks, limits = c(-0.3, 1.3), minor_breaks = NULL) +
    labs(x = label_of(study, second), y = NULL) + theme_zassay() +
    theme(strip.text.y = element_text(angle = 0), legend.key.width = unit(6, "mm"))
  shows_units(plot, vapply(units, `[[`, "", "unit"))
}

#' One word per line, for a strip that is read from left to right.
stacked_words <- function(label) gsub(" ", "\n", label)

interaction_means <- function(means, runs) {
  shift <- function(tint) (match(tint, levels(runs$tint)) - 1.5) * 0.07
  ends <- means[, if (.N == 2L) .(from = mean[b == 0], to = mean[b == 1]), by = .(metric, facet, tint, a)]
  list(
    geom_segment(data = ends, aes(x = shift(tint), xend = 1 + shift(tint), y = from, yend = to, colour = tint,
                                  linetype = factor(a)), linewidth = 0.4),
    geom_linerange(data = with_range(means), aes(x = b + shift(tint), y = mean, ymin = lo, ymax = hi, colour = tint,
                                                 linetype = factor(1)), linewidth = 0.4, show.legend = FALSE),
    geom_point(data = means, aes(x = b + shift(tint), y = mean, colour = tint, shape = tint), size = 1.7)
  )
}

interaction_lines <- function(printed, colour) {
  if (is.null(printed)) return(NULL)
  ends <- printed[, if (.N == 2L) .(from = value[b == 0], to = value[b == 1]), by = .(metric, facet, tint, a)]
  ends <- unique(ends, by = c("metric", "facet", "a"))
  list(
    geom_segment(data = ends, aes(x = 0, xend = 1, y = from, yend = to, linetype = factor(a)), linewidth = 0.3,
                 colour = "grey60", show.legend = FALSE),
    geom_point(data = printed, aes(x = b, y = value), shape = PUBLISHED_SHAPE, size = 1.3, stroke = 0.4,
               colour = colour)
  )
}

effects_plot <- function(study, item, effects, theirs) {
  metrics <- unlist(item$metrics)
  named <- function(table) {
    table[, metric := factor(vapply(metric, function(m) label_of(study, m), ""),
                             levels = vapply(metrics, function(m) label_of(study, m), ""))]
    table[, y := -as.integer(effect)][]
  }
  effects <- named(effects)
  tints <- levels(effects$tint)
  effects[, y := y + (match(as.character(tint), tints) - (length(tints) + 1) / 2) * -0.3]
  by <- c("metric", "facet", "tint", "effect", "y")
  means <- block_summary(effects, "value", by, log = TRUE)
  words <- vapply(effect_words(names(item$effects)), function(name) label_of(study, name), "")
  plot <- ggplot(effects, aes(x = value, y = y)) + geom_vline(xintercept = 1, linewidth = 0.3, colour = "grey40")
  if (!is.null(theirs)) plot <- plot + geom_point(data = unique(named(theirs), by = c("metric", "facet", "effect")),
                                                  shape = PUBLISHED_SHAPE, size = 1.5, stroke = 0.4,
                                                  colour = PUBLISHED_COLOUR)
  shown <- plot + geom_point(aes(colour = tint, shape = tint), size = 0.5, stroke = 0.3, alpha = 0.6) +
    geom_linerange(data = with_range(means), aes(x = mean, xmin = lo, xmax = hi, colour = tint, linetype = "interval"),
                   linewidth = 0.4, orientation = "y", show.legend = FALSE) +
    geom_point(data = means, aes(x = mean, colour = tint, shape = tint), size = 1.5) +
    facet_grid(rows = vars(metric), cols = vars(facet)) + level_scales(tints, NULL) +
    scale_linetype_manual(values = c(interval = "solid"), guide = "none") + do.call(scale_x_log10, log_axis()) +
    scale_y_continuous(breaks = -seq_along(words), labels = words, expand = expansion(add = 0.6), minor_breaks = NULL) +
    labs(x = "effect, as a ratio", y = NULL) + theme_zassay() + theme(strip.text.y = element_blank()) +
    guides(colour = "none", shape = "none")
  shows_units(shown, character())
}
