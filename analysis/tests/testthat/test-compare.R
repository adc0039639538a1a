# Comparing bundles: prediction, judgement, random effects, and the command.

near <- function(x, y, tolerance = 1e-6) expect_equal(unname(x), unname(y), tolerance = tolerance)

test_that("S0-04 predicts a ratio of 37.8 to 87.8 for a replication with se 0.05 (methods 2.3)", {
  published <- delta_log_ratio(2337.8, 2.3, 5, 40.6, 14.2, 5)
  original <- list(estimate = log(published$ratio), se = published$se, df = published$df)
  expect_equal(pooled_df(original$se, original$df, 0.05, 4), 5)
  range <- predict_replication(original, list(estimate = 0, se = 0.05, df = 4))
  near(exp(range), c(37.8, 87.8), tolerance = 2e-3)
})

test_that("what has no spread or too few blocks predicts nothing", {
  good <- list(estimate = 0, se = 0.1, df = 2)
  expect_true(all(is.na(predict_replication(good, list(estimate = 0, se = NA_real_, df = 2)))))
  expect_true(all(is.na(predict_replication(list(estimate = 0, se = 0.1, df = 0), good))))
  expect_equal(pooled_df(0, 2, 0, 5), 2)
  expect_equal(pooled_df(0.1, 2, 0.1, 2), 4)
})

# Colditz et al. 1994, 13 trials of BCG vaccine: the data set that every meta-analysis program is tested on.
bcg <- data.frame(
  tpos = c(4, 6, 3, 62, 33, 180, 8, 505, 29, 17, 186, 5, 27),
  tneg = c(119, 300, 228, 13536, 5036, 1361, 2537, 87886, 7470, 1699, 50448, 2493, 16886),
  cpos = c(11, 29, 11, 248, 47, 372, 10, 499, 45, 65, 141, 3, 29),
  cneg = c(128, 274, 209, 12619, 5761, 1079, 619, 87892, 7232, 1600, 27197, 2338, 17825)
)

test_that("the random-effects summary gives the known answer for the BCG trials", {
  y <- with(bcg, log(tpos / (tpos + tneg)) - log(cpos / (cpos + cneg)))
  v <- with(bcg, 1 / tpos - 1 / (tpos + tneg) + 1 / cpos - 1 / (cpos + cneg))
  s <- random_effects(y, sqrt(v))
  near(s$estimate, -0.7141, tolerance = 1e-4)
  near(s$se, 0.1787, tolerance = 3e-4)
  near(s$tau2, 0.3088, tolerance = 3e-4)
  near(s$q, 152.2330, tolerance = 1e-6)
  near(s$i2, 1 - 12 / 152.2330)
  near(s$estimate + c(-1, 1) * qnorm(0.975) * s$se, c(-1.0644, -0.3638), tolerance = 2e-4)
})

test_that("with equal precision the interval is that of a t test, and it is never narrower than the plain one", {
  y <- c(0.1, 0.5, 0.9, 0.2)
  s <- random_effects(y, rep(0.05, 4))
  expected <- stats::t.test(y)
  near(c(s$estimate, s$lo, s$hi), c(expected$estimate, expected$conf.int))
  same <- random_effects(rep(0.3, 3), rep(0.1, 3))
  expect_equal(same$tau2, 0)
  near(same$hi - same$estimate, qt(0.975, 2) * 0.1 / sqrt(3))
})

verdict_of <- function(verdict, type = "dir", class = "V", detail = "") {
  list(verdict = verdict, type = type, data_class = class, detail = detail)
}
link <- function(inside, negligible = "false") data.table::data.table(inside = inside, negligible = negligible)
none <- data.table::data.table()
judge <- function(a, b, predicted = none, changed = FALSE) judge_replication(a, b, changed, predicted)

test_that("the same decided verdict agrees, and another size is said", {
  held <- verdict_of("REPLICATED")
  expect_equal(judge(held, held, link("true")), list(replication = "agree", why = ""))
  expect_match(judge(held, held, link("false"))$why, "the size differs \\(1 of 1")
  expect_equal(judge(held, held, link("false", "true"))$why, "")
})

test_that("opposite verdicts disagree, unless the estimates fit one another", {
  held <- verdict_of("REPLICATED")
  failed <- verdict_of("NOT REPLICATED", detail = "contradicted")
  expect_equal(judge(held, failed, link("false"))$replication, "disagree")
  expect_equal(judge(held, failed)$replication, "disagree")
  expect_equal(judge(held, failed, link("true"))$replication, "inconclusive")
  up <- verdict_of("EFFECT FOUND", detail = "positive")
  down <- verdict_of("EFFECT FOUND", detail = "negative")
  expect_equal(judge(up, down)$replication, "disagree")
  expect_equal(judge(up, up)$replication, "agree")
})

