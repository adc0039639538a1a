"""bonnie++: one process per run, whose phases follow each other without a pause.

The phases are told apart by what it prints as each begins and ends. Its files are gone when it ends, so the filesystem is
asked for its accounts while they are there: in the seconds that bonnie++ waits for its seekers. It makes its own data, which
compress very well; with ``-Z`` it takes the payload's instead. Seeks are bounded (``seeks``, ``seekers``): they go on for
minutes else.
"""

from __future__ import annotations

from zassay import filesystems, payloads
from zassay.filesystems import MOUNT, Filesystem
from zassay.ledger import book
from zassay.readers import Unreadable, dedup_core_bytes
from zassay.record import RunFiles
from zassay.study import Settings
from zassay.tools import bonnie
from zassay.workloads import BOTH, READ, WRITE, Phase, Span, Workload, numbered, runs, telemetry
from zassay.workloads.shell import cold, counters, deadline

MIB = 1 << 20
GIB = 1 << 30
CHUNK, SEEKS, SEEKERS = 8192, 400, 3
# bonnie++ holds the whole file in memory and begins anew at its end; it asks for its size, which a device does not tell.
RANDOM, MOST_RANDOM = "/run/zassay/random", 16 * MIB
# A phase's metric, what bonnie++ says as it begins (dots and "done" follow), and what it moves.
CHAR_WRITE, CHAR_READ = "seq_char_write", "seq_char_read"
SAYS = {
    CHAR_WRITE: ("Writing a byte at a time", WRITE),
    "seq_block_write": ("Writing intelligently", WRITE),
    "rewrite": ("Rewriting", BOTH),
    CHAR_READ: ("Reading a byte at a time", READ),
    "seq_block_read": ("Reading intelligently", READ),
    "random_seeks": ("start 'em", READ),
}
ACCOUNTS_AFTER = "seq_block_read"


class BonnieRuns(Workload):
    name = "bonnie"
    packages = {"debian": ("bonnie++",)}
    may_lack = telemetry.MAY_LACK
    asks_during = True

    def phases(self, settings: Settings, filesystem: Filesystem, source: str) -> list[Phase]:
        late = 120 + 6 * deadline(int(settings.workload["size"]))
        found = []
        if count := self.payload_bytes(settings) // MIB:
            fetch = f"dd if={source} of={RANDOM} bs={MIB} count={count} iflag=direct 2>$OUT/dd.random\n"
            found.append(Phase("random", fetch, 60, measures=False))
        for number in range(1, runs(settings) + 1):
            if settings.cache == "cold":
                found.append(cold(filesystem, number))
            found.append(Phase(numbered(self.name, number), _script(settings, filesystem, number), late, True, under_load=True))
        return found

    def spans(self, settings: Settings) -> list[Span]:
        numbers = range(1, runs(settings) + 1)
        return [Span(phase, number, SAYS[phase][1], alone=False) for number in numbers for phase in _phases(settings)]

    def names(self, settings: Settings) -> frozenset[str]:
        own = "compressratio cpu_seconds_per_gib logical_bytes used_bytes cpu_busy".split()
        table = ["ddt_core_bytes"] if filesystems.get(settings.filesystem).accounts() else []
        return frozenset([*_phases(settings), *own, *table]) | telemetry.names(settings)

    def metrics(self, run: RunFiles, number: int) -> dict[str, float]:
        (said,) = bonnie.Bonnie().runs(run.text(f"{numbered('bonnie', number)}.csv"))
        logical, used = run.space(number)
        spans = [span for span in run.spans if span.run == number]
        values = {phase: said.values[phase] for phase in _phases(run.plan) if phase in said.values}
        values |= telemetry.metrics(run, next(span for span in spans if span.phase == "seq_block_write"))
        return values | {
            "compressratio": logical / used,
            "logical_bytes": float(logical),
            "used_bytes": float(used),
            "cpu_seconds_per_gib": _cpu_seconds_per_gib(run, spans),
            "cpu_busy": _busy(run, spans),
            **_ddt(run, number),
        }

    def counted_bytes(self, run: RunFiles) -> dict[str, int]:
        """bonnie++ says how large its file is and that a phase came to its end; each seek reads a chunk (and rewrites some)."""
        found: dict[str, int] = {}
        for number in run.numbers:
            line = said(run, number)
            for span in (each for each in run.spans if each.run == number):
                seeks = int(run.settings["workload"].get("seeks", SEEKS))
                found[span.name] = seeks * CHUNK if span.phase == "random_seeks" else (line.size or 0)
        return found

    def wanted_bytes(self, settings: Settings) -> dict[str, int]:
        return {span.name: int(settings.workload["size"]) for span in self.spans(settings) if span.phase != "random_seeks"}

    def scattered(self, settings: Settings) -> int:
        return runs(settings) * int(settings.workload.get("seeks", SEEKS))

    def failures(self, run: RunFiles) -> list[str]:
        """Each phase has a result or a word that it was too fast: one that is empty was not made."""
        missing = []
        for number in run.numbers:
            made = {bonnie.METRICS[name] for name in said(run, number).phases}
            missing += [f"run {number}: no {phase}" for phase in _phases(run.plan) if phase not in made]
        return missing

    def too_fast(self, run: RunFiles, number: int) -> frozenset[str]:
        (found,) = bonnie.Bonnie().runs(run.text(f"{numbered('bonnie', number)}.csv"))
        return frozenset(found.too_fast) & set(_phases(run.plan))

    def payload_bytes(self, settings: Settings) -> int:
        own = payloads.get(str(settings.payload["name"])).made_by_tool
        return 0 if own else min(MOST_RANDOM, int(settings.workload["size"]))

    def beyond_cache(self, settings: Settings) -> bool:
        return True

    def cold_proofs(self, settings: Settings) -> list[str]:
        return [numbered("cold", number) for number in range(1, runs(settings) + 1)] if settings.cache == "cold" else []


