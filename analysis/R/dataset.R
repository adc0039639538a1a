# Reading dataset.csv: checked once at the edge, so that nothing behind it meets a surprise.

DATASET_COLUMNS <- c(
  "study", "campaign", "protocol", "cell", "block", "boot", "run", "position", "status", "reason", "flags",
  "metric", "unit", "higher_is_better", "value", "resolution", "bound", "validity_class", "synthetic", "mode",
  "image", "image_digest", "kernel", "zfs", "accel", "cpu_model", "host", "started_at", "duration_s", "prereg", "raw"
)
CLASSES <- c("S", "E", "V", "B")
STATUSES <- c("ok", "invalid", "failed")

#' Read and validate a dataset.
#'
#' @param path dataset.csv: one row per measurement of one run; times in seconds, bytes in bytes.
#' @return a list: `rows` (data.table with numeric block, run, position, value, resolution and `row`, the line of the
#'   file counted from 1 without the header), `factors`, `cells` (one row per cell), `blocks`, `path`, `sha256`.
read_dataset <- function(path) {
  must_exist(path, "dataset", "the stage before this one is: dataset")
  rows <- read_text_table(path)
  check_columns(rows, path)
  rows[, row := .I]
  check_words(rows, path)
  for (column in c("block", "run", "position")) whole_column(rows, column, path)
  number_column(rows, "value", path)
  number_column(rows, "resolution", path)
  check_values(rows, path)
  factors <- sub("^f_", "", grep("^f_", names(rows), value = TRUE))
  cells <- unique(rows[, c("cell", paste0("f_", factors)), with = FALSE])
  check_consistent(rows, cells, path)
  list(
    rows = rows, factors = factors, cells = cells, blocks = sort(unique(rows$block)), path = path,
    sha256 = digest::digest(file = path, algo = "sha256"), cache = new.env()
  )
}

#' A CSV file as text in every column; fread leaves doubled quotes inside quoted fields as they are, so they are undone
#' here.
read_text_table <- function(path) {
  rows <- tryCatch(
    withCallingHandlers(
      data.table::fread(path, colClasses = "character", na.strings = NULL, encoding = "UTF-8", sep = ",", fill = FALSE),
      # That an earlier file was refused half-way says nothing about this one.
      warning = function(w) if (grepl("Previous fread", conditionMessage(w))) invokeRestart("muffleWarning")
    ),
    warning = function(w) abort(sprintf("%s: not a whole CSV file: %s", path, short_row(conditionMessage(w)))),
    error = function(e) {
      if (inherits(e, "zassay_problem")) stop(e)
      abort(sprintf("%s: not a CSV file: %s", path, conditionMessage(e)))
    }
  )
  for (column in names(rows)) {
    doubled <- grep("\"\"", rows[[column]], fixed = TRUE)
    if (length(doubled)) data.table::set(rows, doubled, column,
                                         gsub("\"\"", "\"", rows[[column]][doubled], fixed = TRUE))
  }
  rows
}

#' fread counts lines of the file, we count rows under the heading.
short_row <- function(said) {
  hit <- regmatches(said, regexec("line ([0-9]+)[.] Expected ([0-9]+) fields but found ([0-9]+)", said))[[1]]
  if (!length(hit)) return(said)
  sprintf("row %d has %s, expected %s", as.integer(hit[2]) - 1L, count(as.integer(hit[4]), "field"), hit[3])
}

at_row <- function(path, row, column) sprintf("%s: row %d, column \"%s\"", path, row, column)

check_columns <- function(rows, path) {
  twice <- names(rows)[duplicated(names(rows))]
  if (length(twice)) abort(sprintf("%s: column \"%s\" is there twice", path, twice[1]), "expected one of each name")
  missing <- setdiff(DATASET_COLUMNS, names(rows))
  if (length(missing)) {
    abort(sprintf("%s: column \"%s\" is missing", path, missing[1]),
          paste("expected columns:", paste(c(DATASET_COLUMNS, "f_<factor>"), collapse = ", ")))
  }
  if (!any(grepl("^f_", names(rows)))) abort(sprintf("%s: no factor column", path),
                                             "expected at least one column f_<factor>")
  if (nrow(rows) == 0L) abort(sprintf("%s: no rows", path), "expected one row per measurement")
}

