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

#' A value with an id of its own that links to where it came from.
linked <- function(text, id, href) {
  ifelse(nzchar(text), sprintf("<a class=\"num\" id=\"%s\" href=\"%s\">%s</a>",
    esc(id), esc(href), esc(text)), "")
}

#' A table that plain JavaScript sorts; `cells` is a list of character vectors of ready HTML, one per column.
#'
#' On a narrow screen each row becomes a card, with the column's name before each value.
html_table <- function(cells, headings, class = "", keys = list()) {
  head <- paste0("<th scope=\"col\" tabindex=\"0\">", esc(headings), "</th>", collapse = "")
  columns <- lapply(seq_along(cells), function(j) {
    key <- keys[[names(cells)[j]]]
    sort <- if (is.null(key)) "" else sprintf(" data-key=\"%s\"", esc(key))
    sprintf("<td data-label=\"%s\"%s><div>%s</div></td>", esc(headings[j]), sort, cells[[j]])
  })
  rows <- do.call(paste0, columns)
  body <- paste0("<tr>", rows, "</tr>", collapse = "\n")
  table <- sprintf("<table class=\"sortable %s\"><thead><tr>%s</tr></thead><tbody>\n%s\n</tbody></table>", class, head,
                   body)
  tag("div", table, class = "scroll")
}

html_list <- function(items) tag("ul", vapply(items, function(item) tag("li", item), ""))

#' Two columns of names and values.
html_facts <- function(values) {
  rows <- sprintf("<tr><th scope=\"row\">%s</th><td>%s</td></tr>", esc(names(values)), esc(unlist(values)))
  sprintf("<div class=\"scroll\"><table class=\"facts\"><tbody>%s</tbody></table></div>", paste(rows, collapse = "\n"))
}

html_details <- function(summary, content) tag("details", c(tag("summary", esc(summary)), content))

#' Raw HTML in a knitted document, so that pandoc leaves it alone.
raw_html <- function(html) cat("\n```{=html}\n", html, "\n```\n", sep = "")

#' A nested list as named text: `a.b` = value; long lists are counted, not shown.
flatten_facts <- function(x, prefix = "", depth = 0L) {
  if (is.null(x) || !length(x)) return(character())
  if (!is.list(x)) return(stats::setNames(paste(format(x, trim = TRUE, digits = 10), collapse = ", "), prefix))
  if (is.null(names(x))) return(stats::setNames(flat_array(x), prefix))
  if (depth > 3L) return(stats::setNames(sprintf("%d entries", length(x)), prefix))
  below <- function(name) if (nzchar(prefix)) paste0(prefix, ".", name) else name
  parts <- lapply(names(x), function(name) flatten_facts(x[[name]], below(name), depth + 1L))
  unlist(parts)
}

flat_array <- function(x) {
  plain <- all(vapply(x, function(item) !is.list(item) && length(item) == 1L, TRUE))
  if (plain && length(x) <= 12L) paste(unlist(x), collapse = ", ") else sprintf("%d entries", length(x))
}

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
