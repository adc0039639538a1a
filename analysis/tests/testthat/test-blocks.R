# How many blocks: the rule looks at widths alone, and the planner at the spread of a pilot.

schema <- file.path(SCHEMAS, "claims.schema.yaml")
in_campaign <- function(rows, use) {
  dir <- write_campaign(rows)
  on.exit(unlink(dir, recursive = TRUE))
  use(dir)
}

test_that("the path of half-widths is that of the t interval, block by block", {
  d <- c(.21, .24, .22, .25, .23)
  path <- halfwidth_path(d)
  expect_length(path, 4)
  expect_equal(path[4], diff(t_interval(d)$ci95) / 2)
  expect_equal(path[1], diff(t_interval(d[1:2])$ci95) / 2)
})

test_that("blocks are asked for until the least number, then by width, then never beyond the most", {
  expect_equal(further_blocks(c(0.5), 4), 6L)
  expect_equal(further_blocks(c(0.04, 0.048), 10), 0L)
  expect_equal(further_blocks(c(0.04, 2 * log(1.05)), 10, most = 200L), 30L)
  expect_equal(further_blocks(c(2), 10), 30L)
  expect_equal(further_blocks(c(2), 40), 0L)
  # Each contrast has a width of its own.
  expect_equal(further_blocks(c(0.09, 0.01), 12, width = c(0.1, 0.02)), 0L)
})

test_that("a study of narrow contrasts needs no further block, a noisy one does, and the report has the path", {
  narrow <- in_campaign(simulate_campaign(10L, class = "V"), function(dir) further_for_study(dir, CLAIMS, schema))
  expect_equal(narrow$further, 0L)
  expect_match(narrow$why, "narrow enough")
  noisy <- in_campaign(simulate_campaign(10L, class = "V", sd = c(0, 0.15, 0)), function(dir) {
    further_for_study(dir, CLAIMS, schema)
  })
  expect_gt(noisy$further, 0L)
  expect_match(noisy$why, "^widest: S3-")
  first <- noisy$contrasts[[1]]
  expect_equal(as.integer(first$blocks), 2:10)
  expect_length(first$half_widths, 9)
  expect_match(noisy$rule, "Only widths are looked at")
})

test_that("the rule does not see effects: shifting every time of a cell changes nothing", {
  rows <- simulate_campaign(10L, class = "V", sd = c(0, 0.1, 0))
  shifted <- data.table::copy(rows)[metric == "write_time" & f_compression == "gzip",
                                    value := sprintf("%.10g", 50 * as.numeric(value))]
  ask <- function(rows) in_campaign(rows, function(dir) further_for_study(dir, CLAIMS, schema)$further)
  expect_identical(ask(rows), ask(shifted))
})

test_that("data that may decide nothing need no further blocks, and are no pilot", {
  in_campaign(simulate_campaign(4L), function(dir) {
    found <- further_for_study(dir, CLAIMS, schema)
    expect_equal(found$further, 0L)
    expect_match(found$why, "no primary contrast")
    expect_error(plan_for_study(dir, CLAIMS, schema), "no primary contrast.*class S")
  })
})

test_that("a plan says blocks for the effects of interest, and more where the pilot may flatter", {
  plan <- in_campaign(simulate_campaign(5L, runs = 3L, class = "V", sd = c(0.02, 0.05, 0.02)), function(dir) {
    plan_for_study(dir, CLAIMS, schema)
  })
  one <- plan$blocks[claim == "S3-07"]
  expect_equal(one$effect, c("x1.05", "x1.10", "x1.25", "published"))
  expect_true(all(diff(one$blocks[1:3]) <= 0))
  expect_true(all(one$cautious_blocks >= one$blocks))
  expect_equal(one$blocks[2], blocks_needed(as.numeric(one$sd[1]), 1.1))
  runs <- plan$runs[metric == "write_time"]
  # Boots vary more than their runs do: one run each is enough when both cost the same.
  expect_equal(runs$best_runs, 1)
  expect_match(plan_text(plan), "S3-07: sd", all = FALSE)
})

test_that("runs per boot follow Kalibera and Jones", {
  d <- in_campaign(simulate_campaign(8L, runs = 4L, class = "V", sd = c(0, 0.05, 0.1)), function(dir) {
    read <- prepare_study(dir, CLAIMS, schema)
    runs_per_boot(read$data, primary_links(read$prepared), c(boot = 20, run = 5))[metric == "write_time"]
  })
  want <- sqrt(20 / 5 * as.numeric(d$var_runs) / as.numeric(d$var_boots))
  expect_equal(d$best_runs, max(1, ceiling(want)))
})

test_that("a bigger study is not planned by counting up to it", {
  expect_equal(blocks_needed(.20, 1.05), 179)
  expect_true(is.na(blocks_needed(100, 1.0001, most = 1000L)))
  expect_true(is.na(blocks_for_effect(0)))
})
