"""The guest did not swap."""

from zassay.gates import Finding, Gate
from zassay.readers import colon_table
from zassay.record import RunFiles


class Swap(Gate):
    name = "swap"

    def check(self, run: RunFiles) -> Finding:
        table = colon_table(run.text("vmstat"))
        pages = table["pswpin"] + table["pswpout"]
        return pages == 0, "no page swapped", f"{pages} pages"
