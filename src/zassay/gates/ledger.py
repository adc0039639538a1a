"""The bytes add up: what the filesystem says it uses went to the device, and what no cache had came from it."""

from zassay.gates import Finding, Gate
from zassay.ledger import Book, book, host_bytes, record_size
from zassay.record import RunFiles
from zassay.workloads import READ, Span

# Labels, uberblocks and indirect blocks come on top of the data; a disk that moved less than the data did not hold them.
LEAST, MOST = 0.95, 1.5
SLACK = 4 << 20


class LedgerGate(Gate):
    name = "ledger"

    def check(self, run: RunFiles) -> Finding:
        wrong = [line for span in run.spans for line in _identities(run, span, book(run, span)) if line]
        wrong += _whole_life(run)
        return (
            not wrong,
            "device bytes × ratio ≈ logical bytes, and guest and host agree",
            "; ".join(wrong) or "they do",
        )


def _identities(run: RunFiles, span: Span, made: Book) -> list[str]:
    return [_moved(run, span, made), _hits(made), _tool(span, made), _host(made)]


def _moved(run: RunFiles, span: Span, made: Book) -> str:
    """Bytes on the devices against the data: of the whole of them, or of the blocks that the ARC had to ask for."""
    logical, used = run.space(span.run)
    what = f"{'read from' if span.moves == READ else 'written to'} the pool's disks"
    pressed = 1.0 if span.moves == READ else run.filesystem.pressed(run.plan)
    if span.whole and run.settings["properties"].get("dedup", "off") == "off":
        return _between(what, made.moved, pressed * used)
    if span.moves != READ or made.cache is None:
        return ""
    return _between(f"{what} in {span.name}", made.moved, made.cache.fetched * record_size(run) * used / logical)


def _between(what: str, moved: int, used: float) -> str:
    inside = LEAST * used - (0 if used > SLACK else SLACK) <= moved <= MOST * used + SLACK
    return "" if inside else f"{moved} bytes {what} for {used:.0f} bytes used"


def _hits(made: Book) -> str:
    cache = made.cache
    if cache is None or cache.adds_up:
        return ""
    return f"ARC hits {cache.hits} + misses {cache.misses} are not its accesses {cache.accesses}"


def _tool(span: Span, made: Book) -> str:
    """What the tool says it moved passed through the kernel, and through the filesystem, where these count it."""
    for who, count in (("the kernel", made.process), ("the filesystem", made.dataset)):
        if span.alone and made.application and count is not None and count < LEAST * made.application:
            return f"{span.name}: the tool says {made.application} bytes, {who} {count}"
    return ""


def _host(made: Book) -> str:
    if made.host is None:
        return ""
    read, wrote = made.host.bytes_read < made.pool.bytes_read, made.host.bytes_written < made.pool.bytes_written
    if not read and not wrote:
        return ""
    host, guest = (made.host.bytes_read, made.pool.bytes_read) if read else (made.host.bytes_written, made.pool.bytes_written)
    return f"host {'read' if read else 'wrote'} {host}, guest {guest} bytes in {made.phase}"


def _whole_life(run: RunFiles) -> list[str]:
    written, read = host_bytes(run)
    books = [book(run, span) for span in run.spans]
    guest_wrote, guest_read = (sum(getattr(each.pool, key) for each in books) for key in ("bytes_written", "bytes_read"))
    lines = [f"host wrote {written}, guest {guest_wrote} bytes"] if written < guest_wrote else []
    return lines + ([f"host read {read}, guest {guest_read} bytes"] if read < guest_read else [])
