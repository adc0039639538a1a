# The tables behind the first screen: cells, runs that do not count, estimates, time, circumstances.

#' Units that mean the same under emulation: counts, not times.
COUNT_UNITS <- c("x", "count", "B")

at_data <- function(study, rows) at_rows(file.path(study$name, "dataset.csv"), rows)

#' One row per cell: levels, valid runs, ledger label, raw records, means of the metrics that this class may show.
cell_table <- function(study) {
  study$data$cells <- cells_in_order(study)
  cells <- study$data$cells
  rows <- study$data$rows
  all <- rows[, .(at = row_ranges(row + 1L)), by = cell][match(cells$cell, cell), at]
  metrics <- shown_metrics(study)
  found <- lapply(metrics, function(name) cell_values(study, name))
  levels <- lapply(study$data$factors, function(f) level_html(cells[[paste0("f_", f)]], at_data(study, all)))
  names(levels) <- study$data$factors
  extra <- list(runs = cell_runs(study, cells, all), bound = ledger_cell(cell_bounds(rows, cells)),
                raw = cell_raw(study, cells))
  values <- lapply(found, function(x) num(x$text, at_data(study, x$lines)))
  headings <- c(vapply(study$data$factors, function(f) plain_label(study, f), ""), "Valid runs", "Ledger",
                "Raw, by block", vapply(metrics, function(m) metric_heading(study, m), ""))
  html_table(c(levels, extra, stats::setNames(values, metrics)), headings, "cells",
             keys = stats::setNames(lapply(found, `[[`, "mean"), metrics),
             caption = "Cells and the means of their valid runs", ids = sprintf("cell-%s-%s", study$name, cells$cell))
}

cells_note <- function(study) {
  if (!study$class %in% c("S", "E")) return("Arithmetic means over valid runs.")
  paste("Counts only: times of this validity class are in dataset.csv and, marked, in the figures. Means are",
        "arithmetic, over valid runs. The ledger says what bound a run on this host; it says nothing about hardware.")
}

#' Cells in the order of their levels in the plan, the first factor slowest.
cells_in_order <- function(study) {
  keys <- lapply(study$data$factors, function(f) match(study$data$cells[[paste0("f_", f)]], study$factors[[f]]))
  study$data$cells[do.call(order, keys)]
}

cell_runs <- function(study, cells, at) {
  runs <- unique(study$data$rows[, .(cell, block, run, status)])[, .(ok = sum(status == "ok"), all = .N), by = cell]
  runs <- runs[match(cells$cell, cell)]
  num(sprintf("%d of %d", runs$ok, runs$all), at_data(study, at))
}

cell_bounds <- function(rows, cells) {
  bound <- rows[status == "ok", .(bound = paste(sort(unique(bound)), collapse = ", ")), by = cell]
  found <- bound[match(cells$cell, cell), bound]
  ifelse(is.na(found), "", found)
}

#' A link to the raw records of each block.
cell_raw <- function(study, cells) {
  raw <- unique(study$data$rows[nzchar(raw), .(cell, block, raw)])[order(block)]
  raw[, link := num(as.character(block), href_path(sprintf("%s/%s/", study$name, raw)))]
  joined <- raw[, .(html = paste(link, collapse = " ")), by = cell][match(cells$cell, cell), html]
  ifelse(is.na(joined), "", joined)
}

#' Metrics whose values this class may show: on virtual and real hardware all; elsewhere counts, and shares of counts,
#' which are those that some claim of the class is decided on.
shown_metrics <- function(study) {
  units <- unique(study$data$rows[, .(metric, unit)])
  if (study$class %in% c("V", "B")) return(units$metric)
  decided <- metrics_decided(study$claims$claims, study$class)
  units[unit %in% COUNT_UNITS | (unit == "1" & metric %in% decided), metric]
}

metrics_decided <- function(claims, class) {
  # Synthetic rows are shown as emulated ones are.
  reach <- max(match(class, CLASSES), match("E", CLASSES))
  may <- Filter(function(claim) match(claim$min_class, CLASSES) <= reach, claims)
  unique(unlist(lapply(may, function(claim) named_metrics(claim$estimator))))
}

#' Every value of a key `metric`, however deep.
named_metrics <- function(x) {
  if (!is.list(x)) return(NULL)
  c(if (is.character(x$metric)) x$metric, unlist(lapply(x, named_metrics), use.names = FALSE))
}

#' Units in words: "1" is a share, and a heading has no digits.
UNIT_WORDS <- c("1" = "share", "1/s" = "per s", "x" = "", "count" = "")

metric_heading <- function(study, metric) {
  rows <- study$data$rows
  unit <- rows$unit[match(metric, rows$metric)]
  word <- if (unit %in% names(UNIT_WORDS)) UNIT_WORDS[[unit]] else unit
  name <- if (grepl("[0-9]", metric)) metric else gsub("_", " ", metric)
  paste0(name, if (nzchar(word)) sprintf(" (%s)", word) else "")
}

#' A factor's label, or its name where the label has a number, for a heading has no source.
plain_label <- function(study, factor) {
  label <- label_of(study, factor)
  if (length(unsourced_numbers(named(label)))) factor else label
}

#' Arithmetic mean over the valid runs of each cell, and the lines of dataset.csv that it is made of (heading = 1).
cell_values <- function(study, name) {
  found <- study$data$rows[metric == name & status == "ok", .(mean = mean(value), lines = row_ranges(row + 1L)),
                           by = cell]
  found <- found[match(study$data$cells$cell, cell)]
  list(mean = found$mean, text = ifelse(is.na(found$mean), "", show_quantity(found$mean)), lines = found$lines)
}

