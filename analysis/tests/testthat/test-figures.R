# Figures: drawn, linted, the same bytes twice; and every lint is shown able to fail.

study_for <- function(class = "E", blocks = 3L, verdicts = FALSE) {
  dir <- write_campaign(simulate_campaign(blocks, class = class))
  if (verdicts) write_tables(estimate_study(dir, CLAIMS, file.path(SCHEMAS, "claims.schema.yaml"), PASSING_LINT()), dir)
  read_figure_study(dir, CLAIMS, file.path(STUDY, "published.csv"), SCHEMAS)
}
draw <- function(study, id) draw_figure(study, figure_item(study, id))
emulated <- study_for()
g3a <- draw(emulated, "G3a")
failing <- function(findings, name) any(findings[lint == name, !(pass)])

test_that("every figure of the study passes every lint, in each class", {
  for (class in c("S", "E", "V")) {
    study <- study_for(class, verdicts = TRUE)
    for (id in vapply(study$spec$figures, `[[`, "", "id")) {
      findings <- lint_figure(draw(study, id))
      expect_true(all(findings$pass), info = paste(class, id, findings[!(pass), paste(lint, detail)]))
    }
  }
})

test_that("bars in G3a start at zero; the source's chart is a quotation with its lie factor", {
  findings <- lint_figure(g3a)[lint == "zero_base"]
  expect_equal(sum(findings$quotation), 1)
  expect_equal(findings[quotation == TRUE, value], 8.524613, tolerance = 1e-6)
  expect_true(all(findings[quotation == FALSE, value] == 1))
})

bars <- data.frame(x = c("a", "b"), y = c(209, 316))
bar_plot <- ggplot(bars, aes(x, y)) + geom_col()
over_levels <- function(geom) ggplot(bars, aes(x, y, ymin = 0, ymax = y, group = 1)) + geom

test_that("the zero-base lint fails for a cut axis and for a log axis, and passes for zero", {
  expect_false(lint_zero_base(bar_plot + coord_cartesian(ylim = c(200, 320)))$pass)
  expect_equal(lint_zero_base(bar_plot + coord_cartesian(ylim = c(200, 320), expand = FALSE))$value, 8.524613,
               tolerance = 1e-6)
  expect_false(lint_zero_base(bar_plot + scale_y_log10())$pass)
  expect_true(lint_zero_base(bar_plot)$pass)
  expect_true(lint_zero_base(bar_plot + scale_y_continuous(expand = c(0, 0)))$pass)
  expect_false(lint_zero_base(ggplot(bars, aes(y, x)) + geom_col(orientation = "y") +
                              coord_cartesian(xlim = c(200, 320)))$pass)
  expect_equal(nrow(lint_zero_base(ggplot(bars, aes(x, y)) + geom_point())), 0)
})

test_that("a quotation must say what it is", {
  cut <- bar_plot + coord_cartesian(ylim = c(200, 320))
  expect_false(lint_zero_base(cut, quoted = TRUE)$pass)
  expect_true(lint_zero_base(cut + labs(subtitle = "as first drawn, lie factor 8.5"), quoted = TRUE)$pass)
})

test_that("the other lints can fail, too", {
  expect_true(failing(lint_raw_points(bar_plot), "raw_points"))
  expect_true(failing(lint_raw_points(bar_plot + geom_point(data = bars[0, ])), "raw_points"))
  expect_false(failing(lint_raw_points(bar_plot + geom_point()), "raw_points"))
  expect_true(failing(lint_shape_doubles(ggplot(bars, aes(x, y, colour = x)) + geom_point()), "shape_doubles_colour"))
  expect_false(failing(lint_shape_doubles(ggplot(bars, aes(x, y, colour = x, shape = x)) + geom_point()),
                       "shape_doubles_colour"))
  expect_true(failing(lint_palette(ggplot(bars, aes(x, y)) + geom_point(colour = "red")), "palette"))
  expect_true(failing(lint_palette(ggplot(bars, aes(x, y)) + geom_point(colour = "#F0E442")), "palette"))
  for (geom in list(geom_line(), geom_area(), geom_ribbon())) {
    expect_true(failing(lint_lines(over_levels(geom)), "no_line_over_factor"))
  }
  expect_false(failing(lint_lines(ggplot(bars, aes(y, y)) + geom_line()), "no_line_over_factor"))
  expect_true(failing(lint_caption(list(caption = "n = 3 blocks")), "caption"))
  expect_true(failing(lint_size(list(size_mm = c(100, 70))), "size"))
})

test_that("only heat maps may use viridis, and only viridis", {
  tiles <- function(...) ggplot(bars, aes(x, 1, fill = y)) + geom_tile() + scale_fill_gradientn(...)
  expect_false(failing(lint_palette(tiles(colours = viridisLite::viridis(64))), "palette"))
  expect_true(failing(lint_palette(tiles(colours = c("red", "blue"))), "palette"))
  expect_true(failing(lint_palette(ggplot(bars, aes(x, y)) + geom_col(fill = viridisLite::viridis(3)[2])), "palette"))
})

