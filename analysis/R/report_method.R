# How verdicts are made: the numbers of the method as the code has them, the literature, the words.

#' The constants that the engine decides with, read from the engine itself: cited/method.csv.
method_constants <- function() {
  seoi <- function(scale) default_delta0(list(estimator = list(scale = scale)))
  percent <- function(share) sprintf("%g %%", 100 * share)
  data.table::data.table(
    name = c("alpha", "interval", "interval_equal", "min_blocks", "max_lost", "fragile_blocks", "smallest_ratio",
             "smallest_difference", "outlier_z"),
    value = c(format(ALPHA), percent(1 - ALPHA), percent(1 - 2 * ALPHA), format(MIN_BLOCKS), percent(MAX_LOST),
              format(MIN_BLOCKS + 1L), format(exp(seoi("log"))), format(seoi("identity")), "3.5"),
    meaning = c("two-sided level of a family's adjusted p-values", "level of the interval that is shown",
                "level of the interval that decides what is negligible or equivalent",
                "least number of complete blocks that can decide a claim",
                "greatest share of planned blocks that may be missing",
                "least number of blocks with which fragility can be assessed",
                "smallest ratio of interest, unless a claim says otherwise",
                "smallest difference of interest on the scale of shares",
                "modified z beyond which a run is flagged as an outlier"),
    code = c("R/decide.R ALPHA", "R/decide.R ALPHA", "R/decide.R ALPHA", "R/decide.R MIN_BLOCKS", "R/decide.R MAX_LOST",
             "R/fragile.R fragility", "R/claims.R default_delta0", "R/claims.R default_delta0",
             "R/fragile.R flag_outliers")
  )
}

#' The constants as holes of the page: each with a link to its row.
method_holes <- function() {
  constants <- method_constants()
  stats::setNames(as.list(num(constants$value, at_rows("cited/method.csv", seq_len(nrow(constants)) + 1L))),
                  constants$name)
}

#' The literature, from inst/report/references.yaml; what nobody re-read for this project says so.
references_html <- function(path) {
  items <- read_yaml_strict(path)$references
  html_list(vapply(items, function(item) {
    known <- item$status
    if (known == "recalled") known <- "recalled from the literature, not re-read for this project"
    status <- sprintf(" <span class=\"recalled\">(%s)</span>", esc(known))
    title <- if (is.null(item$title)) "" else sprintf(" <cite>%s</cite>.", named(item$title))
    where <- if (is.null(item$where)) "" else paste0(", ", named(item$where))
    sprintf("<span id=\"ref-%s\">%s</span>%s, %s.%s Used for: %s.%s", item$id, esc(item$authors), where,
            dated(item$year), title, esc(item$used_for), status)
  }, ""))
}

GLOSSARY <- c(
  "block" = "one pass over all cells of a study in random order, each in a fresh guest; the unit of replication",
  "boot" = "one cell in one block", "cell" = "one combination of levels",
  "claim" = "a statement of the source that data can decide",
  "emulated (E)" = "the guest's CPU was software; times are not evidence, counts are",
  "fragile" = "the verdict changes when one block or the flagged outliers are left out",
  "gate" = "a check that decides whether a run counts, made before its result is looked at",
  "inconclusive" = "the data fit the claim and its opposite",
  "ledger" = "what a measurement was bound by: the device, the ARC, holes, the host's cache, the CPU or the network",
  "magnitude" = "whether an effect has the published size; kept apart from the verdict",
  "not replicated" = "the effect is negligible, or goes the other way (contradicted)",
  "not testable here" = "these data may not decide the claim, with the reason",
  "replicated" = "the data support the claim on other hardware (replicability in the ACM's sense)",
  "run" = "one execution of the workload inside a boot",
  "validity class" = "S synthetic, E emulated, V virtualised, B bare metal: what the data may decide"
)

glossary_html <- function() {
  paste0("<dl>", paste0("<dt>", esc(names(GLOSSARY)), "</dt><dd>", esc(GLOSSARY), "</dd>", collapse = "\n"), "</dl>")
}
