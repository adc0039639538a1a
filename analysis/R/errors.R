# Errors in the reader's language: what is wrong, where, and what was expected. No traceback reaches a user.

#' Stop with one clear message.
#'
#' @param what what is wrong and where (file, row, column, key).
#' @param expected one line per thing that would have been right; may be empty.
#' The text is passed as data, so braces in a file name are not code.
abort <- function(what, expected = character()) {
  bullets <- c("{what}", rep("{expected[[i]]}", 0))
  for (i in seq_along(expected)) bullets <- c(bullets, sprintf("{expected[[%d]]}", i))
  names(bullets) <- c("", rep("i", length(expected)))
  cli::cli_abort(bullets, call = NULL, class = "zassay_problem")
}

#' Stop because a name is not one of the known ones, and guess which one was meant.
abort_unknown <- function(what, name, known) {
  near <- known[utils::adist(name, known)[1, ] <= 2]
  abort(
    sprintf("%s: unknown \"%s\"", what, name),
    c(paste0("known: ", paste(known, collapse = ", ")), if (length(near)) paste0("did you mean ", near[1], "?"))
  )
}

#' Run an entry point: any error becomes one message on stderr and exit status 1. ZASSAY_DEBUG=1 adds the calls.
run_main <- function(code) {
  options(cli.num_colors = 1L, cli.unicode = TRUE, cli.width = 500L, width = 500L)
  show_calls <- function(e) {
    if (!nzchar(Sys.getenv("ZASSAY_DEBUG"))) return(invisible())
    writeLines(paste("  ", vapply(sys.calls(), first_line, "")), stderr())
  }
  tryCatch(withCallingHandlers(code, error = show_calls), error = function(e) {
    text <- if (inherits(e, "zassay_problem")) conditionMessage(e) else paste("internal error:", conditionMessage(e))
    writeLines(paste("error:", text), stderr())
    quit(save = "no", status = 1L)
  })
  invisible()
}

first_line <- function(call) substr(deparse(call)[1], 1, 110)

#' The path of a file that must exist.
must_exist <- function(path, what, fix = character()) {
  if (!file.exists(path)) abort(sprintf("%s is missing: %s", what, path), fix)
  path
}