test_that("a ribbon is a summary: it needs its points", {
  ribbon <- ggplot(bars, aes(y, y, ymin = 0, ymax = y)) + geom_ribbon()
  expect_true(failing(lint_raw_points(ribbon), "raw_points"))
  expect_false(failing(lint_raw_points(ribbon + geom_point()), "raw_points"))
})

test_that("units must be said, and stand on the axis, in a strip or in a legend", {
  plot <- ggplot(bars, aes(x, y)) + geom_point()
  expect_true(failing(lint_units(plot), "units"))
  expect_true(failing(lint_units(shows_units(plot, "MiB/s")), "units"))
  expect_false(failing(lint_units(shows_units(plot + labs(y = "rate (MiB/s)"), "MiB/s")), "units"))
  stripped <- ggplot(transform(bars, what = "rate (MiB/s)"), aes(x, y)) + geom_point() + facet_wrap(vars(what))
  expect_false(failing(lint_units(shows_units(stripped, "MiB/s")), "units"))
  named <- plot + scale_y_continuous(name = "rate (MiB/s)")
  expect_false(failing(lint_units(shows_units(named, "MiB/s")), "units"))
  expect_false(failing(lint_units(shows_units(plot, "")), "units"))
})

test_that("text under 7 pt fails, in the theme and in the panel", {
  plot <- ggplot(bars, aes(x, y, label = x)) + geom_point() + theme_zassay()
  expect_false(failing(lint_text(plot), "text_size"))
  expect_true(failing(lint_text(plot + theme(axis.text = element_text(size = 6))), "text_size"))
  expect_true(failing(lint_text(plot + geom_text(size = 6 / .pt)), "text_size"))
  expect_false(failing(lint_text(plot + geom_text(size = text_size())), "text_size"))
})

test_that("a class that measures nothing cannot go without its banner", {
  naked <- g3a
  expect_true(lint_banner(naked)$pass)
  words <- BANNERS
  on.exit(assign("BANNERS", words, environment(lint_banner)))
  assign("BANNERS", replace(words, "E", "as good as any"), environment(lint_banner))
  expect_true(failing(lint_banner(naked), "banner"))
})

test_that("a figure that breaks a lint is not written", {
  broken <- g3a
  broken$plots$ours <- broken$plots$ours + coord_cartesian(ylim = c(2, 10))
  expect_error(stop_on_lint(lint_figure(broken)), "figure G3a breaks lint zero_base")
})

test_that("emulated and synthetic data carry a banner, virtualised data none", {
  expect_match(BANNERS[["E"]], "EMULATED . not a performance result")
  expect_true(all(c("E", "S") %in% names(BANNERS)))
  expect_false("V" %in% names(BANNERS))
  expect_match(g3a$caption,
               "n = 3 blocks . 1 run per cell.*95 % t interval.*Validity class E \\(emulated\\); data [0-9a-f]{12}")
})

same_bytes_twice <- function(make, out = c(tempfile("a"), tempfile("b"))) {
  for (dir in out) {
    dir.create(dir)
    save_figure(make(), dir)
  }
  sums <- lapply(out, function(dir) tools::md5sum(sort(list.files(dir, full.names = TRUE))))
  expect_length(sums[[1]], 4)
  expect_identical(unname(sums[[1]]), unname(sums[[2]]), info = list.files(out[1])[1])
  out
}

test_that("two renderings are the same, byte for byte, and the PDF has no time of day", {
  out <- same_bytes_twice(function() draw(emulated, "G3c"))
  for (pair in list(c("fio-cache", "G0b"), c("fio-cache", "GC"), c("read-under-write", "G1c"),
                    c("zfs-on-linux", "G4b"))) {
    study <- figure_study(pair[1])
    same_bytes_twice(function() draw_figure(study, figure_item(study, pair[2])))
  }
  text <- readLines(file.path(out[1], "G3c.pdf"), warn = FALSE, encoding = "latin1")
  expect_true(any(grepl("20000101000000", text, useBytes = TRUE)))
})

test_that("a PNG has 600 dpi and the journal's size", {
  dir <- tempfile("png")
  dir.create(dir)
  save_figure(draw(emulated, "G3c"), dir)
  header <- readBin(file.path(dir, "G3c.png"), "raw", 24)
  width <- sum(as.integer(header[17:20]) * 256^(3:0))
  expect_equal(width, round(88.9 / 25.4 * 600), tolerance = 0.001)
})

test_that("a figure that asks for an absent level says so", {
  study <- emulated
  item <- Filter(function(item) item$id == "G3a", study$spec$figures)[[1]]
  item$at <- list(zio_taskq_batch_pct = "90")
  expect_error(figure_stacked(study, item), 'zio_taskq_batch_pct "90" is not in the data')
})

test_that("lost runs leave figures standing", {
  rows <- fail_runs(simulate_campaign(3L, class = "E"), "off_text_75", 1L)
  rows <- fail_runs(rows, "gzip_media_75", 2L)
  dir <- write_campaign(rows)
  study <- read_figure_study(dir, CLAIMS, file.path(STUDY, "published.csv"), SCHEMAS)
  expect_match(draw(study, "G3a")$caption, "n = 2 to 3 blocks")
  for (id in c("G3a", "G3b", "G3c", "GD")) expect_true(all(lint_figure(draw(study, id))$pass))
})
