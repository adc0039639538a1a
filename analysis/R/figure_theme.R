# One look for all figures: DejaVu Sans 7 pt, Okabe-Ito, thin lines, a caption that says what the picture rests on.

FONT <- "DejaVu Sans"
TEXT_PT <- 7
# Okabe and Ito, without yellow, which vanishes on white.
OKABE <- c("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
SHAPES <- c(16, 17, 15, 18, 3, 4, 8)
GREY <- "#7F7F7F"

theme_zassay <- function() {
  theme_bw(base_size = TEXT_PT, base_family = FONT, base_line_size = 0.3) +
    theme(
      text = element_text(size = TEXT_PT, colour = "black"), axis.text = element_text(size = TEXT_PT, colour = "black"),
      legend.text = element_text(size = TEXT_PT), legend.title = element_text(size = TEXT_PT),
      strip.text = element_text(size = TEXT_PT, margin = margin(1.5, 1.5, 1.5, 1.5)),
      plot.title = element_text(size = TEXT_PT + 1, face = "bold"),
      strip.background = element_rect(fill = "grey93", colour = NA), panel.grid.minor = element_blank(),
      panel.grid.major = element_line(colour = "grey90"), legend.position = "bottom", legend.key.size = unit(3, "mm"),
      legend.margin = margin(0, 0, 0, 0), legend.box.spacing = unit(1, "mm"), plot.margin = margin(1, 2, 1, 1),
      panel.border = element_rect(colour = "grey40", linewidth = 0.3), axis.ticks = element_line(linewidth = 0.3)
    )
}

x_slanted <- function() theme(axis.text.x = element_text(angle = 45, hjust = 1, vjust = 1))

text_size <- function() TEXT_PT / .pt

#' Colours and shapes by level, always together.
level_scales <- function(levels, name) {
  colours <- stats::setNames(rep(OKABE, length.out = length(levels)), levels)
  shapes <- stats::setNames(rep(SHAPES, length.out = length(levels)), levels)
  list(
    scale_colour_manual(name = name, values = colours, limits = levels),
    scale_shape_manual(name = name, values = shapes, limits = levels)
  )
}

BANNERS <- c(
  E = "EMULATED \u2013 not a performance result",
  S = "SYNTHETIC (class S, below EMULATED) \u2013 not a measurement, not a performance result"
)

#' A figure: plots by name, how they sit together, its caption and its size; `quotations` names plots that show the
#' source's own drawing.
new_figure <- function(study, item, plots, compose, what, quotations = character(), size_mm = unlist(item$size_mm)) {
  list(
    id = item$id, kind = item$kind, title = item$title, plots = plots, compose = compose, quotations = quotations,
    size_mm = size_mm, class = study$class, caption = figure_caption(study, what)
  )
}

#' n blocks x runs, what the marks are, the validity class, and the hash of the data.
figure_caption <- function(study, what) {
  ok <- study$data$rows[status == "ok"]
  per_cell <- ok[, .(blocks = data.table::uniqueN(block)), by = cell]$blocks
  runs <- ok[, data.table::uniqueN(run), by = .(cell, block)]$V1
  sprintf(
    "n = %s \u00d7 %s per cell; %s Validity class %s (%s); data %s.", span(per_cell, "block"), span(runs, "run"), what,
    study$class, CLASS_WORDS[[study$class]], substr(study$data$sha256, 1, 12)
  )
}

#' "3 blocks", or "2 to 3 blocks" where cells differ.
span <- function(n, noun) {
  if (!length(n)) return(count(0, noun))
  most <- count(max(n), noun)
  if (min(n) == max(n)) most else sprintf("%d to %s", min(n), most)
}

#' Banner, plots and caption as one patchwork.
assemble <- function(figure) {
  width <- figure$size_mm[1]
  body <- figure$compose(figure$plots)
  strip <- if (figure$class %in% names(BANNERS)) banner_strip(BANNERS[[figure$class]])
  # A no-break space keeps the number with its sign when the caption is broken into lines.
  together <- gsub("95 % t", "95\u00a0%\u00a0t", figure$caption, fixed = TRUE)
  caption <- paste(strwrap(together, width = floor(width / 1.40)), collapse = "\n")
  whole <- if (is.null(strip)) body else strip / body + plot_layout(heights = unit(c(4, 1), c("mm", "null")))
  whole + plot_annotation(
    title = figure$title, caption = caption,
    theme = theme(
      plot.title = element_text(family = FONT, size = TEXT_PT + 1, face = "bold", margin = margin(0, 0, 2, 0)),
      plot.caption = element_text(family = FONT, size = TEXT_PT, hjust = 0, colour = "grey20",
                                  margin = margin(2, 0, 0, 0)),
      plot.margin = margin(2, 2, 2, 2)
    )
  )
}

banner_strip <- function(text) {
  ggplot() +
    annotate("rect", xmin = 0, xmax = 1, ymin = 0, ymax = 1, fill = "grey82") +
    annotate("text", x = 0.5, y = 0.5, label = text, family = FONT, fontface = "bold", size = text_size()) +
    scale_x_continuous(expand = c(0, 0)) + scale_y_continuous(expand = c(0, 0)) + theme_void() +
      theme(plot.margin = margin(0, 0, 1, 0))
}
