# The tables behind the first screen: cells, failures, estimates, time, environment.

#' Units that mean the same under emulation: counts, not times.
COUNT_UNITS <- c("x", "count", "B")

#' One row per cell: levels, valid runs, ledger label, means of the metrics that this class may show.
cell_table <- function(study) {
  rows <- study$data$rows
  study$data$cells <- cells_in_order(study)
  cells <- study$data$cells
  counted <- unique(rows[, .(cell, block, run, status)])[, .(ok = sum(status == "ok"), all = .N),
                                                         by = cell][match(cells$cell, cell)]
  bound <- rows[status == "ok", .(bound = paste(sort(unique(bound)), collapse = ", ")),
                by = cell][match(cells$cell, cell), bound]
  metrics <- shown_metrics(study)
  values <- lapply(metrics, function(name) cell_values_html(study, name))
  levels <- lapply(study$data$factors, function(f) esc(cells[[paste0("f_", f)]]))
  names(levels) <- study$data$factors
  extra <- list(runs = sprintf("%d of %d", counted$ok, counted$all), bound = esc(ifelse(is.na(bound), "", bound)))
  html_table(c(levels, extra, stats::setNames(values, metrics)),
             c(vapply(study$data$factors, function(f) label_of(study, f), ""), "Valid runs", "Ledger",
               vapply(metrics, function(m) metric_heading(study, m), "")), "cells")
}

#' Cells in the order of their levels in the plan, the first factor slowest.
cells_in_order <- function(study) {
  levels <- factor_levels(study$data, study$dir)
  keys <- lapply(study$data$factors, function(f) match(study$data$cells[[paste0("f_", f)]], levels[[f]]))
  study$data$cells[do.call(order, keys)]
}

shown_metrics <- function(study) {
  units <- unique(study$data$rows[, .(metric, unit)])
  if (study$class %in% c("V", "B")) units$metric else units[unit %in% COUNT_UNITS, metric]
}

metric_heading <- function(study, metric) {
  unit <- unit_of(study, metric)
  paste0(gsub("_", " ", metric), if (nzchar(unit)) sprintf(" (%s)", unit) else "")
}

#' Arithmetic mean over the valid runs of a cell, linked to the rows it is made of (lines of dataset.csv, header = 1).
cell_values_html <- function(study, name) {
  found <- study$data$rows[metric == name & status == "ok",
                           .(mean = mean(value), lines = paste(row + 1L, collapse = ";")), by = cell]
  found <- found[match(study$data$cells$cell, cell)]
  text <- ifelse(is.na(found$mean), "", show_quantity(found$mean))
  linked(text, sprintf("c-%s-%s-%s", study$name, study$data$cells$cell, name),
         sprintf("%s/dataset.csv#row=%s", study$name, found$lines))
}

#' Whole numbers as such, grouped by thousands; others with four digits.
show_quantity <- function(x) {
  whole <- abs(x - round(x)) < 1e-9 | abs(x) >= 1e5
  ifelse(whole & abs(x) > 1, formatC(round(x), format = "d", big.mark = " "),
         formatC(x, digits = 4, format = "g", flag = "#"))
}

#' Every run that is not ok, with its reason and its raw folder.
failure_table <- function(study) {
  lost <- unique(study$data$rows[status != "ok", .(cell, block, run, status, reason, raw)])
  if (!nrow(lost)) return("<p>None: every run that was planned and started passed its gates.</p>")
  data.table::setorder(lost, block, cell, run)
  html_table(list(cell = esc(lost$cell), block = lost$block, run = lost$run, status = esc(lost$status),
                  reason = esc(lost$reason), raw = raw_link(study, lost$raw)),
             c("Cell", "Block", "Run", "Status", "Reason", "Raw"), "failures")
}

raw_link <- function(study, raw) {
  ifelse(nzchar(raw), sprintf("<a href=\"%s/%s/\">raw</a>", esc(study$name), esc(raw)), "")
}

#' Cells of the plan for which the dataset has no row at all.
missing_table <- function(study) {
  planned <- data.table::rbindlist(lapply(study$plan$order,
                                          function(o) list(block = as.integer(o$block), cell = o$cell)))
  if (!nrow(planned)) return("")
  seen <- unique(study$data$rows[, .(block, cell)])
  gone <- planned[!seen, on = c("block", "cell")]
  if (!nrow(gone)) return("")
  sprintf("<p>Planned but not in the data: %s.</p>", paste(esc(sprintf("%s in block %d", gone$cell, gone$block)),
                                                           collapse = "; "))
}

#' Every run, for the reader who wants to go back to what the guest printed.
run_table <- function(study) {
  runs <- unique(study$data$rows[, .(cell, block, position, run, status, flags, mode, started_at, duration_s, raw)])
  data.table::setorder(runs, block, position, run)
  html_table(list(cell = esc(runs$cell), block = runs$block, position = runs$position, run = runs$run,
                  status = esc(runs$status), flags = esc(runs$flags),
                  started = esc(runs$started_at), seconds = esc(runs$duration_s), raw = raw_link(study, runs$raw)),
             c("Cell", "Block", "Position", "Run", "Status", "Flags", "Started", "Seconds on the host", "Raw"), "runs")
}

