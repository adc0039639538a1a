# The mechanism: if only misses cost time, the rate is D / (1 - h): a line through the origin, whose slope is D.

figure_mechanism <- function(study, item) {
  runs <- run_values(study, c(item$x, item$y), item$at)
  runs <- runs[is.finite(get(item$x)) & is.finite(get(item$y)) & get(item$x) < 1]
  if (!nrow(runs)) not_measured(sprintf("no run has both %s below 1 and %s", item$x, item$y))
  data.table::set(runs, j = "facet", value = combine_levels(study, runs, unlist(item$facet)))
  check_one_cell(study, item, runs, "facet")
  points <- runs[, .(block, run, facet, x = 1 / (1 - get(item$x)), y = get(item$y), panel = "here")]
  slopes <- mechanism_slopes(points)
  printed <- mechanism_published(study, item)
  if (!is.null(printed)) slopes <- rbind(mechanism_slope(printed, "facet"), slopes)
  plot <- mechanism_plot(study, item, points, printed, slopes)
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = paste(
    "points: every run; lines through the origin: D, the geometric mean of y/x, with 95 % t interval over blocks."
  ))
}

#' D per facet: the mean over blocks of each block's mean of log(y / x).
mechanism_slopes <- function(points) {
  ratio <- points[, .(block, facet, run, d = y / x)]
  out <- block_summary(ratio, "d", "facet", log = TRUE)
  out[, panel := "here"][]
}

mechanism_slope <- function(printed, by) {
  data.table::data.table(facet = NA, mean = exp(mean(log(printed$y / printed$x))), lo = NA_real_, hi = NA_real_,
                         blocks = 0L, panel = printed$panel[1])
}

mechanism_published <- function(study, item) {
  rows <- published_rows(study, item, c(item$x, item$y), "run")
  if (is.null(rows) || !nrow(rows)) return(NULL)
  wide <- data.table::dcast(rows, run ~ metric, value.var = "value")
  if (!all(c(item$x, item$y) %in% names(wide))) return(NULL)
  wide <- wide[is.finite(get(item$x)) & is.finite(get(item$y))]
  wide[, .(run, x = 1 / (1 - get(item$x)), y = get(item$y), panel = published_name(study))]
}

mechanism_plot <- function(study, item, points, printed, slopes) {
  order <- c(if (!is.null(printed)) printed$panel[1], "here")
  as_panel <- function(table) table[, panel := factor(panel, levels = order)]
  shown <- quantity(study, item$y, points$y)
  many <- nlevels(points$facet) > 1L
  slopes <- mechanism_words(as_panel(slopes))
  words <- levels(points$facet)
  if (many) words <- paste0(words, ": ", slopes[panel == "here"][match(words, as.character(facet)), text])
  inside <- if (many) slopes[panel != "here"] else slopes
  plot <- ggplot() +
    geom_abline(data = slopes, aes(slope = mean / shown$factor, intercept = 0, linetype = facet), linewidth = 0.4,
                show.legend = FALSE) +
    geom_point(data = as_panel(points), aes(x = x, y = y / shown$factor, colour = facet, shape = facet), size = 1.1,
               stroke = 0.4)
  if (!is.null(printed)) {
    plot <- plot + geom_point(data = as_panel(printed), aes(x = x, y = y / shown$factor), shape = PUBLISHED_SHAPE,
                              size = 1.6, stroke = 0.45, colour = PUBLISHED_COLOUR) +
      geom_text(data = printed, aes(x = x, y = y / shown$factor, label = run), size = text_size(), family = FONT,
                hjust = -0.9, vjust = 1)
  }
  plot <- plot + geom_text(data = inside, aes(x = -Inf, y = Inf, label = text), hjust = -0.05, vjust = 1.5,
                           size = text_size(), family = FONT) +
    facet_wrap(vars(panel), scales = "free", nrow = 1) + level_scales(levels(points$facet), NULL, words) +
    guides(colour = guide_legend(ncol = 1), shape = guide_legend(ncol = 1)) +
    line_scale(levels(points$facet)) +
    scale_x_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.14))) +
    scale_y_continuous(limits = c(0, NA), expand = expansion(mult = c(0, 0.22)), labels = plain_numbers) +
    labs(x = sprintf("1 / (1 \u2212 %s)", label_of(study, item$x)), y = shown$label) + theme_zassay()
  if (!many) plot <- plot + guides(colour = "none", shape = "none")
  shows_units(plot, shown$unit)
}

#' D with its interval, as a legend or a panel says it.
mechanism_words <- function(slopes) {
  number <- function(x) vapply(signif(x, 3), format, "")
  slopes[, text := sprintf("D = %s%s", number(mean),
                           ifelse(is.finite(lo), sprintf(" [%s, %s]", number(lo), number(hi)), ""))]
  slopes[is.na(facet), facet := levels(facet)[1]][]
}
