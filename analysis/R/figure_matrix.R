# GB, the verdict matrix: every claim a row, every campaign (a bundle, a site, a validity class) a column.

MATRIX_SIZE_MM <- c(182, 200)

#' Verdict tables of one campaign.
#'
#' @param results folder with <study>/verdicts.csv; `label` its column; `studies` which, or all that are there.
read_campaign <- function(label, results, studies = NULL) {
  paths <- Sys.glob(file.path(must_exist(results, "results folder"), "*", "verdicts.csv"))
  if (length(studies)) paths <- paths[basename(dirname(paths)) %in% studies]
  if (!length(paths)) abort(sprintf("%s: no study with a verdicts.csv", results), "made by: analysis/exec/estimate")
  tables <- lapply(paths, function(path) {
    cbind(study = basename(dirname(path)), read_verdicts(dirname(path)), sha256 = digest::digest(file = path,
                                                                                               algo = "sha256"))
  })
  rows <- data.table::rbindlist(tables, fill = TRUE)
  classes <- paste(sort(unique(rows$data_class)), collapse = ", ")
  data.table::set(rows, j = "campaign", value = sprintf("%s\n(%s)", label, classes))[]
}

#' Draw the matrix of several campaigns.
#'
#' @param campaigns named character vector: label = results folder.
figure_matrix <- function(campaigns, studies = NULL) {
  rows <- data.table::rbindlist(Map(read_campaign, names(campaigns), campaigns, list(studies)), fill = TRUE)
  data.table::set(rows, j = "campaign", value = factor(rows$campaign, levels = unique(rows$campaign)))
  rows <- rows[order(source_order(source), claim_order(claim))]
  claims <- unique(rows$claim)
  halves <- split(claims, ceiling(2 * seq_along(claims) / length(claims)))
  plots <- lapply(halves, function(part) matrix_plot(rows[claim %in% part], part))
  names(plots) <- c("left", "right")[seq_along(plots)]
  compose <- function(plots) {
    patchwork::wrap_plots(plots, nrow = 1, guides = "collect") & legend_below()
  }
  list(id = "GB", kind = "matrix", title = "Verdicts by claim and campaign", plots = plots, compose = compose,
       quotations = character(), size_mm = c(MATRIX_SIZE_MM[1], min(MATRIX_SIZE_MM[2], 55 + 2 * length(claims))),
       class = lowest_class(rows$data_class), banner = matrix_banner(rows), caption = matrix_caption(rows))
}

#' Where classes meet, the banner says whose columns it means.
matrix_banner <- function(rows) {
  classes <- unique(rows$data_class)
  words <- banner_of(lowest_class(classes), MATRIX_SIZE_MM[1])
  if (length(classes) < 2L || is.null(words)) return(words)
  sprintf("Columns of class %s: %s", lowest_class(classes), words)
}

matrix_caption <- function(rows) {
  classes <- CLASSES[CLASSES %in% rows$data_class]
  blocks <- rows$n_blocks[is.finite(rows$n_blocks) & rows$n_blocks > 0]
  sprintf(
    "n = %s, and as many runs as the plan says (at least 1 run); %s. %s; data %s.",
    span(as.integer(blocks), "block"),
    "decided by 95 % t interval over blocks with Holm's adjustment, or by counts; no mark: not asked in that campaign",
    paste(sprintf("Class %s (%s)", classes, CLASS_WORDS[classes]), collapse = ", "),
    substr(digest::digest(unique(rows$sha256), algo = "sha256"), 1, 12)
  )
}

#' Sources by their number, claims by theirs; questions of commenters after the claims of their source.
source_order <- function(source) suppressWarnings(as.integer(sub("^[A-Z]([0-9]+).*", "\\1", source)))
claim_order <- function(claim) sprintf("%d%s", !grepl("^S", claim), claim)

matrix_plot <- function(rows, claims) {
  rows <- data.table::copy(rows)
  data.table::set(rows, j = "row", value = factor(rows$claim, levels = rev(claims)))
  said <- rows[match(rev(claims), claim), sprintf("%s  %s", shorten(statement, 42), claim)]
  seen <- names(VERDICT_COLOURS)[names(VERDICT_COLOURS) %in% rows$verdict]
  plot <- ggplot(rows, aes(x = campaign, y = row)) +
    geom_tile(aes(fill = factor(verdict, levels = names(VERDICT_COLOURS))), colour = "white", linewidth = 0.4) +
    geom_text(aes(label = GLYPHS[verdict]), size = text_size(), family = FONT,
              colour = ifelse(rows$verdict %in% c("NOT TESTABLE HERE", "EXPLORATORY"), "grey20", "white")) +
    scale_fill_manual(name = NULL, values = MATRIX_FILLS, limits = names(MATRIX_FILLS),
                      labels = sprintf("%s %s", GLYPHS[names(MATRIX_FILLS)], tolower(names(MATRIX_FILLS)))) +
    scale_y_discrete(labels = said) + scale_x_discrete(position = "top", drop = FALSE) +
    labs(x = NULL, y = NULL) + guides(fill = guide_legend(nrow = 2)) + theme_zassay() +
    theme(panel.grid.major = element_blank(), axis.ticks = element_blank(), axis.text.x.top = campaign_names(rows))
  shows_units(plot, character())
}

#' Names of many campaigns are slanted.
campaign_names <- function(rows) {
  many <- nlevels(rows$campaign) > 3L
  element_text(size = TEXT_PT, angle = if (many) 45 else 0, hjust = if (many) 0 else 0.5)
}

MATRIX_FILLS <- replace(VERDICT_COLOURS, c("NOT TESTABLE HERE", "EXPLORATORY"), "grey85")

#' Words up to a length, with an ellipsis where some are left out.
shorten <- function(text, most) {
  long <- nchar(text) > most
  text[long] <- paste0(sub("[ ,;:(]+[^ ]*$", "", substr(text[long], 1, most)), "\u2026")
  text
}
