"""Finds regular expressions for which a backtracking engine such as Java's may take forever.

Before such an engine gives up, it tries all the ways in which an expression can match. Here they are counted for two
short texts, from which the number for a text as long as a topic name can be is extrapolated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product
from string import ascii_letters, digits

from airflow_kconnect.java_text.regex import JavaPattern
from airflow_kconnect.java_text.regex_matching import (
    Capture,
    Character,
    Choice,
    Longest,
    Look,
    Part,
    Repeat,
    Sequence,
)

_OF_TOPICS = ascii_letters + digits + "._-"
_LENGTH, _SHORT = 249, 16
_WAYS_MAX = 10**9
_EFFORT_MAX = 200_000
_CLASSES_MAX = 6

Ways = Counter[int]
"""Position -> number of ways to reach it."""


def is_explosive(pattern: JavaPattern) -> bool:
    """Whether there are too many ways to match some topic name."""
    # A loop may begin anywhere in a name, whatever must precede it.
    loops = [part for part in _parts(pattern.root) if isinstance(part, Repeat) and _is_ambiguous(part)]
    return any(map(_explodes, [pattern.root, *loops]))


def _explodes(part: Part) -> bool:
    classes = _classes(part)
    units = [*classes, *map("".join, product(classes, repeat=2))]
    try:
        return any(_ways_of_long(part, unit) > _WAYS_MAX for unit in units)
    except _TooManyError:
        return True


def _ways_of_long(part: Part, unit: str) -> float:
    """Estimated number of ways for a long text."""
    short, twice = (_count(part, unit * units) for units in (_SHORT, 2 * _SHORT))
    degree = math.log2(twice / short)
    return math.exp(min(math.log(twice) + degree * math.log(_LENGTH / (2 * _SHORT * len(unit))), 100.0))


def _count(part: Part, text: str) -> int:
    return 1 + sum(_Counting(text).ways(part, 0).values())


def _classes(part: Part) -> list[str]:
    """One character for each class of topic-name characters that the part's tests distinguish."""
    tests = [inner.test for inner in _parts(part) if isinstance(inner, Character)]
    by_answers = {tuple(test(char) for test in tests): char for char in _OF_TOPICS}
    return [char for answers, char in by_answers.items() if any(answers)][:_CLASSES_MAX]


def _is_ambiguous(loop: Repeat) -> bool:
    """Whether one iteration of a loop can match in more than one way; else there is one way per position."""
    return loop.most != 1 and any(isinstance(part, Choice) or _varies(part) for part in _parts(loop.part))


def _varies(part: Part) -> bool:
    return isinstance(part, Repeat) and part.least != part.most


def _parts(part: Part) -> Iterator[Part]:
    yield part
    for inner in _inner(part):
        yield from _parts(inner)


def _inner(part: Part) -> list[Part]:
    match part:
        case Sequence():
            return part.parts
        case Choice():
            return part.options
        case Repeat() | Capture() | Look():
            return [part.part]
        case Longest():
            return [part.repeat]
    return []


class _TooManyError(Exception):
    """There are too many ways to count."""


class _Counting:
    """Counts the ways for one text. Look-arounds and back-references are assumed to hold: that only adds ways."""

    def __init__(self, text: str) -> None:
        self._text, self._effort = text, 0
        self._known: dict[tuple[int, int], Ways] = {}

    def ways(self, part: Part, start: int) -> Ways:
        """The positions at which a part can end if it begins at a given position, and the number of ways to reach each.

        :raises _TooManyError: even these short texts take too long.
        """
        self._effort += 1
        if self._effort > _EFFORT_MAX:
            raise _TooManyError
        known = self._known.get((id(part), start))
        if known is None:
            known = self._known[id(part), start] = self._ways(part, start)
        return known

    def _ways(self, part: Part, start: int) -> Ways:
        match part:
            case Character():
                fits = start < len(self._text) and part.test(self._text[start])
                return Counter({start + 1: 1} if fits else {})
            case Sequence():
                ways = Counter({start: 1})
                for inner in part.parts:
                    ways = self._after(inner, ways)
                return ways
            case Choice():
                return sum((self.ways(option, start) for option in part.options), Counter())
            case Capture():
                return self.ways(part.part, start)
            case Longest():
                ends = self.ways(part.repeat, start)
                return Counter({max(ends): 1} if ends else {})
            case Repeat():
                return self._repeated(part, start)
        return Counter({start: 1})

    def _after(self, part: Part, starts: Ways) -> Ways:
        ends: Ways = Counter()
        for start, count in starts.items():
            for end, ways in self.ways(part, start).items():
                ends[end] += count * ways
        return ends

    def _repeated(self, part: Repeat, start: int) -> Ways:
        now = Counter({start: 1})
        for _ in range(min(part.least, len(self._text))):
            now = self._after(part.part, now)
        ends, count = Counter(now), part.least
        while now and (part.most is None or count < part.most):
            # An iteration that consumes no character ends the loop.
            now = sum((self._forward(part.part, position, ways) for position, ways in now.items()), Counter())
            ends += now
            count += 1
        return ends

    def _forward(self, part: Part, start: int, count: int) -> Ways:
        return Counter({end: count * ways for end, ways in self.ways(part, start).items() if end > start})