#' Every estimate with its interval; rows that were withheld say why.
estimate_table <- function(study) {
  e <- data.table::copy(study$estimates)[, line := .I + 1L]
  href <- sprintf("%s/estimates.csv#row=%d", study$name, e$line)
  number <- function(column) {
    x <- suppressWarnings(as.numeric(e[[column]]))
    linked(ifelse(is.na(x), "", show_number(x)), sprintf("e-%s-%d-%s", study$name, e$line, column), href)
  }
  between <- function(lo, hi) ifelse(nzchar(e[[lo]]), paste(number(lo), "to", number(hi)), "")
  html_table(list(claim = esc(e$claim), link = esc(e$link), estimate = number("estimate"),
                  interval = between("ci95_lo", "ci95_hi"),
                  range = between("min", "max"), p = number("p"), adjusted = number("p_adj"), blocks = esc(e$n_blocks),
                  method = esc(e$method)),
             c("Claim", "Comparison", "Estimate", "95 % interval", "Observed range", "p", "p, Holm", "Blocks",
               "Method"), "estimates")
}

#' Predicted against actual time, and what the actual time went to.
timing_table <- function(study) {
  t <- study$timing
  parts <- or_else(t$stages_s, list())
  rows <- html_table(
    list(what = esc(c("all runs", paste("of which", names(parts))[seq_along(parts)])),
         predicted = c(show_seconds(t$predicted_s), rep("", length(parts))),
         actual = c(show_seconds(t$actual_s), vapply(parts, show_seconds, ""))),
    c("Stage", "Predicted", "Actual"), "timing"
  )
  steps <- t$steps_median_s
  if (is.null(steps)) return(rows)
  paste0(rows, html_details("Median seconds of each step of a run", html_facts(flatten_facts(steps))))
}

FLAG_WORDS <- c(
  buffered = "the data are too small against memory or dirty data for the write time to be that of the device",
  capped = "the run was cut off at its time limit, so its time is a lower bound"
)

#' Flags on valid runs, with what they mean.
flag_sentence <- function(study) {
  ok <- unique(study$data$rows[status == "ok", .(cell, block, run, flags)])
  found <- table(unlist(strsplit(ok$flags, ";", fixed = TRUE)))
  if (!length(found)) return("")
  meaning <- ifelse(names(found) %in% names(FLAG_WORDS), paste0(": ", FLAG_WORDS[names(found)]), "")
  said <- sprintf("%s on %d of %d valid runs%s", names(found), as.integer(found), nrow(ok), meaning)
  sprintf("<p>Flags: %s.</p>", esc(paste(said, collapse = "; ")))
}

#' The circumstances: what every row says, the machine's facts, the image's manifest.
environment_html <- function(study) {
  columns <- c("image", "image_digest", "kernel", "zfs", "accel", "cpu_model", "host", "mode", "validity_class")
  # A run that failed early does not know its kernel; that is no second value.
  values <- function(column) sort(unique(Filter(nzchar, study$data$rows[[column]])))
  common <- vapply(columns, function(column) paste(values(column), collapse = "; "), "")
  manifests <- vapply(names(study$manifests), function(name) {
    manifest <- study$manifests[[name]]
    absent <- "<p>The image is not linked in this results folder.</p>"
    body <- if (is.null(manifest)) absent else html_facts(flatten_facts(manifest))
    html_details(sprintf("Manifest of image %s", name), body)
  }, "")
  paste(c(html_facts(common), html_details("Facts of the machine, as measured", html_facts(flatten_facts(study$facts))),
          manifests), collapse = "\n")
}

#' A figure with its caption and its files; the picture is inside the page.
figure_html <- function(study, figure) {
  link <- function(kind) sprintf("<a href=\"%s/figures/%s.%s\">%s</a>", study$name, figure$id, kind, toupper(kind))
  wide <- if (figure$size_mm[[1]] > 100) "wide" else "narrow"
  caption <- tag("figcaption", c(tag("strong", esc(figure$id)), " ", esc(figure$title), " ", link("svg"), " ",
                                 link("pdf"), " ", link("png")))
  picture <- sprintf("<img alt=\"%s\" src=\"%s\">", esc(paste(figure$title, figure$caption)),
                     data_uri(figure$svg, "image/svg+xml"))
  tag("figure", c(tag("div", picture, class = "scroll"), caption), class = wide,
      id = sprintf("fig-%s-%s", study$name, figure$id))
}

GLOSSARY <- c(
  "block" = "one pass over all cells of a study in random order, each in a fresh guest; the unit of replication",
  "boot" = "one cell in one block", "cell" = "one combination of levels",
  "claim" = "a statement of the source that data can decide",
  "emulated (E)" = "the guest's CPU was software; times are not evidence, counts are",
  "fragile" = "the verdict changes when one block or the flagged outliers are left out",
  "gate" = "a check that decides whether a run counts, made before its result is looked at",
  "inconclusive" = "the data fit the claim and its opposite",
  "ledger" = "what a measurement was bound by: the device, the ARC, holes, the host's cache, the CPU or the network",
  "magnitude" = "whether an effect has the published size; kept apart from the verdict",
  "not replicated" = "the effect is negligible, or goes the other way",
  "not testable here" = "these data may not decide the claim, with the reason",
  "replicated" = "the data support the claim on other hardware (replicability in the ACM's sense)",
  "run" = "one execution of the workload inside a boot",
  "validity class" = "S synthetic, E emulated, V virtualised, B bare metal: what the data may decide"
)

glossary_html <- function() {
  paste0("<dl>", paste0("<dt>", esc(names(GLOSSARY)), "</dt><dd>", esc(GLOSSARY), "</dd>",
                                                  collapse = "\n"), "</dl>")
}