test_that("an undecided side leaves it undecided", {
  found <- judge(verdict_of("REPLICATED"), verdict_of("INCONCLUSIVE", detail = "n"), link("true"))
  expect_equal(found$replication, "inconclusive")
  expect_match(found$why, "replication: n")
})

test_that("what cannot be compared says why", {
  held <- verdict_of("REPLICATED")
  why <- function(a, b, ...) {
    found <- judge(a, b, ...)
    expect_equal(found$replication, "cannot be compared")
    found$why
  }
  blocked <- verdict_of("NOT TESTABLE HERE", detail = "class")
  expect_match(why(held, blocked), "not testable in the replication \\(class\\)")
  expect_match(why(held, verdict_of("EXPLORATORY")), "no verdict in the replication")
  expect_match(why(held, verdict_of("REPLICATED", class = "B")), "validity classes differ \\(V, B\\)")
  expect_match(why(held, held, none, TRUE), "not the same question")
  expect_match(why(NULL, held), "not asked in the original")
  expect_match(why(held, NULL), "not asked in the replication")
  expect_match(why(verdict_of("REPLICATED", "det", "S"), verdict_of("REPLICATED", "det", "E")), "synthetic")
})

test_that("counts are compared by outcome across classes, and that is said", {
  found <- judge(verdict_of("REPLICATED", "det", "E"), verdict_of("REPLICATED", "det", "V"))
  expect_equal(found$replication, "agree")
  expect_match(found$why, "class E and V")
  failed <- verdict_of("NOT REPLICATED", "det", "V")
  expect_equal(judge(verdict_of("REPLICATED", "det", "E"), failed)$replication, "disagree")
})

# The whole, from folders laid out as bundles are.

bundle_folder <- function(rows, claims = CLAIMS) {
  dir <- tempfile("bundle-")
  study <- file.path(dir, "results", "compression-levels")
  dir.create(file.path(dir, "config", "studies", "compression-levels"), recursive = TRUE)
  dir.create(study, recursive = TRUE)
  write_campaign(rows, study)
  file.copy(claims, file.path(dir, "config", "studies", "compression-levels", "claims.yaml"))
  write_tables(estimate_study(study, claims, file.path(SCHEMAS, "claims.schema.yaml")), study)
  dir
}
folders <- vapply(c("V", "V", "V", "E"), function(class) bundle_folder(simulate_campaign(4L, class = class)), "")
findings <- Map(read_findings, folders, c("A", "B", "C", "D"))

test_that("a pair has one row per claim, and an E bundle blocks what it may not decide", {
  pair <- compare_pair(findings[[1]], findings[[4]])
  expect_false(anyDuplicated(pair$claims$claim) > 0)
  expect_true(all(pair$claims$replication %in% REPLICATIONS))
  times <- pair$claims[type != "det" & type != "lint"]
  expect_true(all(times$replication == "cannot be compared"))
  expect_match(paste(times$why, collapse = "\n"), "not testable in the replication \\(class\\)")
})

test_that("summaries need three bundles of one class, and count the same data once", {
  three <- combine_findings(findings[c(1, 2, 3)])
  same <- length(unique(vapply(findings[1:3], function(f) f$studies[[1]]$sha256, "")))
  mixed <- combine_findings(findings[c(1, 4)])
  expect_true(all(mixed$method == "none"))
  if (same == 3L) expect_true(any(three$method == SUMMARY_METHOD))
  expect_true(all(grepl("^random-effects summary", three$method[three$method != "none"])))
  twice <- combine_findings(findings[c(1, 1, 1)])
  expect_true(all(twice$method == "none"))
})

test_that("the command writes its tables and says what it found", {
  out <- tempfile("out-")
  dir.create(out)
  words <- c("--out", out, "--names=one,two,three", sprintf("%s=%s", c("A", "B", "C"), folders[1:3]))
  said <- system2(file.path(ROOT, "analysis", "exec", "compare"), words, stdout = TRUE, stderr = TRUE)
  expect_match(paste(said, collapse = "\n"), "original A = one, replication B = two")
  expect_true(all(file.exists(file.path(out, c("claims.csv", "links.csv", "summary.csv")))))
  wrong <- suppressWarnings(system2(file.path(ROOT, "analysis", "exec", "compare"),
                                    c("--out", out, "A=/nowhere", "B=/nowhere"), stdout = TRUE, stderr = TRUE))
  expect_match(paste(wrong, collapse = "\n"), "bundle is missing: /nowhere")
})
