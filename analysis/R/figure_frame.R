# The frame of a figure: its banner, its title, and a caption that says what the picture rests on.

#' A figure: plots by name, how they sit together, its caption and its size; `quotations` names plots that show the
#' source's own drawing.
new_figure <- function(study, item, plots, compose, what, quotations = character(), size_mm = unlist(item$size_mm)) {
  list(
    id = item$id, kind = item$kind, title = item$title, plots = plots, compose = compose, quotations = quotations,
    size_mm = size_mm, class = study$class, caption = figure_caption(study, item, what)
  )
}

#' A figure that has nothing to draw says so in one line, under the same banner.
note_figure <- function(study, item, why) {
  sentence <- paste0(toupper(substr(why, 1, 1)), substring(why, 2), ".")
  list(
    id = item$id, kind = item$kind, title = item$title, plots = list(), quotations = character(), absent = sentence,
    compose = function(plots) note_plot(sentence, unlist(item$size_mm)[1]), size_mm = c(unlist(item$size_mm)[1], 30),
    class = study$class, caption = figure_caption(study, item["id"], "nothing is drawn, so no 95 % t interval either.")
  )
}

note_plot <- function(sentence, width) {
  text <- paste(strwrap(sentence, width = floor(width / 1.45)), collapse = "\n")
  ggplot() + annotate("text", x = 0, y = 0, label = text, family = FONT, size = text_size(), colour = "grey20") +
    theme_void()
}

#' n blocks x runs, what the marks are, the validity class, and the hash of the data.
figure_caption <- function(study, item, what) {
  cells <- if (length(item$at)) figure_cells(study, item$at) else study$data$cells$cell
  used <- if (is.null(item$metric)) item$metrics else item$metric
  ok <- study$data$rows[status == "ok" & cell %in% cells]
  if (any(unlist(used) %in% ok$metric)) ok <- ok[metric %in% unlist(used)]
  per_cell <- ok[, .(blocks = data.table::uniqueN(block)), by = cell]$blocks
  runs <- ok[, data.table::uniqueN(run), by = .(cell, block)]$V1
  sprintf(
    "n = %s \u00d7 %s per cell; %s%s Validity class %s (%s); data %s.", span(per_cell, "block"), span(runs, "run"),
    at_words(study, item$at), what, study$class, CLASS_WORDS[[study$class]], substr(study$data$sha256, 1, 12)
  )
}

#' Pinned levels in the words of the study, apart from what is drawn; the protocol is said when it is not the improved
#' one.
at_words <- function(study, at) {
  at <- at[lengths(at) == 1L & !(names(at) == "protocol" & at == "improved")]
  if (!length(at)) return("")
  words <- Map(function(name, levels) {
    said <- paste(level_words(study, name, unlist(levels)), collapse = " or ")
    # A level with words of its own needs no name of its factor before it.
    if (is.null(study$spec$level_labels[[name]])) paste(label_of(study, name), said) else said
  }, names(at), at)
  paste0(paste(unlist(words), collapse = ", "), "; ")
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
  banner <- or_else(figure$banner, banner_of(figure$class, width))
  # A no-break space keeps the number with its sign when the caption is broken into lines.
  together <- gsub("95 % t", "95\u00a0%\u00a0t", figure$caption, fixed = TRUE)
  caption <- paste(strwrap(together, width = floor(width / 1.3)), collapse = "\n")
  title <- paste(strwrap(figure$title, width = floor(width / 1.75)), collapse = "\n")
  whole <- if (is.null(banner)) body else banner_strip(banner) / body +
    plot_layout(heights = unit(c(4.2, 1), c("mm", "null")))
  whole + plot_annotation(
    title = title, caption = caption,
    theme = theme(
      plot.title = element_text(family = FONT, size = TEXT_PT + 1, face = "bold", margin = margin(0, 0, 2, 0)),
      plot.caption = element_text(family = FONT, size = TEXT_PT, hjust = 0, colour = "grey20", lineheight = 0.95,
                                  margin = margin(2, 0, 0, 0)),
      plot.margin = margin(2, 2, 2, 2)
    )
  )
}
