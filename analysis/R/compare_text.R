# A comparison in words, for a terminal.

#' The lines of a comparison: a tally, then one entry per claim.
#'
#' @param claims rows of compare_pair()$claims of one pair.
comparison_lines <- function(claims, names) {
  head <- sprintf("original %s = %s, replication %s = %s", claims$original_is[1], names[[claims$original_is[1]]],
                  claims$replication_is[1], names[[claims$replication_is[1]]])
  tally <- table(factor(claims$replication, levels = REPLICATIONS))
  tally <- tally[tally > 0L]
  c(head, sprintf("%s: %s", count(nrow(claims), "claim"), paste(tally, names(tally), collapse = ", ")), "",
    unlist(lapply(seq_len(nrow(claims)), function(i) claim_lines(claims[i]))))
}

claim_lines <- function(row) {
  side <- function(shown, verdict, class) {
    if (!nzchar(verdict)) return("not asked")
    paste0(verdict, " (class ", class, ")", if (nzchar(shown)) paste0(": ", shown) else "")
  }
  said <- sprintf("  %s %s: %s%s", row$study, row$claim, toupper(row$replication),
                  if (nzchar(row$why)) paste0(", ", row$why) else "")
  c(said, sprintf("      %s", row$statement), sprintf("      published    %s", row$published),
    sprintf("      original     %s", side(row$original, row$original_verdict, row$original_class)),
    sprintf("      ours         %s", side(row$ours, row$ours_verdict, row$ours_class)),
    if (nzchar(row$prediction)) sprintf("      predicted    %s", row$prediction))
}

#' The random-effects summaries in words.
summary_lines <- function(summaries) {
  made <- summaries[method != "none"]
  if (!nrow(made)) return("random-effects summary: none (no claim has estimates from three bundles of one class)")
  c(SUMMARY_METHOD, sprintf(
    "  %s %s%s, class %s, bundles %s: %s [%s, %s], I2 %.0f %%", made$study, made$claim,
    ifelse(nzchar(made$link), paste0(" (", made$link, ")"), ""), made$class, made$bundles,
    vapply(as.numeric(made$estimate), show_number, ""), vapply(as.numeric(made$lo), show_number, ""),
    vapply(as.numeric(made$hi), show_number, ""), 100 * as.numeric(made$i2)
  ))
}

#' The compare verb: tables into `out`, words to the terminal.
#'
#' @param given "A=folder" for each bundle, the original first; `called` their names (may be empty).
compare_folders <- function(given, called, out) {
  parts <- regmatches(given, regexpr("=", given), invert = TRUE)
  findings <- lapply(parts, function(part) read_findings(part[2], part[1]))
  labels <- vapply(findings, `[[`, "", "label")
  names <- stats::setNames(as.list(if (length(called) == length(labels)) called else labels), labels)
  pairs <- lapply(findings[-1], function(other) compare_pair(findings[[1]], other))
  tables <- list(claims = data.table::rbindlist(lapply(pairs, `[[`, "claims")),
                 links = data.table::rbindlist(lapply(pairs, `[[`, "links")))
  lines <- c(same_data_lines(findings), unlist(lapply(pairs,
                                                      function(pair) c(comparison_lines(pair$claims, names), ""))))
  if (length(findings) > 2L) {
    tables$summary <- combine_findings(findings)
    lines <- c(lines, summary_lines(tables$summary))
  }
  write_tables(Filter(nrow, tables), out)
  writeLines(lines)
}

#' The same measurements in two bundles are no replication of each other.
same_data_lines <- function(findings) {
  keys <- lapply(findings, function(f) vapply(f$studies, `[[`, "", "sha256"))
  pairs <- utils::combn(length(findings), 2, simplify = FALSE)
  unlist(lapply(pairs, function(pair) {
    shared <- intersect(keys[[pair[1]]], keys[[pair[2]]])
    if (length(shared)) sprintf("NOTE: %s and %s hold the same dataset: one measurement twice, not a replication",
                                findings[[pair[1]]]$label, findings[[pair[2]]]$label)
  }))
}
