# The self-check as a whole: what is run, and the page that shows what was found beside what methods state.

#' All checks in the order of the page.
CALIBRATION_CHECKS <- list(
  check_paired = "Intervals of production", check_variants = "Intervals of production",
  check_welch = "Intervals of production", check_slope = "Intervals of production",
  check_stopping = "Intervals of production", check_planner = "Intervals of production",
  check_mixed = "The mixed model beside them",
  check_rates = "Verdicts", check_equality = "Verdicts", check_tost = "Verdicts", check_holm = "Verdicts",
  check_median = "Rank methods", check_ranks = "Rank methods",
  check_pooled = "Wrong methods, which must be seen to be wrong",
  check_bootstrap = "Wrong methods, which must be seen to be wrong",
  check_percentiles = "Wrong methods, which must be seen to be wrong",
  check_metamorphic = "What must change nothing", check_recovery = "A known cache, recovered"
)

#' @param sims data sets for the t engine and verdicts; `mixed` for the mixed model; `boot` for resampling.
#' @param say called with the name of each check before it runs.
calibrate <- function(schema, studies, sims = 4000L, mixed = 600L, boot = 2000L, seed = 20261121L, say = identity,
                      only = names(CALIBRATION_CHECKS)) {
  RNGkind("Mersenne-Twister", "Inversion", "Rejection")
  plan <- list(sims = sims, mixed = mixed, boot = boot, schema = schema, studies = studies, seed = seed)
  parts <- lapply(only, function(name) {
    say(name)
    rows <- get(name)(plan)
    if (!is.null(rows) && nrow(rows)) rows[, section := CALIBRATION_CHECKS[[name]]][]
  })
  data.table::rbindlist(parts)
}

#' The results as lines of Markdown, as one HTML page, and as the table that the report reads.
write_calibration <- function(results, path, about) {
  lines <- c("# Self-check by simulation", "", calibration_words(results, about), "")
  html <- c("<h1>Self-check by simulation</h1>", sprintf("<p>%s</p>", esc(calibration_words(results, about))))
  for (name in unique(results$section)) {
    rows <- results[section == name]
    cells <- calibration_cells(rows)
    head <- c("check", "case", "simulated", "found", "stated", "accepted", "")
    lines <- c(lines, paste("##", name), "", md_row(head), md_row(rep("---", length(head))),
               apply(as.matrix(data.table::as.data.table(cells)), 1, md_row), "")
    html <- c(html, sprintf("<h2>%s</h2>", esc(name)), html_rows(head, cells, rows$pass))
  }
  text_aside(lines, sub("[.]html$", ".md", path))
  csv_aside(results, sub("[.]html$", ".csv", path))
  text_aside(c(CALIBRATION_HEAD, html, "</body></html>"), path)
}

calibration_words <- function(results, about) {
  failed <- results[pass == FALSE]
  paste(sprintf("%d of %d checks passed%s.", sum(results$pass), nrow(results),
            if (nrow(failed)) paste0("; not: ", paste(failed$check, failed$case, sep = ", ", collapse = "; ")) else ""),
    about)
}

calibration_cells <- function(rows) {
  number <- function(x) ifelse(is.na(x), "", sprintf("%.3f", x))
  list(rows$check, rows$case, ifelse(is.na(rows$sims), "", format(rows$sims, big.mark = " ", trim = TRUE)),
       number(rows$found), rows$stated,
       ifelse(is.na(rows$low), "", paste(number(rows$low), "to", number(rows$high))),
       paste0(ifelse(rows$pass, "passed", "FAILED"), ifelse(rows$control, " (negative control)", "")))
}

md_row <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")

html_rows <- function(head, cells, pass) {
  th <- sprintf("<tr>%s</tr>", paste0("<th>", esc(head), "</th>", collapse = ""))
  body <- vapply(seq_along(pass), function(i) {
    sprintf("<tr%s>%s</tr>", if (pass[i]) "" else " class=\"failed\"",
            paste0("<td>", esc(vapply(cells, function(column) column[i], "")), "</td>", collapse = ""))
  }, "")
  c("<div class=\"wide\"><table><thead>", th, "</thead><tbody>", body, "</tbody></table></div>")
}

CALIBRATION_HEAD <- c(
  "<!doctype html>", "<html lang=\"en\"><head><meta charset=\"utf-8\">",
  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
  "<title>Self-check by simulation</title>", "<style>",
  "body{font:16px/1.45 system-ui,sans-serif;max-width:70rem;margin:1rem auto;padding:0 1rem;",
  "color:#1a1a1a;background:#fff}",
  ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}",
  "th,td{border-bottom:1px solid #ddd;padding:.25rem .6rem;",
  "text-align:left;vertical-align:top}tr.failed td{background:#fdd;font-weight:600}h2{margin-top:2rem}",
  "</style></head><body>"
)

csv_aside <- function(results, path) {
  part <- paste0(path, ".part")
  data.table::fwrite(results, part, eol = "\n", qmethod = "double")
  if (!file.rename(part, path)) abort(sprintf("cannot write %s", path))
}

text_aside <- function(lines, path) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  part <- paste0(path, ".part")
  writeLines(enc2utf8(unlist(lines)), part, useBytes = TRUE)
  if (!file.rename(part, path)) abort(sprintf("cannot write %s", path))
}
