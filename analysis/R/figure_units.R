# Units: bytes and seconds inside; an axis shows the prefix that keeps its numbers short, and always says which.

SHOWN_UNITS <- list(
  B = c("B" = 1, "KiB" = 2^10, "MiB" = 2^20, "GiB" = 2^30, "TiB" = 2^40),
  "B/s" = c("B/s" = 1, "KiB/s" = 2^10, "MiB/s" = 2^20, "GiB/s" = 2^30),
  s = c("\u00b5s" = 1e-6, "ms" = 1e-3, "s" = 1),
  count = c("count" = 1, "thousands" = 1e3, "millions" = 1e6)
)

#' The unit an axis shows for values in a base unit: the largest step that the typical value reaches.
#'
#' @return list: name ("" for pure numbers) and factor, by which values are divided.
shown_unit <- function(unit, values) {
  steps <- SHOWN_UNITS[[unit]]
  if (is.null(steps)) return(list(name = if (unit %in% c("1", "x")) "" else unit, factor = 1))
  size <- abs(values[is.finite(values) & values != 0])
  at <- if (length(size)) max(1L, sum(steps <= exp(mean(log(size))))) else 1L
  list(name = names(steps)[at], factor = steps[[at]])
}

with_unit <- function(label, unit) if (nzchar(unit)) sprintf("%s (%s)", label, unit) else label

#' A metric as an axis shows it.
#'
#' @param metrics one or more metrics that share the axis, of one unit; `values` all numbers on the axis, base unit.
#' @return list: label (with unit), factor, unit.
quantity <- function(study, metrics, values, label = label_of(study, metrics[1])) {
  base <- unique(vapply(metrics, function(metric) base_unit(study, metric), ""))
  if (length(base) > 1L) abort(sprintf("%s: metrics %s share an axis but not a unit (%s)", study$data$path,
                                       paste(metrics, collapse = ", "), paste(base, collapse = ", ")))
  shown <- shown_unit(base, values)
  list(label = with_unit(label, shown$name), factor = shown$factor, unit = shown$name)
}

base_unit <- function(study, name) {
  found <- study$units[name]
  if (is.na(found)) "1" else unname(found)
}

#' A printed number in our base unit; the units must be of one kind.
from_printed <- function(value, unit, base, where) {
  plain <- function(u) sub("^x$", "1", u)
  of_kind <- plain(sub("^%$", "1", sub("^(Ki|Mi|Gi|K|M|G)B", "B", unit)))
  bad <- which(of_kind != plain(base) | is.na(UNIT_FACTORS[unit]))[1]
  if (!is.na(bad)) abort(sprintf("%s: unit \"%s\" does not go with \"%s\"", where[bad], unit[bad], base[bad]))
  unname(value * UNIT_FACTORS[unit])
}

#' Numbers on an axis as a reader writes them: no exponents, no idle zeros.
plain_numbers <- function(x) ifelse(is.na(x), "", trimws(vapply(x, plain_number, "")))

plain_number <- function(x) format(x, digits = 4, scientific = FALSE, drop0trailing = TRUE, big.mark = "\u202f")

log_axis <- function(n = 5) list(breaks = if (n > 3) scales::breaks_log(n) else few_powers, labels = plain_numbers)

#' In a narrow panel: powers of ten where there are two of them.
few_powers <- function(limits) {
  powers <- 10^seq(ceiling(log10(limits[1])), floor(log10(limits[2])))
  powers <- powers[powers >= limits[1] & powers <= limits[2]]
  if (length(powers) >= 2L) powers else scales::breaks_log(3)(limits)
}

#' Breaks that leave room for their own labels at the far end of an axis from zero.
inner_breaks <- function(n) {
  breaks <- scales::breaks_extended(n)
  function(limits) Filter(function(at) at <= 0.94 * limits[2], breaks(limits))
}
