# The simulator: its campaigns are read by everything that reads real ones, and say that they are synthetic.

folder <- function(study) file.path(ROOT, "studies", study)
made <- simulate_study(folder("compression-levels"), blocks = 3L, seed = 7L)

test_that("rows are synthetic, class S, and a dataset as production reads it", {
  dir <- write_simulated(made, tempfile("simulated-"))
  on.exit(unlink(dir, recursive = TRUE))
  data <- read_dataset(file.path(dir, "dataset.csv"))
  expect_setequal(unique(data$rows$validity_class), "S")
  expect_setequal(unique(data$rows$synthetic), "true")
  expect_equal(names(made$rows), c(DATASET_COLUMNS[1:16], paste0("f_", data$factors), DATASET_COLUMNS[17:31]))
  expect_true(all(file.exists(file.path(dir, c("plan.json", "facts.json", "timing.json")))))
  expect_true(all(file.exists(file.path(dir, unique(data$rows$raw), "status.json"))))
  expect_equal(planned_blocks(data, dir), 3L)
})

test_that("another class is a pretence that only tests may ask for", {
  expect_error(check_pretence("V"), "simulated rows are class S")
  expect_error(check_pretence("X"), "unknown \"X\"")
})

test_that("the same seed gives the same rows, another one others", {
  again <- simulate_study(folder("compression-levels"), blocks = 3L, seed = 7L)
  expect_identical(made$rows, again$rows)
  other <- simulate_study(folder("compression-levels"), blocks = 3L, seed = 8L)
  expect_false(identical(made$rows$value, other$rows$value))
})

test_that("means come from the source where it prints them, in base units", {
  text <- made$rows[metric == "write_time" & cell == "gzip_text_75", mean(as.numeric(value))]
  expect_lt(abs(log(text / 437)), 0.3)
  rates <- simulate_study(folder("compression-dedup"), blocks = 2L)$rows
  expect_gt(rates[metric == "seq_block_read", min(as.numeric(value))], 2^20)
})

test_that("effects, trends, losses and identities do what they say", {
  effects <- list(
    noise = list(block = 0, boot = 0, run = 0), runs = 3L, missing = 0.2,
    metrics = list(write_time = list(mean = 10, trend = log(2),
                                     at = list(list(where = list(compression = "lz4"), ratio = 3)))),
    identities = list(total_time = "2 * write_time")
  )
  rows <- simulate_study(folder("compression-levels"), blocks = 4L, effects = effects)$rows
  value <- function(name, pattern, n) {
    unique(rows[metric == name & grepl(pattern, cell) & run == n & status == "ok", value])
  }
  expect_equal(value("write_time", "^lzjb_text_75", 1L), "10")
  expect_equal(value("write_time", "^lzjb_text_75", 3L), "40")
  expect_equal(value("write_time", "^lz4_text_75", 2L), "60")
  expect_equal(value("total_time", "^lz4_text_75", 2L), "120")
  lost <- mean(unique(rows[, .(cell, block, run, status)])$status == "failed")
  expect_lt(abs(lost - 0.2), 0.06)
  expect_true(all(rows[status == "failed", value] == ""))
})

test_that("a misspelt effect is named", {
  simulate <- function(...) simulate_study(folder("compression-levels"), effects = list(...))
  expect_error(simulate(metrics = list(write_tme = list(mean = 1))), "unknown \"write_tme\"")
  expect_error(simulate(nois = list()), "did you mean noise")
  expect_error(simulate(variant = "cauchy"), "unknown \"cauchy\"")
  expect_error(simulate(metrics = list(write_time = list(at = list(list(where = list(corpse = "text")))))), "corpse")
})

test_that("every study can be simulated, and only what a workload measures has rows", {
  for (study in basename(dirname(Sys.glob(file.path(ROOT, "studies", "*", "study.yaml"))))) {
    one <- simulate_study(folder(study), blocks = 2L)
    expect_gt(nrow(one$rows), 0)
    expect_false(anyDuplicated(one$rows[, .(cell, block, run, metric)]) > 0)
  }
  s4 <- simulate_study(folder("zfs-on-linux"), blocks = 2L)$rows
  expect_setequal(unique(s4[f_part == "bonnie" & metric == "bandwidth", metric]), character())
  expect_gt(nrow(s4[f_part == "slog" & metric == "iops"]), 0)
})

test_that("the noise variants have the spread they claim", {
  seeded(3)
  for (variant in c("normal", "t3", "skewed", "ar1")) {
    z <- run_noise(list(run = rep(1:5, 4000)), 0.05, variant)
    expect_lt(abs(stats::sd(z) / 0.05 - 1), if (variant == "t3") 0.3 else 0.05)
  }
  z <- matrix(run_noise(list(run = rep(1:5, 4000)), 0.05, "ar1"), 5)
  expect_lt(abs(stats::cor(z[1, ], z[2, ]) - 0.6), 0.05)
  expect_lt(abs(mean(run_noise(list(run = rep(1L, 20000)), 0.001, "outliers") < -0.25) - 0.05), 0.01)
  expect_lt(abs(mean(run_noise(list(run = rep(1L, 20000)), 0.001, "bimodal") > 0.15) - 0.3), 0.015)
})
