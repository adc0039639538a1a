# What surrounds the results: time, circumstances, the sources' own arithmetic, the check of the method, the words.

#' Predicted against actual time, and what the actual time went to.
timing_table <- function(study) {
  t <- study$timing
  file <- file.path(study$name, "timing.json")
  parts <- or_else(t$stages_s, list())
  seconds <- function(x, pointer) unlist(Map(recorded, x, at_key(file, pointer)), use.names = FALSE)
  rows <- html_table(
    list(what = c("all runs", paste("of which", named(names(parts)))[seq_along(parts)]),
         predicted = c(seconds(list(t$predicted_s), "/predicted_s"), rep("", length(parts))),
         actual = c(seconds(list(t$actual_s), "/actual_s"), seconds(parts, paste0("/stages_s/", names(parts))))),
    c("Stage", "Predicted", "Actual"), "timing", keys = list(actual = as.numeric(c(t$actual_s, unlist(parts)))),
    caption = "Predicted and actual time on the host"
  )
  steps <- if (length(t$steps_median_s)) t["steps_median_s"]
  if (is.null(steps)) return(rows)
  paste0(rows, html_details("Median seconds of each step of a run", facts_table(steps, file)))
}

#' Seconds with their source; of data from outside nobody predicted any.
recorded <- function(x, at) if (is.null(x) || is.na(x)) show_seconds(NULL) else num(show_seconds(x), at)

#' The whole campaign's time, a row per source.
campaign_time <- function(page) {
  cells <- function(key) {
    vapply(page$studies, function(study) {
      recorded(study$timing[[key]], at_key(file.path(study$name, "timing.json"), paste0("/", key)))
    }, "")
  }
  keys <- function(key) vapply(page$studies, function(study) as.numeric(or_else(study$timing[[key]], NA_real_)), 0)
  source <- vapply(page$studies, function(s) link_to(paste0("#study-", s$name), ident(s$claims$source$id)), "")
  html_table(list(source = source, predicted = cells("predicted_s"), actual = cells("actual_s")),
             c("Source", "Predicted", "Actual"), "timing", caption = "Time on the host, predicted before the first run",
             keys = list(predicted = keys("predicted_s"), actual = keys("actual_s")))
}

ENVIRONMENT_COLUMNS <- c("image", "image_digest", "kernel", "zfs", "accel", "cpu_model", "host", "mode",
                         "validity_class")

#' The circumstances: what every row says, the machine's facts, the image's manifest.
environment_html <- function(study, page) {
  # A run that failed early does not know its kernel; that is no second value.
  common <- vapply(ENVIRONMENT_COLUMNS, function(column) {
    values <- sort(unique(Filter(nzchar, study$data$rows[[column]])))
    paste(said(values, at_data(study, row_ranges(match(values, study$data$rows[[column]]) + 1L))), collapse = "; ")
  }, "")
  facts <- html_details("Facts of the machine, as measured",
                        facts_table(study$facts, file.path(study$name, "facts.json")))
  manifests <- vapply(study$images, manifest_html, "", page = page)
  paste(c(html_facts(named(ENVIRONMENT_COLUMNS), common, "What every row of the dataset says"), facts, manifests),
        collapse = "\n")
}

manifest_html <- function(image, page) {
  path <- manifest_path(page, image)
  body <- paragraph("The image is not linked in this results folder.")
  cited <- file.path("cited", "images", paste0(image, ".json"))
  if (file.exists(path)) body <- facts_table(jsonlite::read_json(path), cited)
  html_details(paste("Manifest of image", named(image)), body)
}

#' Runs that do not count, of all sources.
all_failures <- function(page) {
  parts <- vapply(page$studies, function(study) {
    found <- paste0(failure_table(study), missing_table(study))
    paste0("<h3>", link_to(paste0("#study-", study$name), ident(study$claims$source$id)), "</h3>", found)
  }, "")
  paste(parts, collapse = "\n")
}
