"""The bytes add up: what the filesystem says it uses went to the device, and a cold read came from it."""

from zassay.gates import Gate
from zassay.ledger import Ledger, ledger
from zassay.record import RunFiles

# Labels, uberblocks and indirect blocks come on top of the data; a disk that moved less than the data did not hold them.
LEAST, MOST = 0.95, 1.5
SLACK = 4 << 20


class LedgerGate(Gate):
    name = "ledger"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        book = ledger(run)
        wrong = [line for line in _identities(book) if line]
        return (
            not wrong,
            "device bytes × ratio ≈ logical bytes, and guest and host agree",
            "; ".join(wrong) or "they do",
        )


def _identities(book: Ledger) -> list[str]:
    used = book.used_bytes
    return [
        _between("written to the pool's disks", book.pool_written, used),
        _between("read from the pool's disks", book.pool_read, used),
        ""
        if book.hits_add_up
        else f"ARC hits {book.arc_hits} + misses {book.arc_misses} are not its accesses {book.arc_accesses}",
        "" if book.host_written >= book.pool_written else f"host wrote {book.host_written}, guest {book.pool_written} bytes",
        "" if book.host_read >= book.pool_read else f"host read {book.host_read}, guest {book.pool_read} bytes",
    ]


def _between(what: str, moved: int, used: int) -> str:
    inside = LEAST * used <= moved <= MOST * used + SLACK
    return "" if inside else f"{moved} bytes {what} for {used} bytes used"
