# Self-check of what must change nothing, or only a sign: metamorphic checks through CSV and verdict, and a cache known
# in advance whose replay claims must come out as they are.

#' The study of a source, by its folder's name; a study is known to its folder alone.
study_of <- function(source, plan) {
  paths <- Sys.glob(file.path(plan$studies, "*", "study.yaml"))
  found <- Filter(function(path) identical(yaml::read_yaml(path)$source, source), paths)
  if (length(found) != 1L) abort(sprintf("%s: %d studies of source %s", plan$studies, length(found), source))
  basename(dirname(found))
}

#' A campaign of the study of S3, class V, for changes that must not matter.
metamorphic_campaign <- function(plan) {
  simulate_study(file.path(plan$studies, study_of("S3", plan)), "smoke", 5L, plan$seed %% 10000L,
                 list(runs = 2L, noise = list(block = 0.05, boot = 0.01, run = 0.01)), class = "V")
}

decide_simulated <- function(made, study, plan) {
  dir <- file.path(tempfile("metamorphic-"), study)
  on.exit(unlink(dirname(dir), recursive = TRUE))
  write_simulated(made, dir, raw = FALSE)
  estimate_study(dir, file.path(plan$studies, study, "claims.yaml"), plan$schema)
}

is_time <- function(rows) grepl("_time$", rows$metric)

scaled <- function(made, factor, which = TRUE, power = 1) {
  made$rows <- data.table::copy(made$rows)
  at <- is_time(made$rows) & which & nzchar(made$rows$value)
  made$rows[at, value := sprintf("%.15g", as.numeric(value)^power * factor)]
  # The timer resolves times, not rates.
  if (power != 1) made$rows[at, resolution := ""]
  made
}

#' Each change with what it must leave as it was.
METAMORPHOSES <- list(
  "all times seven times as long" = function(made) scaled(made, 7),
  "one block half as fast" = function(made) scaled(made, 1.5, made$rows$block == 2L),
  "blocks renamed" = function(made) {
    made$rows <- data.table::copy(made$rows)[, block := c(4L, 2L, 5L, 1L, 3L)[block]]
    made
  },
  "every run written down twice" = function(made) {
    made$rows <- rbind(made$rows, data.table::copy(made$rows)[, run := run + 2L])
    made
  },
  "rows in another order" = function(made) {
    made$rows <- made$rows[rev(seq_len(.N))]
    made
  }
)

check_metamorphic <- function(plan) {
  made <- metamorphic_campaign(plan)
  plain <- decide_simulated(made, study_of("S3", plan), plan)
  rows <- lapply(names(METAMORPHOSES), function(name) {
    again <- decide_simulated(METAMORPHOSES[[name]](made), study_of("S3", plan), plan)
    told("nothing changes", name, same_outcome(plain, again))
  })
  data.table::rbindlist(c(rows, list(
    told("only the sign changes", "times become rates", inverted(plain, made, plan)),
    told("only names change", "levels called otherwise", renamed(plain, made, plan))
  )))
}

told <- function(check, case, pass) {
  data.table::data.table(check = check, case = case, sims = NA_integer_, found = NA_real_, stated = "", low = NA_real_,
                         high = NA_real_, control = FALSE, pass = pass)
}

#' Verdicts, estimates and standard errors alike up to the resolution of the timer.
same_outcome <- function(a, b, columns = c("estimate", "se")) {
  timed <- a$verdicts[min_class == "V", claim]
  x <- a$estimates[claim %in% timed]
  y <- b$estimates[claim %in% timed]
  near <- vapply(columns, function(column) {
    isTRUE(all.equal(as.numeric(x[[column]]), as.numeric(y[[column]]), tolerance = 1e-6))
  }, TRUE)
  identical(a$verdicts[claim %in% timed, verdict], b$verdicts[claim %in% timed, verdict]) && all(near)
}

#' Rates in place of times: every ratio is the inverse, every standard error the same.
inverted <- function(plain, made, plan) {
  rates <- decide_simulated(scaled(made, 1, power = -1), study_of("S3", plan), plan)
  ids <- plain$verdicts[type == "dir", claim]
  x <- plain$estimates[claim %in% ids & scale == "log"]
  y <- rates$estimates[claim %in% ids & scale == "log"]
  isTRUE(all.equal(as.numeric(x$estimate), 1 / as.numeric(y$estimate), tolerance = 1e-6)) &&
    isTRUE(all.equal(as.numeric(x$se), as.numeric(y$se), tolerance = 1e-6))
}

