# Every kind of figure, drawn for every study from simulated data, and what stands in it checked against known answers.

figure_schema <- read_yaml_strict(file.path(SCHEMAS, "figures.schema.yaml"))
kind_words <- unlist(figure_schema$properties$figures$items$properties$kind)
figure_list <- function(name) read_yaml_strict(file.path(ROOT, "studies", name, "figures.yaml"))$figures
all_lints <- function(study, items = study$spec$figures) {
  found <- lapply(items, function(item) lint_figure(draw_figure(study, item)))
  data.table::rbindlist(found)
}
of_data <- function(study) Filter(function(item) item$kind != "forest", study$spec$figures)
layers_of <- function(plot, geom) Filter(function(layer) class(layer$geom)[1] == geom, plot$layers)

test_that("each kind of the schema has a verb in a file of its name, and some study uses it", {
  used <- unlist(lapply(FIGURE_STUDIES, function(name) {
    vapply(figure_list(name), `[[`, "", "kind")
  }))
  for (kind in kind_words) {
    expect_true(file.exists(file.path(ROOT, "analysis", "R", sprintf("figure_%s.R", kind))), info = kind)
    expect_true(is.function(get(paste0("figure_", kind))), info = kind)
    expect_true(kind %in% used, info = kind)
  }
})

test_that("all figures of all studies pass all lints, at the scale of a paper and at smoke", {
  expect_gte(length(FIGURE_STUDIES), 5)
  for (name in FIGURE_STUDIES) for (scale in c("paper", "smoke")) {
    study <- figure_study(name, scale = scale)
    findings <- all_lints(study, of_data(study))
    expect_true(all(findings$pass), info = paste(name, scale, paste(findings[!(pass), paste(figure, lint, detail)],
                                                                    collapse = "; ")))
    expect_setequal(findings$figure, vapply(of_data(study), `[[`, "", "id"))
  }
})

test_that("at the scale of a paper nothing is left undrawn", {
  for (name in FIGURE_STUDIES) {
    study <- figure_study(name)
    for (item in of_data(study)) expect_null(draw_figure(study, item)$absent, info = paste(name, item$id))
  }
})

SIZES <- list(
  G0a = c(88.9, 60), G0b = c(182, 90), G0c = c(88.9, 70), G0d = c(88.9, 60), G1a = c(88.9, 60), G1b = c(182, 80),
  G1c = c(182, 70), G1d = c(88.9, 80), G2a = c(182, 70), G2b = c(182, 80), G3a = c(182, 70), G3b = c(88.9, 80),
  G3c = c(88.9, 60), G4a = c(182, 70), G4b = c(182, 140), G4c = c(88.9, 60), GA = c(182, 240), GC = c(182, 80),
  GD = c(182, 120), GE = c(88.9, 60)
)

test_that("sizes are those that the methods ask for, and no figure of the list is missing", {
  found <- list()
  for (name in FIGURE_STUDIES) for (item in figure_list(name)) {
    found[[item$id]] <- c(found[[item$id]], list(unlist(item$size_mm)))
  }
  expect_setequal(names(found), names(SIZES))
  for (id in names(found)) for (size in found[[id]]) expect_equal(size, SIZES[[id]], info = id)
})

test_that("a banner stands over classes E and S at both widths, and over no other", {
  study <- figure_study("fio-cache")
  for (id in c("G0a", "G0b")) for (class in c("S", "E", "V")) {
    study$class <- class
    figure <- draw_figure(study, figure_item(study, id))
    expect_true(lint_banner(figure)$pass)
    expect_equal(grepl("EMULATED", banner_text(figure)), class != "V")
  }
})

test_that("printed numbers arrive in base units and under our levels", {
  study <- figure_study("fio-cache")
  rows <- published_rows(study, figure_item(study, "G0a"), "bandwidth", c("file_state", "op"))
  expect_equal(nrow(rows), 4)
  expect_equal(rows[file_state == "unwritten" & op == "read", value], 2458.4 * 2^20)
  expect_true(all(rows$compression == "lzjb"))
  expect_error(from_printed(1, "KiB/s", "s", "here"), 'unit "KiB/s" does not go with "s"')
})

