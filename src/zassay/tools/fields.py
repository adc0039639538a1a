"""JSON that a tool printed, read key by key: a value of the wrong kind names its path and what was expected."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from zassay.readers import Unreadable


class Node:
    """One JSON object and the path that leads to it."""

    __slots__ = ("path", "value")

    def __init__(self, value: object, path: str) -> None:
        if not isinstance(value, dict):
            refuse(path, value, "an object")
        self.value: dict[str, Any] = value
        self.path = path

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str) -> Any:
        if key not in self.value:
            raise Unreadable(f"{self.at(key)} is missing")
        return self.value[key]

    def node(self, key: str) -> Node:
        return Node(self.get(key), self.at(key))

    def nodes(self, key: str) -> list[Node]:
        found = self.get(key)
        if not isinstance(found, list):
            refuse(self.at(key), found, "a list")
        return [Node(each, f"{self.at(key)}[{index}]") for index, each in enumerate(found)]

    def text(self, key: str) -> str:
        found = self.get(key)
        return found if isinstance(found, str) else refuse(self.at(key), found, "a text")

    def whole(self, key: str) -> int:
        found = self.get(key)
        if type(found) is not int or found < 0:
            refuse(self.at(key), found, "a whole number from 0")
        return found

    def number(self, key: str) -> float:
        found = self.get(key)
        # A bool is an int to Python, and json reads 1e999 as infinity.
        if type(found) not in (int, float) or not 0 <= found < math.inf:
            refuse(self.at(key), found, "a number from 0")
        return float(found)


def refuse(path: str, found: object, expected: str) -> NoReturn:
    raise Unreadable(f"{path or 'the top'}: {str(found)[:60]!r}; expected {expected}")


def agree(path: str, said: float, slack: float, worked_out: float, how: str) -> None:
    """Refuse a number that does not follow from its neighbours: one of them is spoiled."""
    if not abs(said - worked_out) <= slack:
        raise Unreadable(f"{path}: {said:g} does not follow from {how}; expected {worked_out:g}")


def document(text: str, what: str) -> Node:
    """The one JSON object of a text. What was printed before and after it (warnings, the table for people) is passed over."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    if not text.startswith("{", start):
        raise Unreadable(f"{what}: no JSON object; expected one that opens with {{ at the start of a line")
    try:
        value, end = _DECODER.raw_decode(text, start)
    except ValueError as error:
        raise Unreadable(f"{what}: not whole JSON: {error}") from None
    if "\n{" in text[end:]:
        raise Unreadable(f"{what}: two JSON objects in one file; expected one")
    return Node(value, "")


def _no_number(word: str) -> NoReturn:
    raise Unreadable(f"{word} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)