#' The levels gzip and gzip-9 change names, in the data and in the claims, whose answers must follow them.
renamed <- function(plain, made, plan) {
  swap <- c(gzip = "gzip-9", "gzip-9" = "gzip")
  made$rows <- data.table::copy(made$rows)
  made$rows[f_compression %in% names(swap), f_compression := swap[f_compression]]
  again <- decide_simulated(made, study_of("S3", plan), plan)
  # S3-08 is about gzip and S3-09 about gzip-9, in the same place otherwise.
  isTRUE(all.equal(again$estimates[claim %in% c("S3-08", "S3-09"), estimate],
                   rev(plain$estimates[claim %in% c("S3-08", "S3-09"), estimate])))
}

#' What methods state, mean of five seeds. A function, as files are read in the order of their names.
lru_stated <- function() {
  list(
  "replay" = list(reads = S0_READS, replay = TRUE, stated = c(.152, .610, .907, .862, .835)),
  "fresh offsets" = list(reads = S0_READS, replay = FALSE, stated = c(.153, .140, .139, .131, .124)),
  "replay, fixed work" = list(reads = rep(9600L, 5), replay = TRUE, stated = c(.152, 1, 1, 1, 1)),
  "fresh offsets, fixed work" = list(reads = rep(9600L, 5), replay = FALSE, stated = rep(.15, 5))
  )
}

check_recovery <- function(plan) {
  rows <- lapply(names(lru_stated()), function(name) {
    case <- lru_stated()[[name]]
    found <- rowMeans(vapply(1:5, function(seed) lru_hit_ratios(case$reads, case$replay, seed), numeric(5)))
    data.table::rbindlist(lapply(1:5, function(run) {
      checked(sprintf("LRU of the source's size, %s", name), sprintf("hit ratio of run %d", run), 5L, found[run],
              sprintf("%.3f", case$stated[run]), case$stated[run] - 0.01, case$stated[run] + 0.01)
    }))
  })
  data.table::rbindlist(c(rows, list(recovered_claims(plan))))
}

#' A campaign of source S0 whose hit ratios are those of the LRU.
#'
#' @param replayed the levels of randrepeat at which offsets are replayed.
lru_campaign <- function(plan, replayed) {
  made <- simulate_study(file.path(plan$studies, study_of("S0", plan)), "smoke", 5L, plan$seed %% 10000L, class = "E")
  rows <- data.table::copy(made$rows)
  keys <- unique(rows[metric == "hit_ratio", .(f_randrepeat, block)])
  for (i in seq_len(nrow(keys))) {
    ratios <- lru_hit_ratios(replay = keys$f_randrepeat[i] %in% replayed, seed = keys$block[i])
    at <- rows$metric == "hit_ratio" & rows$f_randrepeat == keys$f_randrepeat[i] & rows$block == keys$block[i]
    rows[at, value := sprintf("%.10g", ratios[run])]
  }
  rows[metric == "arc_share", value := sprintf("%.10g", S0_CACHE / S0_FILE)]
  made$rows <- rows
  decide_simulated(made, study_of("S0", plan), plan)$verdicts
}

#' Q0-1 and Q0-2 on the cache whose answer is known: with replay where fio replays, and with replay everywhere.
recovered_claims <- function(plan) {
  word <- function(verdicts, id) trimws(verdicts[claim == id, paste(verdict, detail)])
  as_fio <- lru_campaign(plan, "1")
  always <- lru_campaign(plan, c("0", "1"))
  data.table::rbindlist(list(
    told("LRU through the claims of S0", "Q0-1 is replicated", word(as_fio, "Q0-1") == "REPLICATED"),
    told("LRU through the claims of S0", "Q0-2 holds without replay", word(as_fio, "Q0-2") == "REPLICATED"),
    told("LRU through the claims of S0", "Q0-2 fails with replay",
         word(always, "Q0-2") == "NOT REPLICATED contradicted"),
    told("LRU through the claims of S0", "Q0-1 is not replicated when everything is replayed",
         word(always, "Q0-1") == "NOT REPLICATED negligible")
  ))
}
