# The plan of a simulated campaign: the cells of study.yaml and a seeded order, in the form of plan.json.

#' Cells of a study: factors x levels without the excluded ones, ids as the Python side makes them.
#'
#' @param raw study.yaml as read; `scale` its name: a level that names scales exists at those only.
#' @return list of id, levels (named list), settings (the patches merged, sizes as written).
expand_cells <- function(raw, scale) {
  factors <- lapply(raw$factors, function(levels) Filter(function(patch) at_scale(patch, scale), as_patches(levels)))
  for (name in names(factors)) if (is.null(names(raw$factors[[name]]))) {
    factors[[name]] <- lapply(factors[[name]], function(level) list(properties = stats::setNames(list(level), name)))
  }
  # The last factor turns fastest, as itertools.product has it.
  grid <- rev(expand.grid(lapply(rev(factors), names), stringsAsFactors = FALSE, KEEP.OUT.ATTRS = FALSE))
  cells <- lapply(seq_len(nrow(grid)), function(i) one_cell(as.list(grid[i, , drop = FALSE]), factors, raw$settings))
  Filter(function(cell) !is_excluded(cell$levels, raw$exclude, scale), cells)
}

as_patches <- function(levels) if (is.null(names(levels))) stats::setNames(levels, unlist(levels)) else levels

at_scale <- function(item, scale) {
  named <- if (is.list(item)) unlist(item[["scales"]])
  is.null(named) || scale %in% named
}

one_cell <- function(levels, factors, settings) {
  patches <- Map(function(name, level) factors[[name]][[level]], names(levels), levels)
  list(id = paste(gsub("[^A-Za-z0-9.+-]", "-", unlist(levels)), collapse = "_"), levels = levels,
       settings = Reduce(utils::modifyList, lapply(patches, or_else, list()), settings))
}

is_excluded <- function(levels, excluded, scale) {
  any(vapply(excluded, function(item) {
    if (!at_scale(item, scale)) return(FALSE)
    item <- item[setdiff(names(item), "scales")]
    all(vapply(names(item), function(name) identical(levels[[name]], item[[name]]), TRUE))
  }, TRUE))
}

#' plan.json of a simulated campaign. The order of each block is shuffled from the seed.
simulate_plan <- function(study_dir, scale, blocks, seed) {
  raw <- read_yaml_strict(file.path(study_dir, "study.yaml"))
  cells <- expand_cells(raw, scale)
  claims <- file.path(study_dir, "claims.yaml")
  plan <- list(
    study = basename(study_dir), source = raw$source, title = raw$title, question = raw$question,
    campaign = "simulated", scale = scale, machine = list(name = "simulated", mode = "clone"), sizes = raw$sizes,
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
