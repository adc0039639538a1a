# The page is refused when a number on it has no source, or a source that is not there.

CARRIER <- "^<(a class=\"num\" href=\"[^\"]+\"|code class=\"id\"|time)>$"
# What a name may look like: a letter in it, three parts of a version, or a digest.
NAME_PATTERN <- "[A-Za-z]|^[0-9]+[.][0-9]+[.][0-9]|^[0-9a-f]{8,64}$"
DATE_PATTERN <- "^[12][0-9]{3}(-[0-9]{2}(-[0-9]{2}([T ][0-9:.]+([+-][0-9:]+|Z)?)?)?)?$"

#' Digits in the text of a page that are neither a sourced number nor a name nor a date; with the words before them.
#'
#' Text in scripts, styles and attributes is not looked at: nobody reads it.
unsourced_numbers <- function(html) {
  parts <- split_page(html)
  digits <- which(!startsWith(parts, "<") & grepl("[0-9]", parts))
  before <- c("", parts)[digits]
  content <- gsub("&[a-z]+;", "", parts[digits])
  carried <- grepl(CARRIER, before)
  carried <- carried & (!startsWith(before, "<code") | grepl(NAME_PATTERN, content))
  carried <- carried & (!startsWith(before, "<time") | grepl(DATE_PATTERN, content))
  vapply(digits[!carried], function(at) in_context(parts, at), "")
}

#' Tags and the text between them; comments, scripts, styles and the title are one part each.
split_page <- function(html) {
  pattern <- "(?s)<!--.*?-->|<(script|style|title)\\b.*?</\\1>|<[^>]*+>|[^<]++"
  regmatches(html, gregexpr(pattern, html, perl = TRUE, useBytes = TRUE))[[1]]
}

in_context <- function(parts, at) {
  near <- parts[max(1L, at - 12L):at]
  text <- paste(trimws(near[!startsWith(near, "<")]), collapse = " ")
  substr(text, max(1L, nchar(text, "bytes") - 90L), nchar(text, "bytes"))
}

#' Stop when a number on the page has no source or one that does not exist.
#'
#' @param results the folder that links are relative to; `staged` where results/cited is being made.
check_numbers <- function(html, results, staged, name = "report.html") {
  loose <- unsourced_numbers(html)
  if (length(loose)) {
    abort(sprintf("%s: %s without a source", name, count(length(loose), "number")),
          c(sprintf("\"... %s\"", utils::head(loose, 5L)), "emit it through num() or said(), which take its source"))
  }
  hrefs <- unique(regmatches(html, gregexpr("(?<=<a class=\"num\" href=\")[^\"]+", html, perl = TRUE,
                                            useBytes = TRUE))[[1]])
  lost <- lost_sources(gsub("&amp;", "&", hrefs, fixed = TRUE), html, results, staged)
  if (length(lost)) abort(sprintf("%s: a number's source does not exist", name), utils::head(lost, 5L))
  invisible(length(hrefs))
}

#' Sources that lead nowhere. Raw records are not looked for: an analysis from the tables alone does not have them.
lost_sources <- function(hrefs, html, results, staged) {
  inside <- startsWith(hrefs, "#")
  anchors <- sub("^#", "", hrefs[inside])
  missing <- !vapply(sprintf(" id=\"%s\"", anchors), grepl, TRUE, x = html, fixed = TRUE)
  outside <- hrefs[!inside & !grepl("/raw/", hrefs, fixed = TRUE)]
  by_file <- split(outside, sub("#.*$", "", outside))
  c(hrefs[inside][missing], unlist(lapply(names(by_file), function(file) {
    path <- utils::URLdecode(file)
    at <- if (startsWith(path, "cited/")) file.path(staged, sub("^cited/", "", path)) else file.path(results, path)
    lost_in_file(by_file[[file]], at)
  })))
}

lost_in_file <- function(hrefs, path) {
  if (!file.exists(path)) return(hrefs)
  fragment <- ifelse(grepl("#", hrefs, fixed = TRUE), sub("^[^#]*#", "", hrefs), "")
  pointers <- startsWith(fragment, "/")
  bad <- rep(FALSE, length(hrefs))
  if (any(pointers)) bad[pointers] <- lost_pointers(fragment[pointers], path)
  counted <- !pointers & nzchar(fragment)
  if (any(counted)) bad[counted] <- last_line(fragment[counted]) > length(readLines(path, warn = FALSE))
  hrefs[bad]
}

#' The greatest line that a fragment such as "row=2-4;9" or "L3-L8" names; infinite when it names none.
last_line <- function(fragment) {
  vapply(regmatches(fragment, gregexpr("[0-9]+", fragment)), function(n) {
    if (length(n)) max(as.numeric(n)) else Inf
  }, 0)
}

lost_pointers <- function(pointers, path) {
  json <- jsonlite::read_json(path)
  vapply(pointers, function(pointer) {
    keys <- strsplit(sub("^/", "", utils::URLdecode(pointer)), "/", fixed = TRUE)[[1]]
    keys <- gsub("~0", "~", gsub("~1", "/", keys, fixed = TRUE), fixed = TRUE)
    at <- json
    for (key in keys) at <- if (is.list(at)) at[[key]]
    is.null(at)
  }, TRUE, USE.NAMES = FALSE)
}
