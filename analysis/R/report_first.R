# The first screen: what the campaign was, its conclusion in one sentence, and how the claims of each source came out.

SECTION_WORDS <- c("REPLICATED" = "replicated", "NOT REPLICATED" = "not replicated", "INCONCLUSIVE" = "inconclusive",
                   "NOT TESTABLE HERE" = "not testable here", "EFFECT FOUND" = "found to have an effect",
                   "EQUIVALENT" = "equivalent", "EXPLORATORY" = "exploratory")
# The columns that are always there; the others appear when a claim came out so.
MAIN_VERDICTS <- 4L

#' One sentence over all claims of all sources.
conclusion <- function(page) {
  claims <- page$claims
  parts <- vapply(intersect(names(SECTION_WORDS), claims$verdict), function(word) {
    n <- sum(claims$verdict == word)
    sprintf("%s %s %s", tally(claims, claims$verdict == word), if (n == 1L) "is" else "are", SECTION_WORDS[[word]])
  }, "")
  sources <- data.table::uniqueN(claims$study)
  sprintf("Of the %s claims of %s, %s%s.", tally(claims, TRUE),
          if (sources == 1L) "one source" else paste(spelled(sources), "sources"), join_words(parts),
          because_untested(page))
}

#' The number of claims that are `which`, linked to their rows.
tally <- function(claims, which) {
  lines <- claims$line[rep_len(which, nrow(claims))]
  if (!length(lines)) return(num("0", "cited/claims.csv"))
  num(as.character(length(lines)), at_rows("cited/claims.csv", row_ranges(lines)))
}

SPELLED <- c("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

spelled <- function(n) if (n >= 1L && n <= length(SPELLED)) SPELLED[n] else "many"

join_words <- function(x) {
  if (length(x) < 2L) return(x)
  paste(paste(utils::head(x, -1), collapse = ", "), "and", utils::tail(x, 1))
}

#' Why claims could not be tested, the most frequent reason first.
because_untested <- function(page) {
  claims <- page$claims
  why <- ifelse(claims$verdict == "NOT TESTABLE HERE", mapply(why_untested, claims$detail, claims$data_class), "")
  reasons <- names(sort(-table(why[nzchar(why)])))
  if (!length(reasons)) return("")
  paste0(": ", join_words(vapply(reasons, function(reason) paste(tally(claims, why == reason), reason), "")))
}

why_untested <- function(detail, class) {
  switch(detail,
    "class" = switch(class, S = "because synthetic data decide nothing about ZFS",
                     E = "because this host emulates the CPU, so times are not evidence (counts are)",
                     "because they need another class of machine"),
    "absent" = "because the data lack what they need",
    "no data" = "because no valid measurement was made",
    "no estimator" = "because nothing here can decide them",
    "not measured" = "because this campaign did not measure their source",
    "for other reasons"
  )
}

CLASS_NOTES <- c(
  S = "The data are <strong>synthetic</strong> (class S). They exercise the pipeline and say nothing about ZFS.",
  E = paste(
    "This host emulates the CPU (class E), so times are not evidence; counts are.",
    "Compress ratios, allocated bytes, hit counters, thread counts and the",
    "bookkeeping of the measurement are as real as anywhere and are decided below. Claims about seconds are marked",
    "<em>not testable here</em>, by rule, and their estimates are withheld:",
    "emulation makes computation dearer unevenly and can even turn a sign round."
  ),
  V = paste(
    "The guests ran on hardware virtualisation (class V): ratios within this host count,",
    "absolute speeds are not properties of the hardware."
  ),
  B = "The runs were on bare metal (class B)."
)

#' What the data may decide; where sources were measured in several classes, which note is about which.
class_notes <- function(page) {
  classes <- vapply(page$studies, `[[`, "", "class")
  ids <- vapply(page$studies, function(study) ident(study$claims$source$id), "")
  present <- intersect(CLASSES, classes)
  of <- vapply(present, function(class) paste0(paste(ids[classes == class], collapse = ", "), ": "), "")
  paste(tag_each("p", paste0(if (length(present) > 1L) of else "", CLASS_NOTES[present])), collapse = "\n")
}

#' How the claims of each source came out: a row per source, a column per verdict.
summary_table <- function(page) {
  claims <- page$claims
  words <- names(SECTION_WORDS)
  words <- words[seq_along(words) <= MAIN_VERDICTS | words %in% claims$verdict]
  all <- c(page$studies, page$others)
  column <- function(word) {
    vapply(all, function(study) tally(claims, claims$study == study$name & claims$verdict == word), "")
  }
  cells <- c(list(source = vapply(all, summary_name, "", measured = length(page$studies), page = page)),
             stats::setNames(lapply(words, column), words),
             list(all = vapply(all, function(study) tally(claims, claims$study == study$name), "")))
  keys <- lapply(words, function(word) {
    vapply(all, function(study) sum(claims$study == study$name & claims$verdict == word), 0L)
  })
  totals <- c(vapply(words, function(word) tally(claims, claims$verdict == word), ""), tally(claims, TRUE))
  foot <- paste0("<th scope=\"row\">All</th>", paste0("<td>", totals, "</td>", collapse = ""))
  table <- html_table(cells, c("Source", words, "Claims"), "summary", stats::setNames(keys, words),
                      "How the claims of each source came out", foot = foot)
  glyph_headings(table, words)
}

summary_name <- function(study, measured, page) {
  known <- study$name %in% vapply(page$studies, `[[`, "", "name")
  name <- sprintf("%s %s", ident(study$claims$source$id), named(study$setup$title))
  link <- link_to(paste0(if (known) "#study-" else "#unmeasured-", study$name), name)
  if (known) link else paste0(link, " <small>not measured</small>")
}

#' A sign and a word in the headings, so that a narrow screen can show the sign alone.
glyph_headings <- function(table, words) {
  for (word in words) {
    plain <- sprintf("<th scope=\"col\">%s</th>", word)
    spoken <- paste0(substr(word, 1, 1), tolower(substring(word, 2)))
    sign <- tag("span", GLYPHS[[word]], class = "sign", "aria-hidden" = "true")
    head <- tag("th", c(sign, " ", tag("span", spoken, class = "word")), scope = "col",
                class = gsub(" ", "-", tolower(word)))
    table <- sub(plain, head, table, fixed = TRUE)
  }
  table
}
