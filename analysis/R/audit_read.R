# Published tables as rows with units, resolutions and what was printed: the long form of published.csv, or any CSV.

LONG_NEEDED <- c("metric", "value")
NOT_PRINTED <- c("", "NA", "n/a", "-", "\u2013", "\u2014")
#' Statistics whose value need not be a number (a version, a name).
WORDS <- c("design", "missing")
RUN_COLUMN <- "^(run|rep|repetition|trial|round|iteration)[ _#]*[0-9]+$"
MEAN_COLUMN <- "^(mean|average|avg)$"
SD_COLUMN <- "^(sd|s[.]d[.]|std|stdev|stddev|std[.]? ?dev[.]?|standard deviation|\u00b1)$"

#' Read a published table.
#'
#' @param path a CSV with columns metric and value (and, as far as known, row_id, study, table, config, unit, statistic,
#'   sd, n, resolution, raw), or any CSV with one heading line.
#' @return data.table: line, id, source, table, config (list of named character), metric, unit, statistic, text, value,
#'   sd, sd_text, n, res, raw; one row per printed number.
read_printed <- function(path) {
  rows <- read_text_table(must_exist(path, "table", "expected a CSV file"))
  if (!nrow(rows)) abort(sprintf("%s: no rows", path), "expected one heading line and at least one row")
  twice <- names(rows)[duplicated(names(rows))]
  if (length(twice)) abort(sprintf("%s: column \"%s\" is there twice", path, twice[1]), "expected one column of a name")
  if (all(LONG_NEEDED %in% names(rows))) read_printed_long(rows, path) else read_printed_wide(rows, path)
}

column_text <- function(rows, name) if (is.null(rows[[name]])) rep("", nrow(rows)) else trimws(rows[[name]])

read_printed_long <- function(rows, path) {
  value <- column_text(rows, "value")
  statistic <- column_text(rows, "statistic")
  wordy <- statistic %in% WORDS | value %in% NOT_PRINTED
  number <- printed_number(ifelse(wordy, "", value), path, "value")
  sd_text <- column_text(rows, "sd")
  id <- column_text(rows, "row_id")
  source <- column_text(rows, "source")
  data.table::data.table(
    line = seq_len(nrow(rows)), id = ifelse(nzchar(id), id, sprintf("row %d", seq_len(nrow(rows)))),
    source = ifelse(nzchar(source), source, column_text(rows, "study")), table = column_text(rows, "table"),
    config = Map(parse_config, column_text(rows, "config"), seq_len(nrow(rows)), MoreArgs = list(path = path)),
    metric = column_text(rows, "metric"), unit = column_text(rows, "unit"), statistic = statistic,
    text = value, value = number, sd = printed_number(sd_text, path, "sd"), sd_text = sd_text,
    n = printed_number(column_text(rows, "n"), path, "n"),
    res = ifelse(nzchar(column_text(rows, "resolution")), printed_number(column_text(rows, "resolution"), path,
                                                                         "resolution"), last_digit(value)),
    raw = column_text(rows, "raw")
  )
}

#' Numbers of a column; nothing printed is missing, anything else that is no number is an error.
printed_number <- function(text, path, column) {
  number <- suppressWarnings(as.numeric(text))
  bad <- which(!text %in% NOT_PRINTED & !is.finite(number))[1]
  if (!is.na(bad)) {
    abort(sprintf("%s: \"%s\" is not a number", at_row(path, bad, column), text[bad]),
          "expected a number with a decimal point, or NA where the source printed none")
  }
  number
}

#' "fs=UFS;load=none" as a named vector; a word without = is a label of its own.
parse_config <- function(text, line, path) {
  parts <- trimws(strsplit(text, ";", fixed = TRUE)[[1]])
  parts <- parts[nzchar(parts)]
  bad <- which(grepl("^=", parts))[1]
  if (!is.na(bad)) abort(sprintf("%s: \"%s\"", at_row(path, line, "config"), parts[bad]),
                         "expected key=value, several joined by ;")
  stats::setNames(sub("^[^=]+=", "", parts), sub("=.*", "", parts))
}

#' One in the last place of a printed number: 0.01 for "1.00", 1 for "33".
last_digit <- function(text) {
  decimals <- ifelse(grepl(".", text, fixed = TRUE), nchar(sub("[^0-9].*$", "", sub("^[^.]*[.]", "", text))), 0)
  10^-decimals
}

