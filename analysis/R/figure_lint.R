# Figure lints: a figure that breaks one is not written. Each finding is data, because claim Q3-1 reads them.

BAR_GEOMS <- c("GeomBar", "GeomCol", "GeomArea")
SUMMARY_GEOMS <- c(BAR_GEOMS, "GeomLinerange", "GeomErrorbar", "GeomPointrange", "GeomCrossbar", "GeomBoxplot",
                   "GeomRibbon", "GeomSmooth")
MAX_LIE <- 1.05

#' All findings of one figure.
#'
#' @return data.table: figure, plot, lint, layer, pass, value (the lie factor for zero_base), quotation, detail.
lint_figure <- function(figure) {
  per_plot <- lapply(names(figure$plots), function(name) {
    plot <- figure$plots[[name]]
    quoted <- name %in% figure$quotations
    built <- ggplot_build(plot)
    found <- rbind(lint_zero_base(plot, quoted, built), lint_raw_points(plot), lint_shape_doubles(plot),
                   lint_palette(plot, built), lint_lines(plot, built), lint_units(plot, built),
                   lint_text(plot, built))
    found[, plot := name][]
  })
  whole <- rbind(lint_caption(figure), lint_size(figure), lint_banner(figure))[, plot := ""]
  found <- rbind(data.table::rbindlist(per_plot), whole)
  this <- figure$id
  found[, figure := this]
  found[, .(figure, plot, lint, layer, pass, value, quotation, detail)]
}

finding <- function(lint, layer, pass, detail = "", value = NA_real_, quotation = FALSE) {
  data.table::data.table(lint = lint, layer = layer, pass = pass, value = value, quotation = quotation, detail = detail)
}

no_findings <- function() finding("", "", TRUE)[0]

geom_of <- function(layer) class(layer$geom)[1]

#' Bars and areas start at zero on an untransformed axis. A quotation is reported with its lie factor and exempt,
#' as long as it says so on its face.
lint_zero_base <- function(plot, quoted = FALSE, built = ggplot_build(plot)) {
  bars <- which(vapply(plot$layers, geom_of, "") %in% BAR_GEOMS)
  if (!length(bars)) return(no_findings())
  data.table::rbindlist(lapply(bars, function(i) zero_base_layer(built, i, quoted, plot)))
}

zero_base_layer <- function(built, i, quoted, plot) {
  flipped <- isTRUE(any(built$data[[i]]$flipped_aes))
  axis <- if (flipped) "x" else "y"
  low <- min(vapply(built$layout$panel_params, function(panel) panel[[paste0(axis, ".range")]][1], 0))
  scale <- built$layout[[paste0("panel_scales_", axis)]][[1]]
  transform <- scale$trans$name
  heights <- built$data[[i]][[paste0(axis, "max")]]
  plain <- identical(transform, "identity")
  factor <- if (plain) worst_lie(heights, max(0, low)) else NA_real_
  starts <- plain && low <= 0
  said <- any(grepl("lie factor", unlist(plot$labels[c("title", "subtitle")])))
  pass <- if (quoted) said else starts && factor <= MAX_LIE
  detail <- sprintf("lower limit %.6g, transform %s%s", low, transform,
                    if (quoted) ", quotation of the source's chart" else "")
  finding("zero_base", geom_of(built$plot$layers[[i]]), pass, detail, value = factor, quotation = quoted)
}

#' Largest exaggeration of a ratio among bars drawn from `base`; 1 when the base is zero.
worst_lie <- function(heights, base) {
  heights <- heights[is.finite(heights) & heights > base]
  if (length(heights) < 2L || base <= 0) return(1)
  lie_factor(min(heights), max(heights), base)
}

#' A summary needs the raw points in the same plot.
lint_raw_points <- function(plot) {
  geoms <- vapply(plot$layers, geom_of, "")
  if (!any(geoms %in% SUMMARY_GEOMS)) return(no_findings())
  drawn <- any(vapply(plot$layers[geoms == "GeomPoint"], function(layer) NROW(layer_data_of(layer, plot)) > 0L, TRUE))
  finding("raw_points", "GeomPoint", drawn, if (drawn) "" else "a summary without the points behind it")
}

layer_data_of <- function(layer, plot) if (inherits(layer$data, "waiver")) plot$data else layer$data

#' Whoever maps colour also maps shape or linetype, so that the figure survives grey printing.
lint_shape_doubles <- function(plot) {
  rows <- lapply(plot$layers, function(layer) {
    mapped <- names(c(layer$mapping, if (layer$inherit.aes) plot$mapping))
    if (!"colour" %in% mapped) return(NULL)
    doubled <- any(c("shape", "linetype", "label") %in% mapped)
    needs <- if (geom_of(layer) %in% c("GeomPointrange", "GeomPoint")) "shape" %in% mapped else doubled
    finding("shape_doubles_colour", geom_of(layer), needs, if (needs) "" else "colour alone tells levels apart")
  })
  found <- data.table::rbindlist(rows)
  if (nrow(found)) found else no_findings()
}

allowed_colours <- function() c(OKABE, STACK_FILLS, GREY)

MAP_GEOMS <- c("GeomTile", "GeomRect", "GeomRaster")

