# Loads the package from its source tree, so that nothing has to be installed into an R library.
# An entry point sources this file with `here` set to analysis/.
invisible(Sys.setlocale("LC_COLLATE", "C"))
suppressWarnings(invisible(Sys.setlocale("LC_CTYPE", "C.UTF-8")))
Sys.setenv(TZ = "UTC")
RNGkind("Mersenne-Twister", "Inversion", "Rejection")

load_zassay <- function(here) {
  home <- new.env(parent = globalenv())
  home$PACKAGE_HOME <- here
  for (file in sort(list.files(file.path(here, "R"), pattern = "[.]R$", full.names = TRUE))) sys.source(file, home)
  data.table::setDTthreads(1L)
  home
}

need <- function(packages) {
  missing <- packages[!vapply(packages, requireNamespace, TRUE, quietly = TRUE)]
  if (!length(missing)) return(invisible())
  lines <- sprintf("error: R package %s is not installed\n  apt-get install r-cran-%s", missing, tolower(missing))
  writeLines(lines, stderr())
  quit(save = "no", status = 1L)
}
