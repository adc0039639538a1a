# Units as tables print them, and intervals that rounding leaves open.

#' Decimal and binary readings of a prefix: tables print MB and mean either.
PREFIXES <- list(`K` = c(1024, 1000), `k` = c(1024, 1000), `M` = c(1024^2, 1e6), `G` = c(1024^3, 1e9),
                 `T` = c(1024^4, 1e12), `Ki` = 1024, `Mi` = 1024^2, `Gi` = 1024^3, `Ti` = 1024^4)
TIMES <- c(s = 1, sec = 1, secs = 1, second = 1, seconds = 1, ms = 1e-3, msec = 1e-3, us = 1e-6, usec = 1e-6,
           "\u00b5s" = 1e-6, ns = 1e-9, min = 60, minutes = 60, h = 3600, hours = 3600)

#' What a unit measures (time, bytes, rate, share, ratio, count) and its factor to the base unit.
#'
#' @return list kind, factor, other: the second reading where a prefix has two; factor NA for what is no unit.
unit_of_text <- function(text) {
  text <- trimws(text)
  unit <- function(kind, factor, other = factor) list(kind = kind, factor = factor, other = other)
  if (text %in% names(TIMES)) return(unit("time", TIMES[[text]]))
  if (text %in% c("x", ":1")) return(unit("ratio", 1))
  if (text == "%") return(unit("share", 0.01))
  if (text %in% c("1/s", "/s", "/sec", "IOPS", "iops", "ops/s", "ops/sec")) return(unit("operations", 1))
  hit <- regmatches(text, regexec("^(Ki|Mi|Gi|Ti|K|k|M|G|T)?(B|b|bytes)?(/s|/sec|ps)?$", text))[[1]]
  if (!length(hit) || !nzchar(paste0(hit[2], hit[3])) || (!nzchar(hit[3]) && !nzchar(hit[4]))) {
    return(unit(NA_character_, NA_real_))
  }
  readings <- if (nzchar(hit[2])) PREFIXES[[hit[2]]] else 1
  unit(if (nzchar(hit[4])) "rate" else "bytes", readings[1], readings[length(readings)])
}

#' Sizes such as 128k, 4 KiB or 1M in bytes; NA for anything else.
size_of_text <- function(text) {
  hit <- regmatches(text, regexec("^ *([0-9.]+) *(.*?) *$", text))[[1]]
  if (!length(hit)) return(NA_real_)
  unit <- if (hit[3] == "") 1 else unit_of_text(sub("^([KkMGT]i?)$", "\\1B", hit[3]))$factor
  as.numeric(hit[2]) * unit
}

# A number with the range that its printing leaves open: c(point, lo, hi).

as_range <- function(point, half = 0) c(point = point, lo = point - half, hi = point + half)

#' What a printed number may have been before it was rounded.
rounded <- function(value, res) as_range(value, if (is.na(res)) 0 else res / 2)

add_ranges <- function(a, b) a + b
subtract_ranges <- function(a, b) c(point = a[[1]] - b[[1]], lo = a[["lo"]] - b[["hi"]], hi = a[["hi"]] - b[["lo"]])

multiply_ranges <- function(a, b) {
  corners <- outer(a[c("lo", "hi")], b[c("lo", "hi")])
  c(point = a[[1]] * b[[1]], lo = min(corners), hi = max(corners))
}

#' A quotient whose divisor may be zero is not known.
divide_ranges <- function(a, b) {
  if (anyNA(b) || (b[["lo"]] <= 0 && b[["hi"]] >= 0)) return(as_range(NA_real_))
  multiply_ranges(a, c(point = 1 / b[[1]], lo = 1 / b[["hi"]], hi = 1 / b[["lo"]]))
}

scale_range <- function(a, factor) multiply_ranges(a, as_range(factor))

#' Can a number that lies in a range have been printed as it was? By rounding (ok), only by cutting digits off
#' (truncated), or not at all (impossible).
judge_printed <- function(value, res, range) {
  slack <- 1e-9 * max(1, abs(value))
  meets <- function(lo, hi) range[["lo"]] <= hi + slack && range[["hi"]] >= lo - slack
  if (meets(value - res / 2, value + res / 2)) return("ok")
  # The next number up would have been cut to itself.
  if (range[["lo"]] < value + res - slack && range[["hi"]] >= value - slack) "truncated" else "impossible"
}
