# How many blocks: from a pilot beforehand, and while measuring by interval width only, never by p or by a verdict.

STOP_LEAST <- 10L
STOP_MOST <- 40L

#' Blocks for a paired comparison, two-sided 5 %.
#'
#' @param sd of the block log-ratios; `ratio` the effect to find; `power` of finding it.
blocks_needed <- function(sd, ratio, power = 0.9, alpha = 0.05, most = 10000L) {
  blocks_for_effect(abs(log(ratio)) / sd, power, alpha, most)
}

#' @param effect in standard deviations of the block contrasts.
blocks_for_effect <- function(effect, power = 0.9, alpha = 0.05, most = 10000L) {
  if (is.na(effect) || effect <= 0) return(NA_integer_)
  enough <- function(n) {
    t <- stats::qt(1 - alpha / 2, n - 1)
    # Far in the tail pt() of a non-central t warns of lost digits; whether it is 1 or almost 1 does not matter here.
    suppressWarnings(stats::pt(t, n - 1, ncp = effect * sqrt(n), lower.tail = FALSE)) >= power
  }
  for (n in 3:min(most, 50L)) if (enough(n)) return(n)
  if (most <= 50L || !enough(most)) return(NA_integer_)
  low <- 50L
  while (most - low > 1L) {
    middle <- (low + most) %/% 2L
    if (enough(middle)) most <- middle else low <- middle
  }
  most
}

#' 95 % half-width of the t interval after 2, 3, ... blocks.
halfwidth_path <- function(d, floor = 0) {
  vapply(seq_along(d)[-1], function(n) diff(t_interval(d[seq_len(n)], floor = floor)$ci95) / 2, 0)
}

#' Further blocks until every 95 % half-width is at most `width`; looks at widths only, never at p or a verdict.
#'
#' @param halfwidths named half-widths on the working scale of the primary contrasts after `blocks` blocks; `width` one
#'   for all, or one each.
#' @return 0 when enough, else a forecast of further blocks, up to `most` in all.
further_blocks <- function(halfwidths, blocks, width = log(1.05), least = STOP_LEAST, most = STOP_MOST) {
  if (blocks < least) return(as.integer(least - blocks))
  widest <- max(halfwidths / width)
  if (widest <= 1 || blocks >= most) return(0L)
  forecast <- ceiling(blocks * widest^2)
  as.integer(min(most, max(blocks + 1L, forecast)) - blocks)
}

#' The primary contrasts: links of confirmatory claims about means that the data's class may decide.
#'
#' @param prepared from prepare_claim_data(), by claim.
#' @return list of list(claim, link, scale, d, floor, width, published, item).
primary_links <- function(prepared) {
  wanted <- Filter(function(item) {
    claim <- item$claim
    claim$type %in% c("dir", "eq", "ord") && !claim$exploratory && length(item$links) && is.null(item$absent) &&
      match(item$class, CLASSES) >= match(claim$min_class, CLASSES)
  }, prepared)
  links <- lapply(unname(wanted), function(item) {
    paired <- Filter(function(link) !length(link$arms), item$links)
    means <- Filter(function(link) all(vapply(link$terms, `[[`, "", "stat") == "mean"), paired)
    lapply(means, function(link) {
      c(list(claim = item$claim$id, link = link$id, width = default_delta0(item$claim)),
        link[c("scale", "d", "floor", "published", "terms", "null")])
    })
  })
  unlist(links, recursive = FALSE)
}

#' The stopping rule applied to a study: how many further blocks, and how the widths got where they are.
#'
#' @return list for blocks.json: rule, blocks, further, why, contrasts (claim, link, target, half_widths by block).
stopping_report <- function(prepared, blocks, least = STOP_LEAST, most = STOP_MOST) {
  links <- primary_links(prepared)
  paths <- lapply(links, function(link) halfwidth_path(unname(link$d), link$floor))
  known <- lengths(paths) > 0L
  now <- vapply(paths[known], function(path) path[length(path)], 0)
  target <- vapply(links[known], `[[`, 0, "width")
  further <- if (!length(links)) 0L else if (!any(known)) max(0L, least - blocks) else further_blocks(now, blocks,
                                                                                                   target,
                                                                                                   least, most)
  list(
    rule = stopping_rule(least, most), blocks = blocks, further = further,
    why = stopping_why(links[known], now, target, blocks, further, least, most),
    contrasts = Map(function(link, path) {
      list(claim = link$claim, link = link$link, scale = link$scale, target = signif(link$width, 6),
           blocks = I(seq_along(link$d)[-1]), half_widths = I(signif(path, 6)))
    }, links, paths)
  )
}

stopping_rule <- function(least, most) {
  sprintf(paste("After each block from %d on, the 95 %% half-width of every primary contrast is compared with its",
                "smallest effect of interest; blocks are added until all are at most that wide, or there are %d.",
                "Only widths are looked at, never p-values or verdicts."), least, most)
}

stopping_why <- function(links, now, target, blocks, further, least, most) {
  if (!length(links)) return("no primary contrast has two complete blocks of a class that may decide it")
  widest <- which.max(now / target)
  worst <- sprintf("widest: %s %s, half-width %s of %s allowed", links[[widest]]$claim, links[[widest]]$link,
                   show_number(now[widest]), show_number(target[widest]))
  if (blocks < least) return(sprintf("fewer than %d blocks; %s", least, worst))
  if (further > 0L) return(worst)
  if (max(now / target) <= 1) return(paste("narrow enough;", worst))
  sprintf("the most of %d blocks is reached; %s", most, worst)
}
