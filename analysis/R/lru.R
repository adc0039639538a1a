# The cache of source S0 as a plain LRU: what random reads of a file hit when offsets are replayed, and when not.

S0_CACHE <- 49152L
S0_FILE <- 294912L
S0_READS <- c(9600L, 17340L, 19380L, 22920L, 27960L)

#' Hit ratio of every run of random reads over a file behind an LRU cache that holds the file's tail to begin with.
#'
#' @param reads reads of each run; `replay` TRUE when every run reads the same offsets in the same order (fio's
#'   randrepeat); offsets do not repeat inside a run (fio's random map).
#' @return one hit ratio per run.
lru_hit_ratios <- function(reads = S0_READS, replay = TRUE, seed = 1L, cache = S0_CACHE, file = S0_FILE) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  most <- max(reads)
  order <- sample.int(file, most)
  # The tail of the file was written last.
  preload <- seq.int(file - cache + 1L, file)
  requests <- unlist(lapply(reads, function(n) if (replay) order[seq_len(n)] else sample.int(file, n)))
  hits <- lru_hits(c(preload, requests), cache, file)[-seq_along(preload)]
  vapply(split(hits, rep(seq_along(reads), reads)), mean, 0, USE.NAMES = FALSE)
}

#' Which requests find their block among the `cache` most recently used ones. The list is two arrays of neighbours, with
#' the head and the tail at index `file + 1` and `file + 2`.
lru_hits <- function(requests, cache, file) {
  head <- file + 1L
  tail <- file + 2L
  after <- integer(file + 2L)
  before <- integer(file + 2L)
  after[head] <- tail
  before[tail] <- head
  inside <- logical(file)
  size <- 0L
  hit <- logical(length(requests))
  for (i in seq_along(requests)) {
    block <- requests[i]
    if (inside[block]) {
      hit[i] <- TRUE
      after[before[block]] <- after[block]
      before[after[block]] <- before[block]
    } else if (size < cache) {
      size <- size + 1L
    } else {
      oldest <- before[tail]
      after[before[oldest]] <- tail
      before[tail] <- before[oldest]
      inside[oldest] <- FALSE
    }
    newest <- after[head]
    after[head] <- block
    before[block] <- head
    after[block] <- newest
    before[newest] <- block
    inside[block] <- TRUE
  }
  hit
}
