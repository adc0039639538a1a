# Totals, rates, conversions between columns, means with their spread, and series that drift.

#' A metric called total, or total_..., is the sum of the metrics of its unit and configuration (that share its ending).
audit_totals <- function(rows) {
  all <- with_value(rows)[!looks_like_ratio(with_value(rows))]
  totals <- all[grepl("^(total|sum)(_|$)", metric)]
  unlist(lapply(unique(totals$metric), function(name) {
    some_fit(by_row(totals[metric == name], audit_total, all))
  }), FALSE)
}

audit_total <- function(row, rows) {
  same <- rows[metric != row$metric & source == row$source & unit == row$unit & statistic == row$statistic]
  ending <- sub("^(total|sum)_?", "", row$metric)
  same <- same[vapply(config, identical, TRUE, row$config[[1]]) & endsWith(metric, ending)]
  if (nrow(same) >= 2L && !anyDuplicated(same$metric)) compare_sum(row, rows, same)
}

#' If no row fits, the table has another relation in mind than the one we guessed.
some_fit <- function(found) {
  verdicts <- unlist(lapply(found, `[[`, "verdict"))
  if (any(verdicts %in% c("ok", "truncated"))) found
}

compare_sum <- function(row, rows, parts) {
  range <- Reduce(add_ranges, Map(rounded, parts$value, parts$res))
  how <- paste(vapply(seq_len(nrow(parts)), function(i) printed_as(parts[i]), ""), collapse = " + ")
  compare_printed(row, named_check(row, rows), how, range, parts$id, text = printed_as(row))
}

#' A row labelled total, sum, mean or average stands under the rows that it is made of.
audit_total_rows <- function(rows) {
  all <- with_value(rows)[!nzchar(table) & statistic == "single"]
  label <- vapply(all$config, function(c) tolower(c[[1]]), "")
  kind <- ifelse(label %in% c("total", "sum"), "sum", ifelse(label %in% c("mean", "average", "avg"), "mean", ""))
  unlist(lapply(which(nzchar(kind)), function(i) {
    row <- all[i]
    parts <- all[metric == row$metric & line < row$line & !nzchar(kind)]
    if (nrow(parts) < 2L || looks_like_ratio(row)) return(NULL)
    if (kind[i] == "sum") return(list(compare_sum(row, all, parts)))
    list(compare_mean(row, all, parts))
  }), FALSE)
}

#' The same quantity in two columns with two units.
audit_unit_columns <- function(rows) {
  all <- with_value(rows)
  units <- unique(all[nzchar(unit), .(source, table, metric, unit)])
  twice <- units[, .N, by = .(source, table, metric)][N == 2L]
  unlist(lapply(seq_len(nrow(twice)), function(i) {
    mine <- all[twice[i], on = c("source", "table", "metric")]
    from <- mine[unit == finer_unit(unique(mine$unit))]
    by_row(from, function(row) {
      other <- mine[unit != row$unit & vapply(config, identical, TRUE, row$config[[1]]) & statistic == row$statistic]
      if (nrow(other) != 1L) return(NULL)
      audit_conversion(other, rows, row[, .(value, res, unit)], other[, .(value, res, unit)], c(row$text, other$text),
                       row$id)
    })
  }), FALSE)
}

finer_unit <- function(units) units[which.min(vapply(units, function(u) unit_of_text(u)$factor, 0))]

#' Bandwidth is operations times their size; tells also which megabyte is meant.
audit_rates <- function(rows) {
  all <- with_value(rows)
  by_row(all[vapply(unit, function(u) identical(unit_of_text(u)$kind, "rate"), TRUE)], function(row) {
    size <- block_size(row, all)
    operations <- rows_agreeing(all[source == row$source & table == row$table & statistic == row$statistic &
                                  (metric == "iops" | unit %in% c("IOPS", "iops"))], row$config[[1]])
    if (is.na(size) || nrow(operations) != 1L || !same_levels(row, operations)) return(NULL)
    data.table::rbindlist(list(compare_rate(row, operations, all, size),
                               compare_rate_spread(row, operations, all, size)))
  })
}

same_levels <- function(a, b) identical(a$config[[1]], b$config[[1]])

#' The block size of a row's own configuration, or the one that the whole source has.
block_size <- function(row, rows) {
  keys <- c("bs", "block", "blocksize", "block_size")
  own <- row$config[[1]]
  found <- own[names(own) %in% keys]
  others <- rows[source == row$source]$config
  if (!length(found)) found <- unique(unlist(lapply(others, function(c) c[names(c) %in% keys])))
  if (length(found) == 1L) size_of_text(found[[1]]) else NA_real_
}

compare_rate <- function(row, operations, rows, size) {
  unit <- unit_of_text(row$unit)
  readings <- unique(c(unit$factor, unit$other))
  ranges <- lapply(readings, function(factor) scale_range(rounded(row$value, row$res), factor / size))
  # A mean of numbers that a tool had cut to whole ones is up to one digit too low.
  cut <- if (row$statistic == "mean" && isTRUE(row$n > 1)) operations$res else 0
  fits <- vapply(ranges, function(r) {
    r[["hi"]] >= operations$value - operations$res / 2 && r[["lo"]] < operations$value + operations$res / 2 + cut
  }, TRUE)
  best <- if (any(fits)) which(fits)[1] else 1L
  what <- sprintf("%s from bandwidth", named_check(operations, rows, "operations per second"))
  how <- sprintf("%s %s / %s KiB", row$text, row$unit, show_plain(size / 1024))
  reading <- if (length(readings) < 2L) "" else if (best == 1L) " M means 2^20 here." else " M means 10^6 here."
  digits <- shown_digits(operations$text) - 1
  said <- sprintf("%s is %s %s; %s were printed%s.%s", how, show_fixed(ranges[[best]][[1]], digits),
                  show_interval(ranges[[best]], digits), operations$text,
                  if (cut > 0) ", the mean of whole numbers" else "", reading)
  audit_row(operations, what, ranges[[best]], if (any(fits)) "ok" else "impossible", said, row$id)
}

