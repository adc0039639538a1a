# The plan of a simulated campaign: the cells of study.yaml and a seeded order, in the form of plan.json.

#' Cells of a study at a scale: the union of the design's parts, without what is excluded; ids as the Python side makes
#' them (src/zassay/design.py, src/zassay/study.py; a test compares the two).
#'
#' @param raw study.yaml as read.
#' @return list of id, levels (named list), settings (the patches merged, sizes as written).
expand_cells <- function(raw, scale) {
  raw <- study_at_scale(raw, scale)
  factors <- lapply(stats::setNames(names(raw$factors), names(raw$factors)), function(name) {
    as_patches(raw$factors[[name]], name)
  })
  # The last factor turns fastest, as itertools.product has it.
  grid <- rev(expand.grid(lapply(rev(factors), names), stringsAsFactors = FALSE, KEEP.OUT.ATTRS = FALSE))
  keep <- in_any(grid, if (length(raw$design)) raw$design else list(list())) & in_any(grid, list(raw$only)) &
    !in_any(grid, raw$exclude)
  lapply(which(keep), function(i) one_cell(as.list(grid[i, , drop = FALSE]), factors, raw$settings))
}

#' The study file as a scale reads it: its settings over the study's, its limits beside them.
study_at_scale <- function(raw, scale) {
  own <- or_else(raw$scales[[scale]], list())
  raw[c("only", "design")[c("only", "design") %in% names(own)]] <- own[intersect(c("only", "design"), names(own))]
  raw$settings <- merge_lists(raw$settings, own$settings)
  raw$sizes <- merge_lists(raw$sizes, own$sizes)
  raw$exclude <- c(raw$exclude, own$exclude)
  raw
}

#' The patch over the base: mappings merged key by key, everything else, lists too, replaced.
merge_lists <- function(base, patch) {
  for (key in names(patch)) {
    both <- all(vapply(list(patch[[key]], base[[key]]), function(x) is.list(x) && !is.null(names(x)), TRUE))
    base[[key]] <- if (both) merge_lists(base[[key]], patch[[key]]) else patch[[key]]
  }
  base
}

#' A bare list of levels is shorthand for the dataset property of the factor's name.
as_patches <- function(levels, name) {
  if (!is.null(names(levels))) return(levels)
  patches <- lapply(levels, function(level) list(properties = stats::setNames(list(level), name)))
  stats::setNames(patches, unlist(levels))
}

in_any <- function(grid, parts) {
  one <- function(part) {
    Reduce(`&`, lapply(names(part), function(name) grid[[name]] %in% unlist(part[[name]])), rep(TRUE, nrow(grid)))
  }
  Reduce(`|`, lapply(parts, one), rep(FALSE, nrow(grid)))
}

one_cell <- function(levels, factors, settings) {
  patches <- Map(function(name, level) factors[[name]][[level]], names(levels), levels)
  list(id = paste(gsub("[^A-Za-z0-9.+-]", "-", unlist(levels)), collapse = "_"), levels = levels,
       settings = Reduce(merge_lists, patches, settings))
}

#' plan.json of a simulated campaign. The order of each block is shuffled from the seed.
simulate_plan <- function(study_dir, scale, blocks, seed) {
  raw <- read_yaml_strict(file.path(study_dir, "study.yaml"))
  cells <- expand_cells(raw, scale)
  claims <- file.path(study_dir, "claims.yaml")
  plan <- list(
    study = basename(study_dir), source = raw$source, title = raw$title, question = raw$question,
    campaign = "simulated", scale = scale, machine = list(name = "simulated", mode = "clone"),
    sizes = study_at_scale(raw, scale)$sizes,
    unkept = lapply(raw$unkept, `[[`, "what"), seed = seed, blocks = blocks, factors = as.list(names(raw$factors)),
    metrics = unname(Map(plan_metric, names(raw$metrics), raw$metrics)),
    cells = lapply(cells, function(cell) c(cell, digest = digest::digest(cell$settings))),
    order = shuffled_order(vapply(cells, `[[`, "", "id"), blocks, seed), zassay = "simulated"
  )
  plan$claims_sha256 <- if (file.exists(claims)) digest::digest(file = claims, algo = "sha256") else ""
  plan$prereg <- digest::digest(plan[c("claims_sha256", "cells", "order")], algo = "sha256")
  plan
}

plan_metric <- function(name, raw) {
  list(name = name, unit = raw$unit, better = raw$better, resolution = raw$resolution)
}

shuffled_order <- function(ids, blocks, seed) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  turns <- lapply(seq_len(blocks), function(block) {
    Map(function(cell, position) list(block = block, position = position, cell = cell), sample(ids), seq_along(ids))
  })
  unname(unlist(turns, recursive = FALSE))
}

#' What each workload measures (the metrics of a study are the union over its workloads).
TOOL_METRICS <- list(
  fio = c("bandwidth", "iops", "bytes_moved", "clat_p50", "clat_p99", "clat_p999", "hit_ratio", "mru_hits", "mfu_hits",
          "mfu_share", "demand_hits", "demand_misses", "prefetch_hits", "pool_bytes_read", "pool_bytes_written",
          "device_share", "demand_share", "allocated_bytes", "logical_bytes", "allocated_share", "arc_share",
          "cpu_busy",
          "core_busy", "device_busy"),
  bonnie = c("seq_char_write", "seq_block_write", "rewrite", "seq_char_read", "seq_block_read", "random_seeks",
             "compressratio", "cpu_seconds_per_gib", "ddt_core_bytes", "logical_bytes", "used_bytes",
             "write_cv_filling",
             "write_cv_full", "contentions_filling", "contentions_full", "bytes_filling", "bytes_full",
             "sync_share_stalled", "sync_share_moving"),
  "checksum-read" = c("read_time", "read_rate", "writer_rate", "writer_overlap", "capped"),
  "parallel-writers" = c("aggregate_rate", "compressratio", "cpu_busy", "writer_rate_min", "writer_rate_max")
)

#' Does a cell's workload measure a metric? A study with one workload measures all of its metrics in every cell.
measures <- function(plan, cell, metric) {
  tools <- unique(vapply(plan$cells, function(cell) or_else(cell$settings$workload$tool, ""), ""))
  tool <- cell$settings$workload$tool
  length(tools) < 2L || is.null(TOOL_METRICS[[tool]]) || metric %in% TOOL_METRICS[[tool]]
}