test_that("the source's slowdowns are those that it printed, also of a filesystem that we have not", {
  study <- figure_study("read-under-write")
  item <- figure_item(study, "G1a")
  rows <- published_ratio(study, item, "read_time", c("filesystem", "load"))
  expect_equal(rows[filesystem == "ufs" & load == "overkill", value], 8.2)
  expect_equal(rows[filesystem == "reiserfs" & load == "overkill", value], 124.6)
  item$ratio$published <- NULL
  rows <- published_ratio(study, item, "read_time", c("filesystem", "load"))
  expect_equal(rows[filesystem == "ufs" & load == "overkill", value], 350 / 50.2)
  expect_equal(rows[filesystem == "zfs" & load == "reasonable", value], 10.3 / 9)
})

test_that("ratios are taken inside a block, and shared shifts of a block cancel", {
  study <- figure_study("read-under-write")
  item <- figure_item(study, "G1a")
  before <- long_values(study, item, "read_time")
  shifted <- study
  shifted$data$rows <- data.table::copy(study$data$rows)[block == 2 & metric == "read_time", value := value * 7]
  expect_equal(long_values(shifted, item, "read_time")$value, before$value)
  expect_equal(data.table::uniqueN(before$block), 3)
})

test_that("effects and interaction of the source are the known ones", {
  study <- figure_study("compression-dedup")
  item <- figure_item(study, "G2b")
  at <- c(lapply(item$effects, unlist), item$at)
  printed <- interaction_published(study, item, unlist(item$metrics), names(item$effects), at)
  found <- interaction_effects(printed, item, character())[metric == "seq_block_read" & facet == "with L2ARC"]
  expect_equal(log(unique(found, by = "effect")$value), c(-0.1262, -0.2688, 0.2878), tolerance = 1e-3)
})

test_that("the mechanism's slope is the geometric mean of rate times misses", {
  study <- figure_study("fio-cache")
  item <- figure_item(study, "G0c")
  printed <- mechanism_published(study, item)
  expect_equal(mechanism_slope(printed, "facet")$mean, exp(mean(log(c(160, 289, 323, 382, 466) *
                                                                     (1 - c(.15, .51, .56, .63, .69))))))
  points <- data.table::data.table(block = c(1, 1, 2, 2), run = 1:2, facet = factor("a"), x = c(1, 2, 1, 2),
                                   y = c(10, 20, 40, 80))
  expect_equal(mechanism_slopes(points)$mean, 20)
})

test_that("a stopping path ends at the interval of the known answer", {
  link <- list(d = c(.21, .24, .22, .25, .23), floor = 0)
  path <- stopping_path("X", 1, link)
  expect_equal(path$blocks, 2:5)
  expect_equal(log(path$width[4]), (.2496324 - .2103676) / 2, tolerance = 1e-6)
})

test_that("the front holds what nothing beats in both", {
  means <- data.table::data.table(facet = "a", gain = c(1, 2, 3, 4), value = c(1, 5, 2, 8), name = letters[1:4])
  expect_equal(pareto_front(means)$name, c("a", "c", "d"))
})

test_that("percentiles need thirty operations beyond them, and bins are added, not averaged", {
  study <- figure_study("fio-cache")
  item <- figure_item(study, "GC")
  counts <- read_latency(study, item)
  data.table::set(counts, j = "tint", value = combine_levels(study, counts, item$colour))
  expect_setequal(unique(latency_percentiles(study, item, counts)$share), c(0.5, 0.99))
  many <- data.table::copy(counts)[, count := count * 10L]
  expect_setequal(unique(latency_percentiles(study, item, many)$share), c(0.5, 0.99, 0.999))
  curve <- layers_of(draw_figure(study, item)$plots$cdf, "GeomStep")
  expect_length(curve, 1)
})

