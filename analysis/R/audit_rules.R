# Relations that units, labels and names give away, so that a table can be checked without being told anything about it.

#' Every relation that is found without a sidecar.
audit_inferred <- function(rows) {
  rules <- list(audit_transcriptions, audit_raw_conversions, audit_ratios, audit_ratio_columns, audit_totals,
                audit_total_rows, audit_unit_columns, audit_rates, audit_means, audit_drifts)
  data.table::rbindlist(c(list(audit_none()), lapply(rules, function(rule) data.table::rbindlist(rule(rows)))))
}

with_value <- function(rows) rows[!is.na(value)]

by_row <- function(rows, check, ...) lapply(seq_len(nrow(rows)), function(i) check(rows[i], ...))

#' Do two configurations agree on every key that both have (but those left out)?
agrees <- function(a, b, but = character()) {
  shared <- setdiff(intersect(names(a), names(b)), but)
  all(a[shared] == b[shared])
}

#' Rows that agree with a configuration; those of the same table, then those that share most keys, come first.
rows_agreeing <- function(rows, config, but = character(), table = "") {
  keep <- vapply(rows$config, agrees, TRUE, b = config, but = but)
  found <- rows[keep]
  if (!nrow(found)) return(found)
  shared <- vapply(found$config, function(c) length(intersect(names(c), names(config))), 0L)
  near <- found[order(found$table != table, -shared)]
  rank <- paste(near$table != table, sort_shared(near, config))
  near[rank == rank[1]]
}

sort_shared <- function(rows, config) {
  vapply(rows$config, function(c) length(intersect(names(c), names(config))), 0L)
}

#' The value of a row is what its raw text says.
audit_transcriptions <- function(rows) {
  by_row(with_value(rows)[nzchar(raw) & raw != text], function(row) {
    cell <- parse_cell(row$raw)
    if (is.na(cell$value)) return(NULL)
    same <- abs(cell$value - row$value) <= 1e-9 * max(1, abs(row$value))
    spread <- is.na(cell$sd) || is.na(row$sd) || abs(cell$sd - row$sd) < 1e-9
    if (same && spread) return(NULL)
    audit_row(row, named_check(row, rows), as_range(cell$value), "suspect", sprintf(
      "The source printed \"%s\", the table holds %s: a slip in copying.", row$raw, row$text
    ))
  })
}

#' One quantity in two units in one place: "52830K/sec (51.5MB/sec)".
audit_raw_conversions <- function(rows) {
  by_row(with_value(rows), function(row) {
    pair <- regmatches(row$raw, regexec("^([0-9.,]+) ?([A-Za-z/]+) ?[(]([0-9.,]+) ?([A-Za-z/]+)[)]$", row$raw))[[1]]
    if (!length(pair)) return(NULL)
    audit_conversion(row, rows, from = parse_cell(paste0(pair[2], pair[3])), to = parse_cell(paste0(pair[4], pair[5])),
                     text = c(pair[2], pair[4]))
  })
}

#' @param from,to parsed cells with units; the finer one is the calculation's start.
audit_conversion <- function(row, rows, from, to, text, ids = character()) {
  units <- list(unit_of_text(from$unit), unit_of_text(to$unit))
  kinds <- vapply(units, `[[`, "", "kind")
  if (anyNA(kinds) || kinds[1] != kinds[2] || from$unit == to$unit) return(NULL)
  tries <- unique(c(units[[1]]$factor / units[[2]]$factor, units[[1]]$other / units[[2]]$other,
                    units[[1]]$factor / units[[2]]$other, units[[1]]$other / units[[2]]$factor))
  ranges <- lapply(tries, function(factor) scale_range(rounded(from$value, from$res), factor))
  verdicts <- vapply(ranges, function(range) judge_printed(to$value, to$res, range), "")
  # A binary reading comes first; another one counts only if it alone fits.
  best <- order(match(verdicts, c("ok", "truncated", "impossible")))[1]
  factor <- tries[best]
  how <- if (factor >= 1) sprintf("%s %s \u00d7 %s", text[1], from$unit, show_plain(factor)) else
    sprintf("%s %s / %s", text[1], from$unit, show_plain(1 / factor))
  compare_printed(row, sprintf("%s in %s", named_check(row, rows), to$unit), how, ranges[[best]], ids, text = text[2],
                  value = to$value, res = to$res)
}

looks_like_ratio <- function(rows) {
  rows$unit %in% c("x", ":1", "1") | rows$statistic == "ratio" | grepl("ratio|speedup|slowdown", rows$metric)
}

#' "load=overkill/none" with a unit of x: the row is the ratio of the rows with those two levels.
audit_ratios <- function(rows) {
  all <- with_value(rows)
  split <- vapply(all$config, function(config) sum(grepl("^[^/]+/[^/]+$", config)), 0L)
  by_row(all[split == 1L & looks_like_ratio(all)], function(row) audit_ratio(row, all))
}

