"""What a person sees while it measures: what runs, how many of how many, how long it still takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zassay import files
from zassay.units import show_seconds


class History:
    """Mean seconds of each cell's runs on this host, kept in the cache for the next prediction."""

    def __init__(self, cache: Path, study: str, scale: str, accel: str) -> None:
        self._path = cache / "history" / f"{study}.{scale}.{accel}.json"
        self._known: dict[str, float] = files.read_json(self._path) if self._path.is_file() else {}

    def predict(self, priors: Mapping[str, float]) -> dict[str, float]:
        """Seconds by cell; of those not measured yet their guess, corrected by how wrong the guesses of the others were."""
        known = self.measured(priors)
        pace = sum(self._known[cell] for cell in known) / sum(priors[cell] for cell in known) if known else 1.0
        return {cell: self._known.get(cell, prior * pace) for cell, prior in priors.items()}

    def measured(self, cells: Iterable[str]) -> frozenset[str]:
        return frozenset(cells) & frozenset(self._known)

    def note(self, cell: str, seconds: float) -> None:
        self._known[cell] = round((self._known.get(cell, seconds) + seconds) / 2, 3)
        files.write_json(self._path, self._known)


class Reporter:
    """Lines to stderr and to the log file; each run's line counts and predicts."""

    def __init__(self, log: Path, total: int, done: int) -> None:
        self._log, self._total, self._done = log, total, done
        self._log.parent.mkdir(parents=True, exist_ok=True)

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)
        with self._log.open("a", encoding="utf-8") as handle:
            handle.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")

    def start(self, what: str, left_s: float) -> None:
        self.say(f"[{self._done + 1}/{self._total}] {what} · about {show_seconds(left_s)} left")

    def end(self, status: dict[str, Any]) -> None:
        self._done += 1
        if status["status"] != "ok":
            hint = "".join(f"\n      {line}" for line in status.get("hint", "").splitlines())
            self.say(f"    {status['status'].upper()} ({status['step']}): {status['reason']}{hint}")
