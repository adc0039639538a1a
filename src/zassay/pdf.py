"""The report on paper: report.html as report.pdf, the same bytes each time, with neither TeX nor a browser."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from zassay.errors import Problem
from zassay.files import atomic, sha256_file
from zassay.proc import run

DEADLINE_S = 300.0
# The page carries its pictures within it: whatever else it might ask for, from a file or a network, is not fetched.
PROTOCOLS = "data"
# A base that nothing can be joined to: links stay as they are in the page, and lead from the PDF to the files beside it.
NO_BASE = "about:blank"


def print_page(page: Path, out: Path) -> None:
    """Lay out ``page`` as A4; raises Problem when it is missing, or cannot be laid out before the deadline."""
    if not page.is_file():
        raise Problem(f"{page}: missing", "run the pipeline to its report first: snakemake --cores 4 results/report.html")
    with tempfile.TemporaryDirectory(prefix="zassay-pdf-") as folder:
        made = Path(folder, "page.pdf")
        run(_weasyprint(page, made), deadline_s=DEADLINE_S, env={"LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "0"})
        with atomic(out, "wb") as handle:
            handle.write(made.read_bytes())


def _weasyprint(page: Path, out: Path) -> list[str]:
    options = ["--base-url", NO_BASE, "--allowed-protocols", PROTOCOLS, "--pdf-identifier", sha256_file(page)]
    return [sys.executable, "-m", "weasyprint", "--quiet", *options, str(page.absolute()), str(out)]
