"""No cache of the host answered for the devices: they were opened past it, and were not outrun."""

import re

from zassay.gates import Finding, Gate
from zassay.ledger import book, host, host_bytes, limit, outran, pool_roles
from zassay.record import RunFiles
from zassay.units import show_bytes

# Memory that the host gives a disk to live in is its device; only the limits above it make one of it.
IN_MEMORY = "memory"
# Of what QEMU moved, at least so much has to show as the host's own I/O; less than this many bytes prove nothing.
SHARE = 0.8
LEAST_JUDGED = 8 << 20


class HostCache(Gate):
    name = "hostcache"

    def check(self, run: RunFiles) -> Finding:
        cached = [role for role in pool_roles(run) if _cached(run, role)]
        books = [book(run, span) for span in run.spans] if limit(run) else []
        fast = [each for each in books if outran(run, each)]
        said = [f"{role} opened through the host's cache" for role in cached]
        said += _served(run)
        said += [f"{each.phase} moved {show_bytes(each.moved / each.seconds)}/s" for each in fast]
        most = f", at most {show_bytes(limit(run))}/s" if limit(run) else ""
        return not said, f"disks opened past the host's cache{most}", "; ".join(said) or "they were"


def _kind(run: RunFiles, role: str) -> str:
    return str(run.settings["machine"]["disks"].get(role, {}).get("device_class", ""))


def _cached(run: RunFiles, role: str) -> bool:
    if _kind(run, role) == IN_MEMORY:
        return False
    words = [word for word in run.facts["qemu"] if re.search(rf"(^|,)node-name={re.escape(role)}(,|$)", word)]
    return any("file.driver=file," in word and "cache.direct=on" not in word for word in words)


def _served(run: RunFiles) -> list[str]:
    """Reads of disks in files that QEMU answered without the host's disks, where the host counts these by process."""
    phases = run.host.get("phases", {})
    if not phases or any(_kind(run, role) != "file" for role in pool_roles(run)):
        return []
    lines = []
    for span in run.spans:
        asked, had = host(run, span), phases.get(span.name)
        if asked is None or had is None or not _counts(run) or asked.bytes_read < LEAST_JUDGED:
            continue
        got = had["end"]["process"]["read_bytes"] - had["start"]["process"]["read_bytes"]
        if got < SHARE * asked.bytes_read:
            lines.append(f"{span.name}: QEMU read {asked.bytes_read} bytes of the disks' files, the host's disks gave {got}")
    return lines


def _counts(run: RunFiles) -> bool:
    """Network filesystems count no bytes by process: then those written are missing too."""
    last = list(run.host["phases"].values())[-1]["end"]
    written = host_bytes(run)[0]
    return bool(last["process"]) and last["process"]["write_bytes"] >= SHARE * written
