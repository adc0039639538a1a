# GE, the stopping path: how narrow each claim's interval became with every further block. Width only, never a verdict.

figure_stopping <- function(study, item) {
  paths <- stopping_paths(study, unlist(item$claims))
  if (!nrow(paths)) not_measured("no claim has an interval over two blocks or more")
  target <- or_else(item$width, 1.05)
  plot <- stopping_plot(paths, target)
  new_figure(study, item, list(main = plot), function(plots) plots$main, what = sprintf(
    "each point: half of the 95 %% t interval of one contrast after so many blocks; black: the widest; line: \u00d7%s.",
    target
  ))
}

#' Half-widths of every contrast on logs, after 2, 3, ... blocks in the order they were run.
stopping_paths <- function(study, wanted = NULL) {
  claims <- Filter(function(claim) {
    claim$estimator$kind == "contrast" && claim$estimator$scale == "log" && (is.null(wanted) || claim$id %in% wanted)
  }, study$claims$claims)
  paths <- lapply(claims, function(claim) {
    links <- stopping_links(study, claim)
    data.table::rbindlist(lapply(seq_along(links), function(i) stopping_path(claim$id, i, links[[i]])))
  })
  out <- data.table::rbindlist(paths)
  if (nrow(out)) out[is.finite(width)] else out
}

stopping_links <- function(study, claim) {
  lapply(claim$links, function(link) c(link, link_contrast(study$data, link)))
}

stopping_path <- function(id, i, link) {
  link$d <- link$d[is.finite(link$d)]
  n <- seq_len(length(link$d))[-1] # one block has no interval
  widths <- vapply(n, function(k) {
    s <- t_interval(link$d[seq_len(k)], 0, link$floor)
    exp(diff(s$ci95) / 2)
  }, 0)
  data.table::data.table(claim = rep(id, length(n)), link = rep(paste(id, i), length(n)), blocks = n, width = widths)
}

stopping_plot <- function(paths, target) {
  last <- max(paths$blocks)
  at_end <- paths[paths[, .I[which.max(blocks)], by = link]$V1]
  widest <- at_end[which.max(width), link]
  open <- sum(at_end$width > target)
  worst <- paths[link == widest]
  words <- sprintf("%d of %d at or under \u00d7%s", nrow(at_end) - open, nrow(at_end), target)
  plot <- ggplot(paths, aes(x = blocks, y = width)) +
    geom_hline(yintercept = target, linewidth = 0.4, linetype = "42", colour = OKABE[6]) +
    geom_line(aes(group = link), linewidth = 0.2, colour = "grey70") +
    geom_point(shape = 1, size = 0.6, stroke = 0.25, colour = "grey60") +
    geom_line(data = worst, linewidth = 0.5) + geom_point(data = worst, size = 1.2) +
    annotate("text", x = max(worst$blocks), y = worst[which.max(blocks), width], label = worst$claim[1], hjust = 1.2,
             vjust = -0.6, size = text_size(), family = FONT) +
    scale_x_continuous(breaks = scales::breaks_width(max(1, ceiling(last / 8))), minor_breaks = NULL) +
    do.call(scale_y_log10, log_axis()) +
    labs(x = "blocks", y = "half-width, as a ratio", subtitle = words) + theme_zassay()
  shows_units(plot, character())
}