#' A number as tables print it: 1,234  5:50  8.2:1  1.13x  50 %  40.6 (+-) 14.2  58.5MB/sec.
#'
#' @return list value, res, sd, sd_text, unit; value is NA when the text is no number.
parse_cell <- function(text) {
  nothing <- list(value = NA_real_, res = NA_real_, sd = NA_real_, sd_text = "", unit = "")
  text <- gsub(" ", "", trimws(text))
  spread <- regmatches(text, regexec("^(.+?)(?:\u00b1|[+]/?-|[|])([0-9.]+)$", text, perl = TRUE))[[1]]
  if (length(spread)) text <- spread[2]
  if (grepl("^[0-9]+:[0-9]{2}(:[0-9]{2})?([.][0-9]+)?$", text)) {
    seconds <- tryCatch(parse_mmss(text), error = function(e) NA_real_)
    return(utils::modifyList(nothing, list(value = seconds, res = last_digit(text), unit = "s")))
  }
  hit <- regmatches(text, regexec("^([0-9]{1,3}(?:,[0-9]{3})+(?:[.][0-9]+)?|[0-9]*[.]?[0-9]+)(:1|[A-Za-z%/]*)$", text,
                                  perl = TRUE))[[1]]
  if (!length(hit)) return(nothing)
  plain <- gsub(",", "", hit[2])
  list(value = as.numeric(plain), res = last_digit(plain), sd = if (length(spread)) as.numeric(spread[3]) else NA_real_,
       sd_text = if (length(spread)) spread[3] else "", unit = if (hit[3] == ":1") "x" else hit[3])
}

#' Any CSV: columns of words are labels, columns of numbers are printed; a heading may hold a unit, as in "write (s)".
read_printed_wide <- function(rows, path) {
  cells <- lapply(rows, function(column) lapply(column, parse_cell))
  known <- vapply(cells, function(column) mean(!is.na(vapply(column, `[[`, 0, "value"))), 0)
  printed <- names(rows)[known > 0.5]
  if (!length(printed)) abort(sprintf("%s: no column of numbers", path), paste(
    "expected columns metric and value, or a table in which some column holds numbers; found:",
    paste(names(rows), collapse = ", ")
  ))
  for (name in printed) audit_cells(rows[[name]], cells[[name]], name, path)
  labels <- rows[, setdiff(names(rows), printed), with = FALSE]
  out <- data.table::rbindlist(lapply(printed, function(name) wide_column(name, rows, cells[[name]], labels, printed)))
  attach_spread(out[!is.na(value)])
}

audit_cells <- function(text, cells, name, path) {
  value <- vapply(cells, `[[`, 0, "value")
  bad <- which(is.na(value) & !trimws(text) %in% NOT_PRINTED)[1]
  if (!is.na(bad)) abort(sprintf("%s: \"%s\" is not a number", at_row(path, bad, name), text[bad]),
                         "expected numbers in this column, as in its other rows, or - where nothing was printed")
}

wide_column <- function(name, rows, cells, labels, printed) {
  heading <- parse_heading(name)
  run <- grepl(RUN_COLUMN, tolower(heading$stem))
  listed <- any(grepl(RUN_COLUMN, tolower(printed)))
  mean <- listed && grepl(MEAN_COLUMN, tolower(heading$stem))
  spread <- listed && grepl(SD_COLUMN, tolower(heading$stem))
  units <- vapply(cells, `[[`, "", "unit")
  config <- lapply(seq_len(nrow(rows)), function(i) {
    given <- if (ncol(labels)) unlist(labels[i]) else stats::setNames(as.character(i), "row")
    if (run) c(given, run = gsub("[^0-9]", "", heading$stem)) else given
  })
  pick <- function(key, kind) vapply(cells, `[[`, kind, key)
  data.table::data.table(
    line = seq_len(nrow(rows)), id = sprintf("row %d, %s", seq_len(nrow(rows)), name), source = "", table = "",
    config = config, metric = if (run || mean || spread) "value" else metric_name(heading$stem),
    unit = ifelse(nzchar(units), units, heading$unit),
    statistic = if (spread) "sd" else if (mean) "mean" else "single", text = trimws(rows[[name]]),
    value = pick("value", 0), sd = pick("sd", 0), sd_text = pick("sd_text", ""),
    n = if (mean) as.numeric(sum(grepl(RUN_COLUMN, tolower(printed)))) else NA_real_, res = pick("res", 0),
    raw = trimws(rows[[name]])
  )
}

#' A column of standard deviations belongs to the means of the same rows.
attach_spread <- function(rows) {
  spread <- rows[statistic == "sd"]
  means <- which(rows$statistic == "mean")
  for (i in means) {
    mine <- spread[line == rows$line[i]]
    if (nrow(mine)) rows[i, c("sd", "sd_text") := list(mine$value[1], mine$text[1])]
  }
  rows[statistic != "sd"]
}

#' "Write time (s)" is a stem and a unit; a heading that is a unit alone has no stem of its own.
parse_heading <- function(name) {
  hit <- regmatches(name, regexec("^(.*?) *[(\\[]([^()\\[\\]]+)[])]$", name, perl = TRUE))[[1]]
  if (length(hit) && !is.na(unit_of_text(hit[3])$factor)) return(list(stem = hit[2], unit = hit[3]))
  if (!is.na(unit_of_text(name)$factor)) return(list(stem = "value", unit = name))
  list(stem = name, unit = "")
}

metric_name <- function(text) gsub("^_|_$", "", gsub("[^a-z0-9/]+", "_", tolower(text)))
