# A heat map of ratios: every cell is cut into one strip per block, so that its spread shows, with its mean as text.

figure_heat <- function(study, item) {
  values <- long_values(study, item, item$metric)
  data.table::set(values, j = "facet", value = combine_levels(study, values, unlist(item$facet)))
  for (name in c(item$x, item$y)) check_factor_name(study, name)
  xs <- intersect(study$levels[[item$x]], as.character(values[[item$x]]))
  ys <- intersect(study$levels[[item$y]], as.character(values[[item$y]]))
  blocks <- length(study$data$blocks)
  place <- function(table) {
    table[, c("cx", "cy") := .(match(as.character(get(item$x)), xs), -match(as.character(get(item$y)), ys))]
  }
  strips <- place(values)[, left := cx - 0.5 + (block - 1) / blocks]
  by <- c("cx", "cy", "facet")
  check_one_cell(study, item, values, by)
  means <- block_summary(values, "value", by, log = TRUE)
  capped <- values[, .(capped = any(capped)), by = by]
  means <- means[capped, on = by]
  plot <- heat_plot(study, item, strips, means, xs, ys, 1 / blocks)
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = paste0(
    "strips: one per block; numbers: geometric means; \u2265: a run was cut off; lines below: 95 % t interval. ",
    "No cell: not measured."
  ))
}

heat_plot <- function(study, item, strips, means, xs, ys, width) {
  means[, text := heat_text(mean, lo, hi, capped)]
  middle <- mean(range(log(strips$value)))
  plot <- ggplot(strips) +
    geom_rect(aes(xmin = left, xmax = left + width, ymin = cy - 0.5, ymax = cy + 0.5, fill = value)) +
    geom_rect(data = means, aes(xmin = cx - 0.5, xmax = cx + 0.5, ymin = cy - 0.5, ymax = cy + 0.5), fill = NA,
              colour = "white", linewidth = 0.8) +
    geom_text(data = means, aes(x = cx, y = cy, label = text), size = text_size(), family = FONT, lineheight = 0.9,
              colour = ifelse(log(means$mean) < middle, "white", "black")) +
    facet_wrap(vars(facet), nrow = 1) +
    scale_fill_gradientn(name = or_else(item$ratio$label, "ratio"), colours = viridisLite::viridis(64), trans = "log10",
                         breaks = scales::breaks_log(5), labels = plain_numbers,
                         guide = guide_colourbar(barwidth = unit(40, "mm"), barheight = unit(2.5, "mm"),
                                                 title.vjust = 1)) +
    scale_x_continuous(breaks = seq_along(xs), labels = level_words(study, item$x, xs), expand = c(0, 0)) +
    scale_y_continuous(breaks = -seq_along(ys), labels = level_words(study, item$y, ys), expand = c(0, 0)) +
    labs(x = label_of(study, item$x), y = NULL) + theme_zassay() +
    theme(panel.grid.major = element_blank(), panel.background = element_rect(fill = "grey95"))
  shows_units(plot, character())
}

heat_text <- function(mean, lo, hi, capped) {
  show <- function(x) vapply(x, function(v) format(signif(v, 3), drop0trailing = TRUE), "")
  range <- ifelse(is.finite(lo), sprintf("\n%s to %s", show(lo), show(hi)), "")
  paste0(ifelse(capped, "\u2265 ", ""), show(mean), range)
}
