# Verdicts of any study on simulated data whose truth is known: study.yaml and claims.yaml in, one word per claim out.

#' Simulate a study with given effects and decide its claims.
#'
#' @param effects list as of simulate_study(); `class` what the rows pretend to be; `blocks` enough for small effects.
#' @param study_dir another study folder, such as a changed copy.
#' @return data.table of verdicts.
simulated_verdicts <- function(study, effects, class = "V", blocks = 6L, scale = "lab", runs = NULL, seed = 1L,
                               study_dir = file.path(ROOT, "studies", study)) {
  made <- simulate_study(study_dir, scale, blocks, seed, effects = c(effects, list(runs = runs)), class = class)
  dir <- write_simulated(made, tempfile("simulated-"), raw = FALSE)
  on.exit(unlink(dir, recursive = TRUE))
  estimate_study(dir, file.path(study_dir, "claims.yaml"), file.path(SCHEMAS, "claims.schema.yaml"))$verdicts
}

#' Noise small enough that every effect of a few per cent shows in six blocks.
LITTLE_NOISE <- list(block = 0.05, boot = 0.003, run = 0.003)

#' One effect: a metric is `ratio` times its mean in the cells that match (or is set to a value).
effect <- function(ratio = NULL, ..., set = NULL, runs = NULL) {
  Filter(Negate(is.null), list(where = list(...), ratio = ratio, set = set, runs = runs))
}

expect_verdicts <- function(found, wanted) {
  have <- stats::setNames(found$verdict, found$claim)
  testthat::expect_equal(have[names(wanted)], wanted)
}

#' Simulate, change rows of the dataset if asked, and decide.
#'
#' @param change function of the rows; `claims` another claims.yaml.
#' @return estimates and verdicts, as of estimate_study().
simulated_study <- function(study, effects, class = "V", blocks = 6L, scale = "lab", seed = 1L, change = identity,
                            claims = file.path(ROOT, "studies", study, "claims.yaml")) {
  made <- simulate_study(file.path(ROOT, "studies", study), scale, blocks, seed, effects = effects, class = class)
  made$rows <- change(made$rows)
  dir <- write_simulated(made, tempfile("simulated-"), raw = FALSE)
  on.exit(unlink(dir, recursive = TRUE))
  estimate_study(dir, claims, file.path(SCHEMAS, "claims.schema.yaml"))
}
