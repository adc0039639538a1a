# Where a number comes from. Whatever has a digit reaches the page through one of the functions below: a number with a
# link to its row, a name, or a date. report_scan.R refuses a page with any other digit in its text.

# A word with a digit in it, with its sign, its unit glued to it, or its per cent.
WITH_DIGIT <- paste0("[\\p{L}\\d_+\u2212\u00d7~^*.,:/-]*\\d",
                     "(?:[\\p{L}\\d_+\u2212\u00d7~^*.,:/-]*[\\p{L}\\d_%])?(?:[ \u00a0]?%)?")

#' A number, linked to where it was read.
#'
#' @param text what is shown; nothing is shown for an empty one. `source` from at_rows(), at_key(), at_line() or a path.
num <- function(text, source) {
  text <- rep_len(ifelse(is.na(text), "", as.character(text)), max(length(text), if (length(text)) length(source)))
  ifelse(nzchar(text), sprintf("<a class=\"num\" href=\"%s\">%s</a>", esc(source), esc(text)), "")
}

#' A sentence in which every number links to `source`; words such as "gzip-9" are names.
said <- function(text, source) {
  unlist(Map(said_once, as.character(text), source, USE.NAMES = FALSE))
}

said_once <- function(text, source) {
  if (is.na(text)) return("")
  parts <- regmatches(text, gregexpr(WITH_DIGIT, text, perl = TRUE), invert = NA)[[1]]
  matched <- seq_along(parts) %% 2L == 0L
  is_name <- grepl("^\\p{L}", parts, perl = TRUE)
  paste0(ifelse(!matched, esc(parts), ifelse(is_name, ident(parts), num(parts, source))), collapse = "")
}

#' Lines of a CSV file, the heading being row 1 (RFC 7111).
at_rows <- function(file, lines) {
  if (is.list(lines)) lines <- vapply(lines, row_ranges, "")
  sprintf("%s#row=%s", href_path(file), lines)
}

#' A value of a JSON file, by its pointer (RFC 6901).
at_key <- function(file, pointer) sprintf("%s#%s", href_path(file), utils::URLencode(pointer))

#' Lines of a text file.
at_line <- function(file, from, to = from) {
  fragment <- ifelse(from == to, sprintf("L%d", from), sprintf("L%d-L%d", from, to))
  sprintf("%s#%s", href_path(file), fragment)
}

href_path <- function(path) vapply(path, utils::URLencode, "", USE.NAMES = FALSE)

#' The name of something: a claim, a level, a metric, a version, a digest.
ident <- function(text) ifelse(nzchar(text), sprintf("<code class=\"id\">%s</code>", esc(text)), "")

#' Text with names in it but no numbers.
named <- function(text) {
  vapply(as.character(text), function(one) {
    parts <- regmatches(one, gregexpr("[^\\s,;()]*\\d[^\\s,;()]*", one, perl = TRUE), invert = NA)[[1]]
    paste0(ifelse(seq_along(parts) %% 2L == 0L, ident(parts), esc(parts)), collapse = "")
  }, "", USE.NAMES = FALSE)
}

#' A level of a factor: a name, or a number that needs its source.
level_html <- function(level, source) ifelse(grepl("^[-+0-9.,:/% ]+$", level), num(level, source), named(level))

#' A date or a moment.
dated <- function(text) ifelse(nzchar(text), sprintf("<time>%s</time>", esc(text)), "")

#' "28 cells", the number with its source.
counted <- function(n, noun, source) sprintf("%s %s%s", num(n, source), noun, ifelse(n == 1, "", "s"))

#' Lines on which the claims of claims.yaml begin and end, by claim.
lines_of_claims <- function(path, ids) {
  text <- readLines(path, encoding = "UTF-8", warn = FALSE)
  starts <- vapply(ids, function(id) {
    quoted <- gsub("([.])", "\\\\\\1", id)
    grep(sprintf("^ *- *\\{? *id: *[\"']?%s[\"']?( |,|$)", quoted), text)[1]
  }, 0L)
  if (anyNA(starts)) abort(sprintf("%s: claim %s is nowhere to be seen", path, ids[is.na(starts)][1]))
  ends <- c(starts[-1] - 1L, length(text))
  data.table::data.table(claim = ids, from = starts, to = ifelse(ends < starts, starts, ends))
}

#' The lines of a top-level key of a YAML file; the whole file when it has no such key.
key_lines <- function(path, key) {
  text <- readLines(path, encoding = "UTF-8", warn = FALSE)
  tops <- grep("^[a-z_]+:", text)
  from <- grep(sprintf("^%s:", key), text)[1]
  if (is.na(from)) return(c(1L, length(text)))
  after <- tops[tops > from]
  c(from, if (length(after)) after[1] - 1L else length(text))
}

#' A nested list as text named by JSON pointers; long lists are counted, not shown.
flatten_facts <- function(x, pointer = "", depth = 0L) {
  if (is.null(x) || !length(x)) return(character())
  if (!is.list(x)) return(stats::setNames(plain_text(x), pointer))
  if (is.null(names(x))) return(stats::setNames(flat_array(x), pointer))
  if (depth > 3L) return(stats::setNames(sprintf("%d entries", length(x)), pointer))
  keys <- gsub("/", "~1", gsub("~", "~0", names(x), fixed = TRUE), fixed = TRUE)
  unlist(Map(function(value, key) flatten_facts(value, paste0(pointer, "/", key), depth + 1L), unname(x), keys,
             USE.NAMES = FALSE))
}

plain_text <- function(x) paste(if (is.character(x)) x else format(x, trim = TRUE, digits = 10), collapse = ", ")

flat_array <- function(x) {
  plain <- all(vapply(x, function(item) !is.list(item) && length(item) == 1L, TRUE))
  if (plain && length(x) <= 12L) return(paste(unlist(x), collapse = ", "))
  words <- plain && all(vapply(x, is.character, TRUE)) && length(x) <= 120L
  if (words) paste(unlist(x), collapse = " ") else sprintf("%d entries", length(x))
}

#' A JSON file's values, each linked to its pointer.
facts_table <- function(x, file, caption = "") {
  flat <- flatten_facts(x)
  shown <- gsub("~1", "/", gsub("/", " \u203a ", sub("^/", "", names(flat)), fixed = TRUE), fixed = TRUE)
  html_facts(named(shown), num(flat, at_key(file, names(flat))), caption)
}
