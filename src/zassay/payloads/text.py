"""text: log lines in a made-up language, tuned to the ratios of study S3 (lzjb 1.47, gzip-2 2.35, gzip 2.52).

Words are drawn by Zipf's law from one fixed vocabulary; every line begins with a time, a host and a daemon; some lines
say again what was said shortly before; some words are identifiers, which hardly compress. What tunes what:
short line heads and echoes within 1 KiB feed lzjb and gzip alike, the spread of the vocabulary feeds gzip more, and
identifiers in 62 letters cost gzip (which packs letters) but not lzjb (which does not).
Records differ in their share of identifiers, in eight steps that every 1 MiB goes through: so sizes spread evenly over
the sectors they are rounded up to, and the ratio hangs neither on the sector size by luck nor on the seed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from zassay.payloads import CHUNK, Payload

RECORD = 128 << 10
STEPS = CHUNK // RECORD
SLOTS = 1 << 16

_CONSONANTS = "tttnnnsssrrrhhllddccmmffppggwbvky"
_VOWELS = "eeeeaaaooiiiuu"
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DAEMONS = ("kernel", "sshd", "postfix", "cron", "named", "ntpd", "httpd", "zed")
_HOSTS = 24
_EPOCH = datetime(2012, 6, 1)
_MINUTES_PER_RECORD = 10
# A word's syllables by its rank: common words are short. One word in four has one more.
_LONGER_FROM = (0, 9, 151, 1501)
# Up by twos and down by twos: neighbours are alike, so records cut at other places have the same spread of sizes.
_ORDER = (0, 2, 4, 6, 7, 5, 3, 1)


@dataclass(frozen=True)
class Recipe:
    """The tuned numbers. Shares are per 65536 draws (identifiers) and per 256 lines (echoes)."""

    words: int = 24000
    flatness: int = 2
    identifiers: int = 8192
    identifier_letters: int = 6
    least_identifiers: int = 1310
    most_identifiers: int = 13107
    line_least: int = 6
    line_span: int = 13
    echoes: int = 60
    echo_least: int = 5
    echo_span: int = 8
    reach: int = 8


def draws(label: str, number: int) -> tuple[int, ...]:
    """``number`` integers below 65536; a longer answer begins with the shorter one."""
    return struct.unpack(f"<{number}H", hashlib.shake_128(f"zassay text 1 {label}".encode()).digest(2 * number))


def vocabulary(size: int) -> list[str]:
    """The first ``size`` words of the language, the commonest first, each but once."""
    words: dict[str, None] = {}
    attempt = 0
    while len(words) < size:
        words.setdefault(_word(len(words), draws(f"word {attempt}", 8)))
        attempt += 1
    return list(words)


def _word(rank: int, letters: tuple[int, ...]) -> str:
    syllables = sum(rank >= start for start in _LONGER_FROM) + (rank % 4 == 3)
    spelt = [_CONSONANTS[n % 33] + _VOWELS[(n >> 8) % 14] for n in letters[:syllables]]
    ending = letters[-1]
    return "".join(spelt) + (_CONSONANTS[(ending >> 8) % 33] if ending % 3 == 0 else "")


def _identifiers(recipe: Recipe) -> list[bytes]:
    length = recipe.identifier_letters
    spelt = "".join(_LETTERS[n % 62] for n in draws("identifiers", recipe.identifiers * length))
    return [f"{spelt[start : start + length]} ".encode() for start in range(0, len(spelt), length)]


@cache
def tables(recipe: Recipe) -> list[list[bytes]]:
    """For each step of density, what each of the 65536 draws says (bytes, with the space after it)."""
    words = vocabulary(recipe.words)
    identifiers = _identifiers(recipe)
    return [_table(recipe, words, identifiers, step) for step in range(STEPS)]


def _table(recipe: Recipe, words: list[str], identifiers: list[bytes], step: int) -> list[bytes]:
    more = recipe.most_identifiers - recipe.least_identifiers
    share = recipe.least_identifiers + more * step // (STEPS - 1)
    slots = [identifiers[number % len(identifiers)] for number in range(share)]
    for word, times in zip(words, _zipf(len(words), recipe.flatness, SLOTS - share), strict=True):
        spoken = (f"{word} ".encode(), f"{word}, ".encode())
        slots += [spoken[number % 7 == 6] for number in range(times)]
    return slots


def _zipf(words: int, flatness: int, slots: int) -> Iterator[int]:
    """How many of the slots each rank gets: in proportion to 1/(rank + flatness), in whole numbers that add up."""
    weights = [(1 << 40) // (rank + flatness) for rank in range(words)]
    total, reached, given = sum(weights), 0, 0
    for weight in weights:
        reached += weight
        yield reached * slots // total - given
        given = reached * slots // total


class Text(Payload):
    """Compressible text whose ratios are known; every record is made by itself from seed and number."""

    name = "text"
    promise = {
        "off": (0.97, 1.01),
        "lzjb": (1.40, 1.54),
        "lz4": (1.60, 1.82),  # this and zstd as real pools store it: neither can be packed here without a library
        "zstd": (2.35, 2.68),
        "gzip-2": (2.25, 2.50),
        "gzip": (2.42, 2.68),
        "gzip-9": (2.42, 2.70),
    }

    def __init__(self, recipe: Recipe | None = None) -> None:
        self.recipe = recipe or Recipe()

    def chunk(self, seed: int, index: int) -> bytes:
        return b"".join(self.record(seed, index * STEPS + number) for number in range(STEPS))

    def record(self, seed: int, index: int) -> bytes:
        """The ``index``-th 128 KiB of the stream."""
        table = tables(self.recipe)[_ORDER[(index + seed) % STEPS]]
        spoken = 14000
        while len(text := b"".join(self._tokens(table, f"seed {seed} record {index}", index, spoken))) < RECORD:
            spoken *= 2
        return text[:RECORD]

    def _tokens(self, table: list[bytes], label: str, index: int, number: int) -> list[bytes]:
        """Words with the heads of lines in their places. More words never change the ones before."""
        recipe = self.recipe
        tokens = [table[draw] for draw in draws(f"{label} words", number)]
        dice = iter(draws(f"{label} lines", 2 * number // recipe.line_least + 2))
        clock, starts = _EPOCH + timedelta(minutes=_MINUTES_PER_RECORD * index), [0]
        for line, (first, second) in enumerate(zip(dice, dice, strict=True)):
            place = starts[-1]
            if place >= number:
                break
            clock += timedelta(milliseconds=first % 997)
            tokens[place] = _head(clock, first)
            starts.append(place + recipe.line_least + (first >> 8) % recipe.line_span)
            if line * recipe.echoes % 256 < recipe.echoes:
                self._echo(tokens, starts, second)
        return tokens

    def _echo(self, tokens: list[bytes], starts: list[int], draw: int) -> None:
        """Begin the last line with the words that one of the lines just before it began with."""
        back = 2 + draw % self.recipe.reach
        if back < len(starts):
            source, place, most = starts[-back - 1] + 1, starts[-2] + 1, self.recipe.echo_least
            most += (draw >> 8) % self.recipe.echo_span
            length = min(most, starts[-back] - source, starts[-1] - place, len(tokens) - place)
            tokens[place : place + length] = tokens[source : source + length]


def _head(clock: datetime, draw: int) -> bytes:
    stamp = clock.isoformat(" ", "milliseconds")
    return f"\n{stamp} node{draw % _HOSTS:02d} {_DAEMONS[(draw >> 5) % 8]}: ".encode()