#' Spreads of the two follow each other; they are recorded apart, so a difference is suspect and no more.
compare_rate_spread <- function(row, operations, rows, size) {
  if (is.na(row$sd) || is.na(operations$sd)) return(NULL)
  unit <- unit_of_text(row$unit)
  factors <- size / unique(c(unit$factor, unit$other))
  ranges <- lapply(factors, function(f) scale_range(rounded(operations$sd, last_digit(operations$sd_text)), f))
  res <- last_digit(row$sd_text)
  verdicts <- vapply(ranges, function(range) judge_printed(row$sd, res, range), "")
  best <- if ("ok" %in% verdicts) which(verdicts == "ok")[1] else 1L
  verdict <- if (verdicts[best] == "ok") "ok" else "suspect"
  said <- sprintf("sd %s operations \u00d7 %s KiB is %s %s %s; %s was printed%s.", operations$sd_text,
                  show_plain(size / 1024), show_fixed(ranges[[best]][[1]], 3), show_interval(ranges[[best]], 3),
                  row$unit, row$sd_text, if (verdict == "ok") "" else ", further off than rounding explains")
  audit_row(row, sprintf("sd of %s", named_check(row, rows)), ranges[[best]], verdict, said, operations$id, row$sd_text)
}

#' Runs that a printed mean is made of: same metric and unit, all shared levels equal, numbered by `run`, as many as it
#' says.
runs_of <- function(row, rows) {
  singles <- rows[source == row$source & metric == row$metric & unit == row$unit & statistic == "single"]
  singles <- singles[vapply(config, function(c) "run" %in% names(c), TRUE)]
  mine <- singles[vapply(config, function(c) {
    all(setdiff(names(c), "run") %in% names(row$config[[1]])) && agrees(c, row$config[[1]])
  }, TRUE)]
  mine <- mine[order(as.integer(vapply(config, function(c) c[["run"]], "")))]
  if (nrow(mine) >= 2L && isTRUE(nrow(mine) == row$n)) mine else mine[0]
}

audit_means <- function(rows) {
  all <- with_value(rows)
  unlist(by_row(all[statistic == "mean"], function(row) {
    parts <- runs_of(row, all)
    if (nrow(parts)) list(compare_mean(row, all, parts), compare_sd(row, all, parts))
  }), FALSE)
}

compare_mean <- function(row, rows, parts) {
  range <- as_range(mean(parts$value), max(parts$res) / 2)
  compare_printed(row, sprintf("mean of %s", named_check(row, rows)),
                  sprintf("The mean of %s", paste(parts$text, collapse = ", ")), range, parts$id)
}

#' The sample sd; rounding each value by at most h moves it by at most h sqrt(n / (n - 1)).
compare_sd <- function(row, rows, parts) {
  if (is.na(row$sd)) return(NULL)
  n <- nrow(parts)
  reach <- max(parts$res) / 2 * sqrt(n / (n - 1))
  range <- as_range(stats::sd(parts$value), reach)
  population <- as_range(stats::sd(parts$value) * sqrt((n - 1) / n), reach)
  res <- last_digit(row$sd_text)
  fits <- judge_printed(row$sd, res, population) == "ok"
  hint <- sprintf(" It is the population's sd, %s: divided by n, not n - 1.", show_fixed(population[[1]], 2))
  compare_printed(row, sprintf("sd of %s", named_check(row, rows)),
                  sprintf("The sample sd (n - 1) of %s", paste(parts$text, collapse = ", ")), range, parts$id,
                  if (fits) hint else "",
                  text = row$sd_text, value = row$sd, res = res, worst = if (fits) "suspect" else "impossible")
}

#' A mean and an sd describe values that scatter; a series that only rises or only falls does not.
audit_drifts <- function(rows) {
  all <- with_value(rows)
  by_row(all[statistic == "mean" & !is.na(sd)], function(row) compare_drift(row, all, runs_of(row, all)))
}

compare_drift <- function(row, rows, parts, worst = "suspect") {
  n <- nrow(parts)
  steps <- sign(diff(parts$value))
  # Exact: of n! orders two are monotone. Fewer than five values may well fall into order by chance.
  if (n < 5L || length(unique(steps)) != 1L || steps[1] == 0) return(NULL)
  said <- sprintf("%s %s run after run, from %s to %s (by chance in 2 of %s orders): %s is drift, not scatter.",
                  toupper_first(gsub("_", " ", row$metric)), if (steps[1] > 0) "rises" else "falls", parts$text[1],
                  parts$text[n], format(factorial(n), big.mark = ",", scientific = FALSE),
                  if (is.na(row$sd)) "their spread" else sprintf("the sd of %s", row$sd_text))
  audit_row(row, sprintf("drift of %s", named_check(row, rows)), NULL, worst, said, parts$id,
          if (is.na(row$sd)) row$text else row$sd_text)
}

toupper_first <- function(text) paste0(toupper(substr(text, 1, 1)), substring(text, 2))