#' Every run that is not ok, with its reason and its raw folder.
failure_table <- function(study) {
  lost <- study$data$rows[status != "ok", .(at = row_ranges(row + 1L)), by = .(cell, block, run, status, reason, raw)]
  if (!nrow(lost)) return("<p>None: every run that was planned and started passed its gates.</p>")
  data.table::setorder(lost, block, cell, run)
  at <- at_data(study, lost$at)
  html_table(list(cell = named(lost$cell), block = num(lost$block, at), run = num(lost$run, at),
                  status = esc(lost$status), reason = said(lost$reason, at), raw = raw_link(study, lost$raw)),
             c("Cell", "Block", "Run", "Status", "Reason", "Raw"), "failures cards",
             caption = "Runs that failed or did not pass a gate")
}

raw_link <- function(study, raw) {
  ifelse(nzchar(raw), sprintf("<a href=\"%s\">raw</a>", esc(href_path(sprintf("%s/%s/", study$name, raw)))), "")
}

#' Cells of the plan for which the dataset has no row at all.
missing_table <- function(study) {
  planned <- data.table::rbindlist(lapply(study$plan$order, function(turn) {
    list(block = as.integer(turn$block), cell = turn$cell)
  }))
  if (!nrow(planned)) return("")
  gone <- planned[!unique(study$data$rows[, .(block, cell)]), on = c("block", "cell")]
  if (!nrow(gone)) return("")
  at <- at_key(file.path(study$name, "plan.json"), "/order")
  paragraph("Planned but not in the data: ",
            paste(sprintf("%s in block %s", named(gone$cell), num(gone$block, at)), collapse = "; "), ".")
}

# A page of more rows than this would serve nobody; dataset.csv has them all.
MOST_RUNS_SHOWN <- 2000L

#' Every run, for the reader who wants to go back to what the guest printed.
run_table <- function(study) {
  runs <- study$data$rows[, .(at = row_ranges(row + 1L)),
                          by = .(cell, block, position, run, status, flags, mode, started_at, duration_s, bound, raw)]
  if (nrow(runs) > MOST_RUNS_SHOWN) {
    return(paragraph("Too many to list: ", counted(nrow(runs), "run", file.path(study$name, "dataset.csv")), "."))
  }
  data.table::setorder(runs, block, position, run)
  at <- at_data(study, runs$at)
  html_table(list(cell = named(runs$cell), block = num(runs$block, at), position = num(runs$position, at),
                  run = num(runs$run, at), status = esc(runs$status), flags = named(gsub(";", "; ", runs$flags)),
                  bound = named(runs$bound), started = dated(runs$started_at), seconds = num(runs$duration_s, at),
                  raw = raw_link(study, runs$raw)),
             c("Cell", "Block", "Position", "Run", "Status", "Flags", "Ledger", "Started", "Seconds on the host",
               "Raw"), "runs", caption = "Every run, in the order in which they were made")
}

#' Every estimate with its interval; rows that were withheld say why.
estimate_table <- function(study) {
  e <- study$estimates
  at <- at_rows(file.path(study$name, "estimates.csv"), seq_len(nrow(e)) + 1L)
  value <- function(column) suppressWarnings(as.numeric(e[[column]]))
  number <- function(column) num(show_each(value(column)), at)
  between <- function(lo, hi) ifelse(nzchar(e[[lo]]), paste(number(lo), "to", number(hi)), "")
  html_table(list(claim = ident(e$claim), link = said(e$link, at), estimate = number("estimate"),
                  interval = between("ci95_lo", "ci95_hi"), range = between("min", "max"), p = number("p"),
                  adjusted = number("p_adj"), blocks = num(e$n_blocks, at), method = said(e$method, at)),
             c("Claim", "Comparison", "Estimate", "Interval", "Observed range", "p", "p (Holm)", "Blocks", "Method"),
             "estimates", keys = list(estimate = value("estimate"), p = value("p"), adjusted = value("p_adj")),
             caption = "Every estimate, with its interval over blocks")
}

FLAG_WORDS <- c(
  buffered = "the data are too small against memory or dirty data for the write time to be that of the device",
  capped = "the run was cut off at its time limit, so its time is a lower bound",
  declared = "nobody here checked it, the author of the data vouches for it",
  unchecked = "gates that nobody can check any more"
)

#' Flags on valid runs, with what they mean; flags of one kind (kind:detail) on the same runs are said together.
flag_sentence <- function(study) {
  ok <- study$data$rows[status == "ok" & nzchar(flags), .(at = row_ranges(row + 1L)), by = .(cell, block, run, flags)]
  parts <- strsplit(ok$flags, ";", fixed = TRUE)
  words <- unique(unlist(parts))
  if (!length(words)) return("")
  of <- nrow(unique(study$data$rows[status == "ok", .(cell, block, run)]))
  has <- lapply(words, function(word) which(vapply(parts, function(x) word %in% x, TRUE)))
  key <- paste(sub(":.*", "", words), vapply(has, paste, "", collapse = " "))
  said_of <- vapply(split(seq_along(words), factor(key, unique(key))), function(group) {
    with <- ok[has[[group[1]]]]
    kind <- sub(":.*", "", words[group[1]])
    details <- sub("^[^:]*:", "", words[group])
    called <- if (length(group) < 2L) named(words[group]) else sprintf("%s (%s)", named(kind),
                                                                       paste(named(details), collapse = ", "))
    meaning <- if (kind %in% names(FLAG_WORDS)) paste0(": ", FLAG_WORDS[[kind]]) else ""
    lines <- row_ranges(expand_ranges(paste(with$at, collapse = ";")))
    sprintf("%s on %s valid runs%s", called, num(sprintf("%d of %d", nrow(with), of), at_data(study, lines)), meaning)
  }, "")
  paragraph("Flags: ", paste(said_of, collapse = "; "), ".")
}
