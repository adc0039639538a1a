# One plain sentence per verdict.

CLASS_WORDS <- c(S = "synthetic", E = "emulated", V = "virtualised", B = "bare metal")

#' Why a verdict is what it is, in one sentence, and what it was asked without.
reason_sentence <- function(item, out) {
  without <- if (!is.null(item$claim$lacking)) sprintf(" Asked without %s, which the data lack.", item$claim$lacking)
  paste0(main_sentence(item, out), without)
}

main_sentence <- function(item, out) {
  claim <- item$claim
  switch(out$detail,
    "class" = class_sentence(item),
    "no data" = sprintf("No valid measurement of what this claim needs%s.", item$why),
    "absent" = sprintf("The data lack what this claim needs: %s%s.", item$absent, because(claim$estimator$reason)),
    "no estimator" = sprintf("%s.", or_else(claim$estimator$reason, "Nothing in this project can decide it")),
    "n" = sprintf("Only %s complete; three are the least that can decide a claim.", count(item$n, "block")),
    "attrition" = attrition_sentence(item),
    "censored" = "Some runs were cut off at their time limit, and the claim does not hold at that bound alone.",
    "exploratory" = "Exploratory: an interval, no verdict.",
    if (claim$type == "det") predicate_sentence(item, out)
    else if (claim$type == "lint") lint_sentence(item, out)
    else interval_sentence(claim, out)
  )
}

because <- function(reason) if (is.null(reason)) "" else sprintf(" (%s)", reason)

count <- function(n, noun) sprintf("%d %s%s", n, noun, if (n == 1) "" else "s")

attrition_sentence <- function(item) {
  noun <- if (is.null(item$units) || item$expected == 1L) "blocks" else "boots"
  sprintf("%.0f %% of the %s it needs are missing, more than a fifth%s.", 100 * lost_share(item), noun, item$why)
}

class_sentence <- function(item) {
  what <- switch(item$class,
    S = "The data are synthetic and say nothing about ZFS",
    E = "The CPU is emulated here, so times and CPU use are not evidence",
    V = "The guest is virtualised, so hardware properties cannot be judged"
  )
  sprintf("%s; this claim needs class %s.", what, item$claim$min_class)
}

predicate_sentence <- function(item, out) {
  unit <- if (or_else(item$claim$estimator$unit, "block") == "boot") "boot" else "block"
  if (out$detail == "mixed") {
    return(sprintf("It held in %d of %s, so something varies that should not: %s.", out$held, count(out$of, unit),
                   item$ours))
  }
  if (out$verdict == "REPLICATED") return(sprintf("It held in %s: %s.", all_of(out$of, unit), item$ours))
  sprintf("It failed in %s: %s.", all_of(out$of, unit), item$ours)
}

all_of <- function(n, unit) if (n == 2) paste("both", paste0(unit, "s")) else sprintf("all %s", count(n, unit))

lint_sentence <- function(item, out) {
  exempt <- sum(item$lint$quotation)
  good <- out$verdict == "REPLICATED"
  said <- if (good) "Every bar and area in this report starts at zero" else "Some bar or area does not start at zero"
  quoted <- sprintf("; %s of the source's chart is shown as first drawn and marked", count(exempt, "quotation"))
  if (!exempt) quoted <- ""
  sprintf("%s (%d of %s passed)%s.", said, out$held, count(out$of, "layer check"), quoted)
}

interval_sentence <- function(claim, out) {
  worst <- out$stats[[deciding_link(claim, out$stats)]]
  scale <- claim$estimator$scale
  shown <- sprintf("%s [%s, %s]", show_number(from_scale(worst$estimate, scale)),
                   show_number(from_scale(worst$ci95[1], scale)),
                   show_number(from_scale(worst$ci95[2], scale)))
  over <- sprintf("over %s, Holm p %s", count(worst$n, "block"), show_p(out$p_adj))
  which <- if (length(out$stats) > 1) sprintf("the deciding comparison (%s)", worst$link$id) else "the estimate"
  body <- verdict_clause(claim, out, worst, scale)
  paste0(toupper(substr(which, 1, 1)), substring(which, 2), " is ", shown, " ", over, ": ", body, ".",
         floor_sentence(out$stats))
}

#' What stood in for a spread of zero.
floor_sentence <- function(stats) {
  if (!any(vapply(stats, `[[`, TRUE, "floor_used"))) return("")
  " The runs agree more closely than the timer resolves, so its resolution stands in for their spread."
}

verdict_clause <- function(claim, out, worst, scale) {
  null <- show_number(from_scale(worst$link$null, scale))
  if (claim$type == "eq") {
    return(switch(out$verdict,
      "REPLICATED" = sprintf("inside the margin of %s", claim$margin),
      "NOT REPLICATED" = sprintf("outside the margin of %s", claim$margin),
      "too wide to say whether it lies inside the margin"
    ))
  }
  switch(paste(out$verdict, out$detail),
    "REPLICATED " = sprintf("on the claimed side of %s", null),
    "NOT REPLICATED contradicted" = sprintf("on the other side of %s", null),
    "NOT REPLICATED negligible" = "too small to matter either way",
    "NOT REPLICATED at the threshold" = sprintf("at the threshold of %s, not beyond it", null),
    "EFFECT FOUND both ways" = "an effect, upwards in some comparisons and downwards in others",
    "EFFECT FOUND positive" = "an effect, upwards", "EFFECT FOUND negative" = "an effect, downwards",
    "EQUIVALENT within the margin" = "no effect worth speaking of",
    sprintf("it neither excludes %s nor shows the effect to be negligible", null)
  )
}

show_p <- function(p) if (is.na(p)) "not available" else if (p < 1e-4) "< 0.0001" else sprintf("= %.4f", p)

#' The link on which the claim turns: the least favourable one; the most favourable where one is enough.
deciding_link <- function(claim, stats) {
  if (claim$combine == "any") return(which.min(vapply(stats, side_p, 0, direction = claim$direction)))
  if (claim$type == "eq") return(which.max(vapply(stats, function(s) abs(s$estimate - s$link$null), 0)))
  which.max(vapply(stats, side_p, 0, direction = claim$direction))
}