check_words <- function(rows, path) {
  legal <- list(status = STATUSES, validity_class = CLASSES, synthetic = c("true", "false"),
                higher_is_better = c("true", "false", ""))
  for (column in names(legal)) {
    bad <- which(!rows[[column]] %in% legal[[column]])[1]
    if (!is.na(bad)) {
      abort(sprintf("%s: \"%s\"", at_row(path, bad, column), rows[[column]][bad]),
            paste("expected one of:", paste(shQuote(legal[[column]]), collapse = ", ")))
    }
  }
}

whole_column <- function(rows, column, path) {
  bad <- which(!grepl("^[1-9][0-9]{0,8}$", rows[[column]]))[1]
  if (!is.na(bad)) {
    abort(sprintf("%s: \"%s\"", at_row(path, bad, column), rows[[column]][bad]), "expected a whole number from 1")
  }
  data.table::set(rows, j = column, value = as.integer(rows[[column]]))
}

#' Turn a text column into numbers; empty is missing, and anything else that is not a finite number is an error.
number_column <- function(rows, column, path) {
  text <- rows[[column]]
  # as.numeric alone would also take hexadecimal.
  number <- suppressWarnings(as.numeric(ifelse(grepl("^-?[0-9.]+([eE][-+]?[0-9]+)?$", text), text, NA)))
  bad <- which(nzchar(text) & !is.finite(number))[1]
  if (!is.na(bad)) {
    abort(sprintf("%s: \"%s\" is not a finite number", at_row(path, bad, column), text[bad]),
          "expected a number with a decimal point, or nothing where the run has no value")
  }
  data.table::set(rows, j = column, value = number)
}

check_values <- function(rows, path) {
  bad <- rows[status != "ok" & !is.na(value), row][1]
  if (!is.na(bad)) abort(sprintf("%s: a run that is not ok has a value", at_row(path, bad, "value")), "expected: empty")
  bad <- rows[status == "ok" & is.na(value), row][1]
  if (!is.na(bad)) abort(sprintf("%s: a run that is ok has no value", at_row(path, bad, "value")), "expected: a number")
  bad <- rows[status != "ok" & !nzchar(reason), row][1]
  if (!is.na(bad)) abort(sprintf("%s: a run that is not ok gives no reason", at_row(path, bad, "reason")),
                         "expected: why it does not count")
  bad <- rows[value < 0, row][1]
  if (!is.na(bad)) abort(sprintf("%s: negative value %s", at_row(path, bad, "value"), rows$value[bad]), "expected >= 0")
  bad <- rows[synthetic == "true" & validity_class != "S", row][1]
  if (!is.na(bad)) abort(sprintf("%s: synthetic rows must be class S", at_row(path, bad, "validity_class")),
                         "expected S, or synthetic false")
}

check_consistent <- function(rows, cells, path) {
  check_levels(rows, cells, path)
  key <- rows[, .(row, cell, block, run, metric)]
  bad <- which(duplicated(key[, .(cell, block, run, metric)]))[1]
  if (!is.na(bad)) abort(sprintf("%s: the same measurement appears twice", at_row(path, bad, "metric")),
                         "expected one row for each metric of a run of a cell in a block")
  bad <- rows[, .(row, odd = unit != unit[1], first = unit[1]), by = metric][odd == TRUE][order(row)][1]
  if (!is.na(bad$row)) {
    abort(sprintf("%s: metric \"%s\" has different units: %s, and %s above", at_row(path, bad$row, "unit"), bad$metric,
                  rows$unit[bad$row], bad$first), "expected one unit per metric")
  }
}

#' A cell has the same levels in all its rows.
check_levels <- function(rows, cells, path) {
  twice <- cells[duplicated(cell), cell][1]
  if (is.na(twice)) return(invisible())
  mine <- rows[cell == twice]
  for (column in grep("^f_", names(rows), value = TRUE)) {
    odd <- which(mine[[column]] != mine[[column]][1])[1]
    if (!is.na(odd)) {
      abort(sprintf("%s: cell \"%s\" has two different sets of factor levels: %s, and %s above",
                    at_row(path, mine$row[odd], column), twice, mine[[column]][odd], mine[[column]][1]),
            "expected the same levels in all rows of a cell")
    }
  }
}

#' Refuse values that have no logarithm, naming the row.
check_positive <- function(rows, path) {
  bad <- rows[value <= 0, row][1]
  if (!is.na(bad)) {
    abort(sprintf("%s: log of non-positive value %s", at_row(path, bad, "value"), rows[row == bad, value]),
          "expected > 0 for a metric compared as a ratio; rates of zero must be aggregated before the dataset")
  }
}
