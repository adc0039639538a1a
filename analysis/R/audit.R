# The arithmetic of published tables: what follows from the printed numbers, and whether it is what was printed.

#' Audit a published table.
#'
#' @param path the CSV; a sidecar of the same name with .audit.yaml for .csv declares relations that units and labels do
#'   not give away.
#' @param schema path of the sidecar's schema, or NULL.
#' @return data.table, one row per check: source, table, what, printed, recomputed, interval, verdict (ok, impossible,
#'   truncated, suspect), sentence, rows (ids of the rows it rests on), line (of the checked row, the heading
#'   not counted). Nothing to check gives no rows.
audit_findings <- function(path, schema = NULL) {
  rows <- read_printed(path)
  sidecar <- audit_sidecar(path)
  declared <- if (file.exists(sidecar)) audit_declared(rows, sidecar, schema) else audit_none()
  data.table::rbindlist(list(audit_inferred(rows), declared))
}

audit_sidecar <- function(path) paste0(sub("[.]csv$", "", path), ".audit.yaml")

#' Findings as lines for a terminal: what is not in order first.
#'
#' @param all TRUE to list the checks that came out right, too.
audit_lines <- function(found, path, all = FALSE) {
  tally <- found[, .N, by = verdict][match(AUDIT_VERDICTS, verdict, nomatch = 0L)]
  counts <- if (nrow(found)) paste(tally$N, tally$verdict, collapse = ", ") else "nothing in it can be recomputed"
  head <- sprintf("%s: %s%s", path, if (nrow(found)) paste0(count(nrow(found), "check"), ": ") else "", counts)
  shown <- found[order(match(verdict, c("impossible", "truncated", "suspect", "ok")))]
  if (!all) shown <- shown[verdict != "ok"]
  place <- trimws(paste(shown$source, shown$table))
  c(head, sprintf("  %-10s  %s%s: %s", shown$verdict, ifelse(nzchar(place), paste0(place, ", "), ""), shown$what,
                  shown$sentence))
}

#' "5:50" to 350 s; "1:02:03" to 3723 s; NA stays NA; seconds or minutes of 60 and more are an error.
parse_mmss <- function(text) {
  vapply(text, function(one) {
    if (is.na(one) || one == "NA") return(NA_real_)
    parts <- suppressWarnings(as.numeric(strsplit(one, ":", fixed = TRUE)[[1]]))
    if (anyNA(parts) || length(parts) < 2L || length(parts) > 3L) abort(sprintf("not a time: \"%s\"", one),
        "expected m:ss or h:mm:ss")
    if (utils::tail(parts, 1) >= 60) abort(sprintf("\"%s\": seconds >= 60", one))
    if (length(parts) == 3L && parts[2] >= 60) abort(sprintf("\"%s\": minutes >= 60", one))
    sum(parts * 60^(rev(seq_along(parts)) - 1))
  }, 0, USE.NAMES = FALSE)
}

#' The range of a ratio of two rounded numbers, and whether a printed ratio can come from it.
#'
#' @param l,u values; `lres`, `ures` their resolutions; `printed` the ratio as printed, `digits` its decimals.
rounding_ratio <- function(l, lres, u, ures, printed, digits = 1L) {
  lo <- (l - lres / 2) / (u + ures / 2)
  hi <- (l + lres / 2) / (u - ures / 2)
  half <- 0.5 * 10^-digits
  list(lo = lo, hi = hi, consistent = printed + half >= lo && printed - half <= hi)
}

#' Simple effects and interaction of a 2 x 2 on logs.
factorial_effects <- function(base, a, b, both) {
  list(a = log(a / base), b = log(b / base), interaction = log(both / b) - log(a / base))
}