test_that("samples inside a phase count time from its start", {
  samples <- data.table::data.table(cell = "a", block = 1, run = 1, t_s = 1:10, value = 1:10)
  spans <- data.table::data.table(cell = "a", block = 1, run = 1, t_s = 3, value = 4)
  expect_equal(within_phase(samples, spans)$t_s, 0:4)
  expect_equal(within_phase(samples, spans)$value, 3:7)
})

test_that("the mark stands where the median reaches the share of the other series", {
  samples <- data.table::data.table(facet = "a", t_s = rep(1:5, 2), series = rep(c("size", "limit"), each = 5),
                                    value = c(1, 5, 9, 10, 10, rep(10, 5)))
  expect_equal(series_marks(samples, list(series = "size", reaches = "limit", share = 0.9))$t_s, 3)
  expect_null(series_marks(samples[series == "size"], list(series = "size", reaches = "limit")))
})

test_that("without a series a figure says so, in its picture's place and in its JSON", {
  study <- figure_study("zfs-on-linux", series = FALSE)
  figure <- draw_figure(study, figure_item(study, "G4b"))
  expect_match(figure$absent, "^No series recorded \\(zfs-on-linux has no series.csv")
  out <- tempfile("note-")
  dir.create(out)
  files <- save_figure(figure, out)
  expect_true(all(file.exists(files)))
  expect_equal(jsonlite::read_json(file.path(out, "G4b.json"))$absent, figure$absent)
  levels <- figure_study("compression-levels", series = FALSE)
  expect_match(draw_figure(levels, figure_item(levels, "G3c"))$caption, "no series recorded")
})

test_that("a level that the campaign left out becomes a note; one that no study has is an error that names it", {
  study <- figure_study("fio-cache", scale = "smoke")
  item <- figure_item(study, "G0a")
  item$at$compression <- "lzjb"
  expect_match(draw_figure(study, item)$absent, 'Not measured in this campaign: compression "lzjb"')
  item$at$compression <- "zstd"
  expect_error(draw_figure(study, item), 'asks for what is not there: compression "zstd" is not in the data')
  item$at <- list(compressio = "lz4")
  expect_error(draw_figure(study, item), "factor compressio is not in the data")
})

test_that("no mark averages over a factor that was not pinned", {
  study <- figure_study("fio-cache")
  item <- figure_item(study, "G0a")
  item$at$compression <- NULL
  expect_error(draw_figure(study, item), "figure G0a would average over compression")
})

test_that("runs cut off at their limit are triangles, not circles", {
  study <- figure_study("read-under-write")
  study$data$rows <- data.table::copy(study$data$rows)
  study$data$rows[f_filesystem == "reiserfs" & f_load == "overkill" & metric == "read_time", flags := "capped"]
  slope <- draw_figure(study, figure_item(study, "G1b"))$plots$main
  drawn <- Filter(function(layer) identical(layer$aes_params$shape, CAPPED_SHAPE), slope$layers)
  expect_equal(unique(as.character(drawn[[1]]$data$filesystem)), "reiserfs")
  heat <- draw_figure(study, figure_item(study, "G1c"))$plots$main
  text <- layers_of(heat, "GeomText")[[1]]$data$text
  expect_true(any(grepl("^\u2265", text)))
  expect_false(all(grepl("^\u2265", text)))
})

test_that("numbers and units read as a person writes them", {
  expect_equal(shown_unit("B/s", c(20, 2458) * 2^20)$name, "MiB/s")
  expect_equal(shown_unit("s", c(8e-5, 6e-3, 5e-3))$name, "ms")
  expect_equal(shown_unit("1", 0.3), list(name = "", factor = 1))
  expect_equal(with_unit("read time", "s"), "read time (s)")
  expect_equal(unname(plain_numbers(c(0.001, 1e5, NA))), c("0.001", "100\u202f000", ""))
  expect_equal(shorten(c("a short one", "a much longer one, cut"), 15), c("a short one", "a much longer\u2026"))
})

test_that("points of a group stand side by side in the order of block and run", {
  table <- data.table::data.table(g = "a", block = c(2, 1, 3), run = 1)
  expect_equal(beside(table, "g", 0.3), c(0, -0.1, 0.1))
})
