# The blocks verb: how many further blocks a study needs, or what a pilot says about the next campaign.

#' @return list for blocks.json; write it beside the dataset, so that rule and path of half-widths are in the bundle.
further_for_study <- function(study_dir, claims_path, schema, least = STOP_LEAST, most = STOP_MOST) {
  read <- prepare_study(study_dir, claims_path, schema)
  c(list(study = basename(normalizePath(study_dir)), data_sha256 = read$data$sha256),
    stopping_report(read$prepared, length(read$data$blocks), least, most))
}

plan_for_study <- function(study_dir, claims_path, schema) {
  read <- prepare_study(study_dir, claims_path, schema)
  links <- primary_links(read$prepared)
  if (!length(links)) {
    abort(sprintf("%s: no primary contrast to plan for", study_dir),
          sprintf("its data are class %s; a pilot must be of a class that may decide a confirmatory claim about means",
                  lowest_class(read$data$rows$validity_class)))
  }
  costs <- costs_of(study_dir, max(read$data$rows$run))
  list(blocks = pilot_table(links), runs = runs_per_boot(read$data, links, costs), costs = costs)
}

#' The plan as text for a terminal: one line per contrast.
plan_text <- function(plan) {
  wide <- plan$blocks[, .(text = paste(sprintf("%s %s", effect, either(blocks, cautious_blocks)), collapse = ", ")),
                      by = .(claim, link, pilot_blocks, sd)]
  lines <- sprintf("%s: sd %s over %s; %s", trimws(paste(wide$claim, wide$link)), show_number(as.numeric(wide$sd)),
                   vapply(wide$pilot_blocks, count, "", noun = "block"), wide$text)
  runs <- plan$runs
  more <- ifelse(is.na(runs$best_runs), runs$note,
                 sprintf("%s in each boot%s", vapply(runs$best_runs, count, "", noun = "run"),
                         ifelse(nzchar(runs$note), paste0(" (", runs$note, ")"), "")))
  c("blocks for a power of 0.9 at two-sided 5 % (after the bar: should the pilot's spread be too small by chance)",
    lines,
    sprintf("runs: %s: %s", runs$metric, more))
}

either <- function(plain, careful) {
  show <- function(n) ifelse(is.na(n), "?", as.character(n))
  sprintf("%s|%s", show(plain), show(careful))
}

check_bounds <- function(least, most) {
  if (least < 2L || most < least) abort(sprintf("--least %d and --most %d do not go together", least, most),
                                        "expected: 2 <= least <= most")
}

write_json_aside <- function(value, path) {
  part <- paste0(path, ".part")
  jsonlite::write_json(value, part, auto_unbox = TRUE, pretty = TRUE, digits = NA, null = "null")
  if (!file.rename(part, path)) abort(sprintf("cannot write %s", path))
}
