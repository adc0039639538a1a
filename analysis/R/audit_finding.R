# One finding: what was printed, what it should have been, and a sentence.

AUDIT_VERDICTS <- c("ok", "impossible", "truncated", "suspect")

#' @param row the printed row (one row of read_printed()); `what` short name of the check; `range` c(point, lo, hi);
#'   `verdict`; `sentence`; `rows` ids of the rows it was worked out from; `text` what was printed.
audit_row <- function(row, what, range, verdict, sentence, rows = character(), text = row$text) {
  digits <- shown_digits(text)
  shown <- if (is.null(range)) c("", "") else c(show_fixed(range[[1]], digits), show_interval(range, digits))
  data.table::data.table(
    source = row$source, table = row$table, what = what, printed = text, recomputed = shown[1], interval = shown[2],
    verdict = verdict, sentence = sentence, rows = paste(unique(c(row$id, rows)), collapse = " "), line = row$line
  )
}

audit_none <- function() {
  names <- c("source", "table", "what", "printed", "recomputed", "interval", "verdict", "sentence", "rows")
  data.table::data.table(data.table::as.data.table(stats::setNames(rep(list(character()), length(names)), names)),
                         line = integer())
}

#' Two digits more than were printed: enough to see on which side of a rounding a number lies.
shown_digits <- function(text) {
  plain <- regmatches(text, regexpr("[0-9][0-9,]*([.][0-9]+)?", text))
  if (!length(plain)) return(3)
  pmin(6, round(-log10(last_digit(plain))) + 2)
}

show_fixed <- function(x, digits) if (is.na(x)) "" else sprintf("%.*f", as.integer(digits), x)

show_interval <- function(range, digits) {
  if (range[["lo"]] == range[["hi"]]) return("")
  sprintf("[%s, %s]", show_fixed(range[["lo"]], digits), show_fixed(range[["hi"]], digits))
}

#' Compare one printed number with what follows from others, and say so.
#'
#' @param how the calculation with its numbers, such as "350 / 50.2"; `hint` is added when the number is impossible.
compare_printed <- function(row, what, how, range, rows = character(), hint = "", text = row$text, value = row$value,
                            res = row$res, worst = "impossible") {
  if (anyNA(range)) return(NULL)
  verdict <- judge_printed(value, res, range)
  if (verdict == "impossible") verdict <- worst
  digits <- shown_digits(text)
  is <- paste(c(show_fixed(range[[1]], digits), show_interval(range, digits)), collapse = " ")
  said <- switch(verdict,
    ok = sprintf("%s is %s, as printed.", how, trimws(is)),
    truncated = sprintf("%s is %s, which rounds to %s: the digits after %s were cut off.", how, trimws(is),
                        round_like(range[[1]], text), text),
    sprintf("%s is %s; %s was printed.%s", how, trimws(is), text, hint)
  )
  audit_row(row, what, range, verdict, said, rows, text)
}

round_like <- function(x, text) show_fixed(x, max(0, shown_digits(text) - 2))

#' The levels that tell a row from the others of its table.
label_row <- function(row, rows) {
  config <- row$config[[1]]
  others <- rows[source == row$source & table == row$table]$config
  varies <- vapply(names(config), function(key) {
    length(unique(vapply(others, function(c) if (key %in% names(c)) c[[key]] else "", ""))) > 1L
  }, TRUE)
  shown <- if (any(varies)) config[varies] else config
  # "on" or "12" says nothing without the name of what is on or 12.
  named <- ifelse(grepl("^([0-9.]+|on|off|yes|no|none)$", shown), paste(gsub("_", " ", names(shown)), shown), shown)
  paste(named, collapse = ", ")
}

named_check <- function(row, rows, quantity = gsub("_", " ", row$metric)) {
  label <- label_row(row, rows)
  if (nzchar(label)) sprintf("%s (%s)", quantity, label) else quantity
}

#' As it was printed where that is the number itself ("5:50"), else the number.
printed_as <- function(row) {
  cell <- parse_cell(row$raw)
  if (!is.na(cell$value) && nzchar(row$raw) && isTRUE(all.equal(cell$value, row$value))) row$raw else row$text
}

#' Four digits at least, and never an exponent.
show_plain <- function(x) {
  if (is.na(x)) return("")
  format(signif(x, max(4, nchar(trunc(abs(x))))), scientific = FALSE, trim = TRUE, digits = 15)
}
