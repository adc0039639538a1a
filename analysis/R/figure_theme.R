# One look for all figures: DejaVu Sans 7 pt, Okabe-Ito, thin lines.

FONT <- "DejaVu Sans"
TEXT_PT <- 7
# Okabe and Ito, without yellow, which vanishes on white.
OKABE <- c("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
# Open diamonds are the source's, open circles are runs under a bar: neither tells levels apart.
SHAPES <- c(16, 17, 15, 18, 3, 4, 8, 0, 6, 7, 10)
LINES <- c("solid", "22", "42", "1343", "13", "73", "2262", "F282", "12223242", "44", "F4")
GREY <- "#7F7F7F"
# Parts of a stack, dark to light: in grey print they keep their order.
STACK_FILLS <- c("#004C7A", "#56B4E9", "#D55E00", "#E69F00", "#BFBFBF", "#009E73", "#CC79A7")

theme_zassay <- function() {
  theme_bw(base_size = TEXT_PT, base_family = FONT, base_line_size = 0.3) +
    theme(
      text = element_text(size = TEXT_PT, colour = "black"), axis.text = element_text(size = TEXT_PT, colour = "black"),
      legend.text = element_text(size = TEXT_PT), legend.title = element_text(size = TEXT_PT),
      strip.text = element_text(size = TEXT_PT, margin = margin(1.5, 1.5, 1.5, 1.5)),
      plot.title = element_text(size = TEXT_PT + 1, face = "bold"),
      plot.subtitle = element_text(size = TEXT_PT, margin = margin(0, 0, 1.5, 0)),
      strip.background = element_rect(fill = "grey93", colour = NA), panel.grid.minor = element_blank(),
      panel.grid.major = element_line(colour = "grey90"), legend.position = "bottom", legend.key.size = unit(3, "mm"),
      legend.margin = margin(0, 0, 0, 0), legend.box.margin = margin(0, 0, 0, 0), legend.spacing = unit(2, "mm"),
      legend.box.spacing = unit(1, "mm"), plot.margin = margin(1, 2, 1, 1),
      panel.border = element_rect(colour = "grey40", linewidth = 0.3), axis.ticks = element_line(linewidth = 0.3)
    )
}

x_slanted <- function() theme(axis.text.x = element_text(angle = 45, hjust = 1, vjust = 1))

text_size <- function() TEXT_PT / .pt

BANNERS <- c(
  E = "EMULATED \u2013 not a performance result",
  S = "SYNTHETIC (class S, below EMULATED) \u2013 not a measurement, not a performance result"
)
# What fits into one column.
NARROW_BANNERS <- c(E = BANNERS[["E"]], S = "SYNTHETIC, below EMULATED \u2013 no measurement")

banner_of <- function(class, width_mm) {
  words <- if (width_mm < 100) NARROW_BANNERS else BANNERS
  if (class %in% names(words)) words[[class]]
}

#' As wide as the whole figure, not only as its panels.
banner_strip <- function(text) {
  look <- grid::gpar(fontfamily = FONT, fontface = "bold", fontsize = TEXT_PT)
  strip <- grid::grobTree(grid::rectGrob(gp = grid::gpar(fill = "grey82", col = NA)),
                          grid::textGrob(text, gp = look, name = "words"))
  wrapped <- patchwork::wrap_elements(full = strip) + theme(plot.margin = margin(0, 0, 1.5, 0))
  attr(wrapped, "words") <- text
  wrapped
}

#' The place and the room of a legend that several plots share.
legend_below <- function() {
  theme(legend.position = "bottom", legend.box.spacing = unit(0.5, "mm"), legend.margin = margin(0, 0, 0, 0))
}
