# The arithmetic of published tables: minutes and seconds, ratios of rounded numbers, factorial effects.

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