def _phases(settings: Settings) -> list[str]:
    """Byte by byte it takes minutes on an emulated CPU; ``char: 1`` asks for that too."""
    skipped = () if int(settings.workload.get("char", 0)) else (CHAR_WRITE, CHAR_READ)
    return [phase for phase in SAYS if phase not in skipped]


def _script(settings: Settings, filesystem: Filesystem, number: int) -> str:
    """bonnie++'s words for people, letter by letter: the first dot after a phase's name says that it has begun, the line's end
    that it is over. Marks and counters are taken at once, while bonnie++ goes on."""
    name, said = numbered("bonnie", number), settings.workload
    size = f"{int(said['size']) // MIB}:{said.get('block', CHUNK)}:{said.get('seeks', SEEKS)}:{said.get('seekers', SEEKERS)}"
    fast = "" if int(said.get("char", 0)) else " -f"
    data = "" if payloads.get(str(settings.payload["name"])).made_by_tool else f" -Z {RANDOM}"
    cases = "\n".join(f'        "{SAYS[phase][0]}.") begin {numbered(phase, number)} ;;' for phase in _phases(settings))
    return f"""{counters(filesystem)}begin() {{
    mark $1_start
    snap $1_start
    _phase=$1
}}
over() {{
    mark ${{_phase}}_end
    snap ${{_phase}}_end
    if [ $_phase = {numbered(ACCOUNTS_AFTER, number)} ]; then accounts & fi
    _phase=
}}
accounts() {{
    local _all=$OUT
    OUT=/run/zassay/during
    mkdir -p $OUT
    {filesystem.flush()}
    {filesystem.weigh().rstrip()}
    {filesystem.accounts().rstrip()}
    if [ -e $OUT/cloned ]; then mv $OUT/cloned $_all/cloned; fi
    mv $OUT/space $_all/{numbered("space", number)}.during
    if [ -e $OUT/dedup ]; then mv $OUT/dedup $_all/{numbered("dedup", number)}.during; fi
    OUT=$_all
}}
listen() {{
    local _line= _letter _phase=
    while IFS= read -r -N 1 _letter; do
        if [ "$_letter" = $'\\n' ]; then
            if [ -n "$_phase" ]; then over; fi
            printf '%s\\n' "$_line" >>$OUT/{name}.said
            _line=
            continue
        fi
        _line=$_line$_letter
        case $_line in
{cases}
        esac
    done
    wait
}}
words="-d {MOUNT} -s {size} -n 0 -r 0 -u root:root -m zassay -x 1{fast}{data}"
bonnie++ $words 2>&1 >$OUT/{name}.csv | listen
"""


def said(run: RunFiles, number: int) -> bonnie.Line:
    found = bonnie.read(run.text(f"{numbered('bonnie', number)}.csv"))
    if len(found) != 1:
        raise Unreadable(f"bonnie++: {len(found)} lines of CSV; expected one a run")
    return found[0]


def _cpu_seconds_per_gib(run: RunFiles, spans: list[Span]) -> float:
    """Of the whole guest, for writing: compressing and hashing is done by threads of the filesystem's."""
    written = next(span for span in spans if span.phase == "seq_block_write")
    before, after = run.pair(written)
    delta = [b - a for a, b in zip(before.cpu, after.cpu, strict=True)]
    return (sum(delta[:8]) - delta[3] - delta[4]) / 100 / (run.counted[written.name] / GIB)


def _busy(run: RunFiles, spans: list[Span]) -> float:
    books = [book(run, span) for span in spans]
    return sum(each.cpu_busy * each.seconds for each in books) / sum(each.seconds for each in books)


def _ddt(run: RunFiles, number: int) -> dict[str, float]:
    """The memory of the deduplication table, by what the pool said while the data were there."""
    if not run.filesystem.accounts():
        return {}
    major, minor = (int(word) for word in run.facts["guest"]["zfs_module"].split(".")[:2])
    text = run.text(f"{numbered('dedup', number)}.during")
    return {"ddt_core_bytes": float(dedup_core_bytes(text, per_entry=(major, minor) < (2, 3)))}