audit_ratio <- function(row, rows) {
  config <- row$config[[1]]
  key <- names(config)[grepl("^[^/]+/[^/]+$", config)]
  levels <- strsplit(config[[key]], "/", fixed = TRUE)[[1]]
  parts <- lapply(levels, function(level) ratio_part(row, rows, key, level))
  if (any(vapply(parts, is.null, TRUE)) || parts[[1]]$metric != parts[[2]]$metric) return(NULL)
  compare_quotient(row, rows, parts[[1]], parts[[2]])
}

#' The one row of one level; a metric named in the ratio's own name decides, else there has to be one metric only.
ratio_part <- function(row, rows, key, level) {
  wanted <- row$config[[1]]
  wanted[[key]] <- level
  has_level <- vapply(rows$config, function(c) key %in% names(c) && c[[key]] == level, TRUE)
  found <- rows_agreeing(rows[has_level & source == row$source & !looks_like_ratio(rows)], wanted, table = row$table)
  hint <- sub("_?(ratio|speedup|slowdown)$", "", row$metric)
  if (hint %in% found$metric) found <- found[metric == hint]
  if (nrow(found) == 1L) found
}

compare_quotient <- function(row, rows, a, b) {
  range <- divide_ranges(rounded(a$value, a$res), rounded(b$value, b$res))
  how <- sprintf("%s / %s", printed_as(a), printed_as(b))
  hint <- if (anyNA(range) || judge_printed(row$value, row$res, range) != "impossible") "" else mend_quotient(row, a, b)
  # What is said in words has no last digit that could be wrong.
  worst <- if (row$statistic %in% c("claim", "comment")) "suspect" else "impossible"
  compare_printed(row, named_check(row, rows), how, range, c(a$id, b$id), hint, worst = worst)
}

#' What one of the two numbers would have to be, and whether one other digit would do.
mend_quotient <- function(row, a, b) {
  fits <- function(x, y) {
    judge_printed(row$value, row$res, divide_ranges(rounded(x$value, x$res), rounded(y$value, y$res))) == "ok"
  }
  slips <- c(one_digit(printed_as(a), function(cell) fits(cell, b)),
             one_digit(printed_as(b), function(cell) fits(a, cell)))
  need <- sprintf(" It takes %s for %s, or %s for %s.", show_plain(row$value * b$value), printed_as(a),
                  show_plain(a$value / row$value), printed_as(b))
  if (!length(slips)) return(need)
  paste0(need, sprintf(" One digit would do: %s.", paste(slips, collapse = ", or ")))
}

#' Other readings of a printed number, one digit changed, that fit.
one_digit <- function(text, fits) {
  at <- gregexpr("[0-9]", text)[[1]]
  tries <- unlist(lapply(at, function(i) paste0(substr(text, 1, i - 1), 0:9, substring(text, i + 1))))
  tries <- setdiff(unique(tries), text)
  good <- vapply(tries, function(try) {
    cell <- parse_cell(try)
    !is.na(cell$value) && cell$value > 0 && fits(cell)
  }, TRUE)
  sprintf("%s for %s", tries[good], rep(text, sum(good)))
}

#' In a wide table: a column a/b, or one called ratio beside two columns of one unit.
audit_ratio_columns <- function(rows) {
  all <- with_value(rows)
  wide <- all[!nzchar(table) & grepl("/", metric, fixed = TRUE) & is_plain(all)]
  named <- by_row(wide, function(row) {
    parts <- lapply(strsplit(row$metric, "/", fixed = TRUE)[[1]], function(m) all[line == row$line & metric == m])
    if (length(parts) != 2L || any(vapply(parts, nrow, 0L) != 1L)) return(NULL)
    compare_quotient(row, all, parts[[1]], parts[[2]])
  })
  called <- unique(all[is_ratio_name(metric) & is_plain(all), metric])
  c(named, unlist(lapply(called, audit_ratio_column, rows = all), FALSE))
}

is_plain <- function(rows) rows$statistic == "single"
is_ratio_name <- function(metric) metric %in% c("ratio", "slowdown", "speedup", "factor")

audit_ratio_column <- function(name, rows) {
  mine <- rows[metric == name]
  pair <- setdiff(unique(rows[line %in% mine$line & unit == rows[!is_ratio_name(metric), unit][1], metric]), name)
  if (length(pair) != 2L || any(nzchar(mine$table))) return(NULL)
  tries <- lapply(list(pair, rev(pair)), function(p) {
    by_row(mine, function(row) {
      a <- rows[line == row$line & metric == p[1]]
      b <- rows[line == row$line & metric == p[2]]
      if (nrow(a) == 1L && nrow(b) == 1L) compare_quotient(row, rows, a, b)
    })
  })
  good <- vapply(tries, function(found) sum(data.table::rbindlist(found)$verdict == "ok"), 0)
  some_fit(tries[[which.max(good)]])
}
