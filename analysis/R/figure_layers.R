# Marks that all kinds share: runs as points, block means, intervals, published values, levels as words.

HERE_FILL <- "#56B4E9"
PUBLISHED_SHAPE <- 5
PUBLISHED_COLOUR <- "grey35"
CAPPED_SHAPE <- 2

#' How a level is called in a picture.
level_words <- function(study, factor, levels) {
  known <- study$spec$level_labels[[factor]]
  vapply(as.character(levels), function(level) or_else(known[[level]], level), "")
}

#' One ordered factor from several: the words of their levels side by side, only those that occur.
combine_levels <- function(study, table, factors) {
  if (!length(factors)) return(factor(rep("", nrow(table))))
  for (factor in factors) check_factor_name(study, factor)
  seen <- unique(table[, factors, with = FALSE])
  data.table::setorderv(seen, factors)
  words <- function(rows) {
    parts <- lapply(factors, function(factor) level_words(study, factor, rows[[factor]]))
    gsub(" +", " ", trimws(do.call(paste, parts)))
  }
  factor(words(table), levels = unique(words(seen)))
}

check_factor_name <- function(study, name) {
  if (!name %in% c(study$data$factors, "run")) abort_unknown("figures.yaml: factor", name, study$data$factors)
}

#' Points of one group side by side in the order of block and run, so that a drift shows; deterministic.
spread_points <- function(rank, n, width) if (length(rank)) width * (rank - (n + 1) / 2) / pmax(n, 1) else numeric()

#' Where a run lies inside its group, as a share of `width` around the middle.
beside <- function(table, by, width) {
  order <- data.table::copy(table)[, at := .I]
  data.table::setorderv(order, c(by, "block", "run"))
  order[, shift := spread_points(seq_len(.N), .N, width), by = by]
  order[order(at), shift]
}

#' Colour, shape and linetype by level, always together.
level_scales <- function(levels, name, labels = waiver()) {
  n <- length(levels)
  named <- function(values) stats::setNames(rep(values, length.out = n), levels)
  list(
    scale_colour_manual(name = name, values = named(OKABE), limits = levels, labels = labels),
    scale_shape_manual(name = name, values = named(SHAPES), limits = levels, labels = labels)
  )
}

line_scale <- function(levels, name = NULL, labels = waiver()) {
  values <- stats::setNames(rep(LINES, length.out = length(levels)), levels)
  scale_linetype_manual(name = name, values = values, limits = levels, labels = labels)
}

#' The 95 % ranges of a summary; rows without one are left out.
with_range <- function(summary) summary[is.finite(lo) & is.finite(hi)]

published_name <- function(study) sprintf("published (%s)", study$claims$source$id)

#' What the published marks are called in a caption, or that there are none.
published_words <- function(study, printed, mark = "open diamonds") {
  if (is.null(printed) || !nrow(printed)) return("the source prints no such number.")
  sprintf("%s: %s.", mark, published_name(study))
}

#' Which units a plot must name on its face; the lint looks for them.
shows_units <- function(plot, units) {
  plot$zassay_units <- unique(units[nzchar(units)])
  plot
}

no_y_labels <- function() theme(axis.text.y = element_blank(), axis.ticks.y = element_blank())

#' A title over facets only where there is more than one.
facet_rows <- function(rows, columns, ...) {
  many <- function(x) data.table::uniqueN(x) > 1L
  facet_grid(rows = if (many(rows)) vars(facet), cols = if (many(columns)) vars(metric), ...)
}