#' Colours come from Okabe-Ito (without yellow), its dark blue for stacks, or grey; those of heat maps from viridis.
lint_palette <- function(plot, built = ggplot_build(plot)) {
  geoms <- vapply(plot$layers, geom_of, "")
  bad <- unlist(Map(function(layer, geom) {
    fills <- if (geom %in% MAP_GEOMS) layer$fill[!is_viridis(layer$fill)] else layer$fill
    used <- unique(c(layer$colour, fills))
    used <- used[!is.na(used)]
    used[!is_grey(used) & !toupper(used) %in% toupper(allowed_colours())]
  }, built$data, geoms))
  finding("palette", "all", !length(bad), paste(unique(bad), collapse = " "))
}

#' Within a step of the viridis scale; interpolation rounds.
is_viridis <- function(colours) {
  if (!length(colours)) return(logical())
  scale <- grDevices::col2rgb(viridisLite::viridis(256))
  known <- unique(colours)
  near <- vapply(known, function(colour) {
    !is.na(colour) && min(colSums(abs(scale - grDevices::col2rgb(colour)[, 1]))) <= 9
  }, TRUE)
  near[match(colours, known)]
}

is_grey <- function(colours) {
  rgb <- grDevices::col2rgb(colours)
  rgb[1, ] == rgb[2, ] & rgb[2, ] == rgb[3, ]
}

#' No line over a factor without an order; geom_path through points is a path, not a trend.
lint_lines <- function(plot, built = ggplot_build(plot)) {
  lines <- which(vapply(plot$layers, geom_of, "") %in% c("GeomLine", "GeomArea", "GeomRibbon"))
  if (!length(lines)) return(no_findings())
  discrete <- inherits(built$layout$panel_scales_x[[1]], "ScaleDiscrete")
  finding("no_line_over_factor", "GeomLine", !discrete, if (discrete) "a line joins levels that have no order" else "")
}

#' The units a plot shows stand in its axis titles, its strips or its legend; a plot must say which it shows.
lint_units <- function(plot, built = ggplot_build(plot)) {
  units <- plot$zassay_units
  if (is.null(units)) return(finding("units", "labels", FALSE, "the plot does not say which units it shows"))
  strips <- unlist(lapply(built$layout$layout, function(column) if (!is.numeric(column)) as.character(column)))
  said <- c(unlist(plot$labels), strips, scale_names(plot))
  lacks <- Filter(function(unit) !any(grepl(sprintf("(%s)", unit), said, fixed = TRUE)), units)
  finding("units", "labels", !length(lacks), paste(c(if (length(lacks)) "lacks:", lacks), collapse = " "))
}

scale_names <- function(plot) {
  unlist(lapply(plot$scales$scales, function(scale) if (is.character(scale$name)) scale$name))
}

TEXT_PARTS <- c("axis.text.x", "axis.text.y", "axis.title.x", "axis.title.y", "legend.text", "legend.title",
                "strip.text.x", "strip.text.y", "plot.subtitle")

#' No text smaller than 7 pt at the size of print.
lint_text <- function(plot, built = ggplot_build(plot)) {
  sizes <- vapply(TEXT_PARTS, function(part) {
    element <- calc_element(part, plot_theme(plot))
    if (inherits(element, "element_text")) element$size else TEXT_PT
  }, 0)
  drawn <- which(vapply(plot$layers, geom_of, "") %in% c("GeomText", "GeomLabel"))
  least <- min(sizes, unlist(lapply(built$data[drawn], function(layer) layer$size * .pt)))
  finding("text_size", "text", least >= TEXT_PT - 1e-6, sprintf("%.3g pt", least))
}

plot_theme <- function(plot) {
  if (is.null(plot$theme) || !length(plot$theme)) theme_get() else if (attr(plot$theme, "complete")) plot$theme else
    theme_get() + plot$theme
}

#' Data of a class that measures nothing carry their banner.
lint_banner <- function(figure) {
  needs <- figure$class %in% names(BANNERS)
  words <- if (needs) banner_of(figure$class, figure$size_mm[1])
  marked <- !needs || (!is.null(words) && grepl("EMULATED", words) && grepl(words, banner_text(figure), fixed = TRUE))
  finding("banner", "figure", marked, if (marked) "" else sprintf("class %s without its mark", figure$class))
}

#' What the strip over the assembled figure says.
banner_text <- function(figure) {
  words <- lapply(assemble(figure)$patches$plots, attr, "words")
  paste(unlist(words), collapse = " ")
}

#' The caption says n, the interval method, the validity class and the data; emulated and synthetic data carry a banner.
lint_caption <- function(figure) {
  wanted <- c(n = "n = [0-9]+ (to [0-9]+ )?block", runs = "[0-9]+ run", interval = "95 % t interval",
              class = "[Cc]lass [SEVB]",
              data = "data [0-9a-f]{12}")
  lacks <- names(wanted)[!vapply(wanted, grepl, TRUE, x = figure$caption)]
  finding("caption", "caption", !length(lacks), paste(c(if (length(lacks)) "lacks:", lacks), collapse = " "))
}

WIDTHS_MM <- c(84.7, 88.9, 182)

#' Journal sizes: one column (IEEE, ACM) or the full width; 55 to 240 mm high.
lint_size <- function(figure) {
  size <- figure$size_mm
  fits <- size[1] %in% WIDTHS_MM && (!is.null(figure$absent) || size[2] >= 55) && size[2] <= 240
  finding("size", "figure", fits, sprintf("%g x %g mm", size[1], size[2]))
}

stop_on_lint <- function(findings) {
  bad <- findings[!(findings$pass)]
  if (!nrow(bad)) return(invisible(findings))
  abort(sprintf("figure %s breaks lint %s", bad$figure[1], bad$lint[1]),
        paste0(bad$plot, " ", bad$layer, ": ", bad$detail))
}
