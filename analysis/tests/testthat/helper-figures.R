# Simulated campaigns of every study, as their figures need them, with effects that look like something.

FIGURE_STUDIES <- basename(dirname(Sys.glob(file.path(ROOT, "studies", "*", "figures.yaml"))))

#' Effects that give pictures a shape (hits that grow under replay, slow filesystems under load); nothing is claimed.
FIGURE_EFFECTS <- list(
  "fio-cache" = list(metrics = list(
    bandwidth = list(at = list(
      list(where = list(file_state = "unwritten"), set = 2400 * 2^20),
      list(where = list(file_state = "written", op = "read"), set = 900 * 2^20),
      list(where = list(file_state = "incompressible", op = "read"), set = 500 * 2^20),
      list(where = list(file_state = c("written", "incompressible"), op = "randread"), set = 20 * 2^20),
      list(where = list(op = "randread", randrepeat = "1", file_state = "written"), trend = 0.24)
    )),
    hit_ratio = list(at = list(
      list(where = list(randrepeat = "0"), set = 0.15),
      list(where = list(randrepeat = "1"), runs = list(1), set = 0.15),
      list(where = list(randrepeat = "1"), runs = list(2), set = 0.5),
      list(where = list(randrepeat = "1"), runs = list(3), set = 0.57),
      list(where = list(randrepeat = "1"), runs = list(4), set = 0.64),
      list(where = list(randrepeat = "1"), runs = list(5), set = 0.7)
    )),
    arc_share = list(mean = 0.167, noise = list(block = 0.001, boot = 0.001, run = 0.001))
  ), identities = list(
    iops = "140 / (1 - hit_ratio)", demand_hits = "9600 * hit_ratio", demand_misses = "9600 - demand_hits",
    mru_hits = "demand_hits * 0.4", mfu_hits = "demand_hits * 0.6", prefetch_hits = "demand_hits * 0.02"
  )),
  "read-under-write" = list(metrics = list(
    read_time = list(mean = 9, at = list(
      list(where = list(load = "overkill", filesystem = "zfs"), ratio = 1.15),
      list(where = list(load = "overkill", filesystem = "ext3"), ratio = 60),
      list(where = list(load = "overkill", filesystem = "reiserfs"), ratio = 80),
      list(where = list(load = "overkill", filesystem = "ext4"), ratio = 20),
      list(where = list(load = "overkill", filesystem = "xfs"), ratio = 9),
      list(where = list(load = "overkill", filesystem = "btrfs"), ratio = 4),
      list(where = list(load = "reasonable", filesystem = "ext3"), ratio = 30),
      list(where = list(load = "reasonable", filesystem = "reiserfs"), ratio = 25),
      list(where = list(load = "overkill", scheduler = "bfq", filesystem = c("ext3", "ext4")), ratio = 0.15)
    )),
    writer_rate = list(mean = 30 * 2^20, at = list(
      list(where = list(load = "none"), set = 0), list(where = list(filesystem = "zfs"), ratio = 0.5),
      list(where = list(load = "reasonable"), ratio = 0.13), list(where = list(filesystem = "xfs"), ratio = 1.3)
    ))
  )),
  "compression-dedup" = list(metrics = list(
    seq_block_write = list(mean = 28 * 2^20, at = list(
      list(where = list(compression = c("lz4", "lzjb")), ratio = 1.35), list(where = list(dedup = "on"), ratio = 0.95)
    )),
    random_seeks = list(mean = 500, at = list(
      list(where = list(compression = c("lz4", "lzjb"), payload = "default"), ratio = 2.3),
      list(where = list(dedup = "on"), ratio = 0.9)
    ))
  )),
  "zfs-on-linux" = list(metrics = list(
    seq_block_write = list(mean = 80 * 2^20, at = list(
      list(where = list(setting = c("lz4", "lz4-dedup")), ratio = 1.8),
      list(where = list(setting = "dedup"), ratio = 0.7)
    )),
    aggregate_rate = list(mean = 120 * 2^20, at = list(
      list(where = list(setting = "lz4"), ratio = 1.6), list(where = list(setting = "gzip"), ratio = 0.6)
    )),
    writer_rate_min = list(mean = 17 * 2^20), writer_rate_max = list(mean = 24 * 2^20)
  )),
  "compression-levels" = list()
)

#' A campaign folder of a study, simulated once per test process.
figure_campaign <- local({
  made <- list()
  function(name, scale = "paper", blocks = 3L, class = "E", series = TRUE) {
    key <- paste(name, scale, blocks, class, series)
    if (is.null(made[[key]])) made[[key]] <<- simulate_for_figures(name, scale, blocks, class, series)
    made[[key]]
  }
})

simulate_for_figures <- function(name, scale, blocks, class, series) {
  dir <- file.path(tempfile("figures-"), name)
  campaign <- simulate_study(file.path(ROOT, "studies", name), scale, blocks, 1L, FIGURE_EFFECTS[[name]], class)
  write_simulated(campaign, dir, raw = FALSE)
  if (series) {
    write_series(dir, c("fio-cache" = "^written_randread_lz4", "zfs-on-linux" = "^bonnie_(initial|lz4)_128K_9",
                        "compression-levels" = "_text_", "read-under-write" = "^zfs_overkill")[name] %||% "^off_off")
    if (name == "fio-cache") write_latencies(dir, "^written_randread_lz4_._1_improved")
  }
  dir
}

`%||%` <- function(a, b) if (is.null(a) || is.na(a)) b else a

figure_study <- function(name, ...) {
  asked <- file.path(ROOT, "studies", name)
  read_figure_study(figure_campaign(name, ...), file.path(asked, "claims.yaml"), file.path(asked, "published.csv"),
                    SCHEMAS)
}

figure_item <- function(study, id) Filter(function(item) item$id == id, study$spec$figures)[[1]]
