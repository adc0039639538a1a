# Small pieces of HTML. Every piece takes text and escapes it; nothing here looks at data.

esc <- function(x) {
  x <- gsub("&", "&amp;", as.character(x), fixed = TRUE)
  x <- gsub("<", "&lt;", x, fixed = TRUE)
  x <- gsub(">", "&gt;", x, fixed = TRUE)
  gsub("\"", "&quot;", x, fixed = TRUE)
}

tag <- function(name, content, ...) {
  attributes <- c(...)
  shown <- if (length(attributes)) paste0(" ", names(attributes), "=\"", esc(attributes), "\"", collapse = "") else ""
  sprintf("<%s%s>%s</%s>", name, shown, paste(content, collapse = ""), name)
}

tag_each <- function(name, content) sprintf("<%s>%s</%s>", name, content, name)

link_to <- function(href, html) sprintf("<a href=\"%s\">%s</a>", esc(href), html)

#' A table that reads well without scripts, sorts with them, and on a narrow screen turns its rows into cards when its
#' class has the word "cards".
#'
#' @param cells list of character vectors of ready HTML, one per column; the first column names the row.
#' @param headings plain words, one per column; `caption` what the table shows, for those who cannot see it.
#' @param keys named list: what a column sorts by where that is not its text; `ids` one per row.
html_table <- function(cells, headings, class = "", keys = list(), caption = "", ids = NULL, foot = NULL) {
  columns <- Map(html_column, cells, headings, lapply(names(cells), function(name) keys[[name]]),
                 c("th scope=\"row\"", rep("td", length(cells) - 1L)))
  named <- if (is.null(ids)) "" else sprintf(" id=\"%s\"", esc(ids))
  body <- paste0("<tr", named, ">", do.call(paste0, unname(columns)), "</tr>", collapse = "\n")
  said <- if (nzchar(caption)) tag("caption", esc(caption)) else ""
  head <- paste0("<th scope=\"col\">", named(headings), "</th>", collapse = "")
  foot <- if (is.null(foot)) "" else sprintf("<tfoot><tr>%s</tr></tfoot>", foot)
  table <- sprintf("<table class=\"sortable %s\">%s<thead><tr>%s</tr></thead><tbody>\n%s\n</tbody>%s</table>", class,
                   said, head, body, foot)
  tag("div", table, class = "scroll")
}

html_column <- function(cells, heading, key, element) {
  sort <- if (is.null(key)) "" else sprintf(" data-key=\"%s\"", esc(ifelse(is.na(key), "", key)))
  sprintf("<%s data-label=\"%s\"%s><div>%s</div></%s>", element, esc(heading), sort, cells, sub(" .*", "", element))
}

html_list <- function(items) tag("ul", vapply(items, function(item) tag("li", item), ""))

#' Two columns of names and values, both ready HTML.
html_facts <- function(names, values, caption = "") {
  rows <- sprintf("<tr><th scope=\"row\">%s</th><td>%s</td></tr>", names, values)
  said <- if (nzchar(caption)) tag("caption", esc(caption)) else ""
  sprintf("<div class=\"scroll\"><table class=\"facts\">%s<tbody>%s</tbody></table></div>", said,
          paste(rows, collapse = "\n"))
}

#' @param summary,content ready HTML.
html_details <- function(summary, content, class = "more") {
  tag("details", c(tag("summary", summary), content), class = class)
}

paragraph <- function(...) tag("p", paste0(...))

#' Fill the holes of a template, {{name}}, each with ready HTML; a hole that nothing fills is an error.
fill <- function(template, values, name = "template") {
  at <- gregexpr("\\{\\{[a-z_]+\\}\\}", template)
  holes <- gsub("[{}]", "", regmatches(template, at)[[1]])
  empty <- setdiff(holes, names(values))
  if (length(empty)) abort(sprintf("%s: nothing fills {{%s}}", name, empty[1]),
                           paste("known:", paste(sort(names(values)), collapse = ", ")))
  regmatches(template, at) <- list(vapply(values[holes], paste, "", collapse = "\n"))
  template
}

read_whole <- function(path) paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")

#' A file as a data URI.
data_uri <- function(path, type) {
  sprintf("data:%s;base64,%s", type, jsonlite::base64_enc(readBin(path, "raw", file.size(path))))
}

#' Seconds as a person says them.
show_seconds <- function(s) {
  if (is.null(s) || is.na(s)) return("not recorded")
  s <- round(as.numeric(s))
  if (s < 60) return(sprintf("%.0f s", s))
  if (s < 3600) return(sprintf("%.0f min %02.0f s", s %/% 60, s %% 60))
  sprintf("%.0f h %02.0f min", s %/% 3600, (s %% 3600) %/% 60)
}

#' Whole numbers as such, grouped by thousands; others with four digits.
show_quantity <- function(x) {
  whole <- abs(x - round(x)) < 1e-9 | abs(x) >= 1e5
  ifelse(whole & abs(x) > 1, formatC(round(x), format = "d", big.mark = "\u202f"),
         formatC(x, digits = 4, format = "g", flag = "#"))
}
