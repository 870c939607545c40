"""Patterns of java.text.SimpleDateFormat: parsing and validation. `date_texts` uses them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LETTERS = frozenset("GyYMLwWDdFEuaHkKhmsSzZX")
_ONLY_WRITTEN = frozenset("GYwWFu")
_NAMES = frozenset("GEazZX")
_PART = re.compile(r"(?P<quote>'')|'(?P<quoted>(?:''|[^'])+)'|(?P<letter>[A-Za-z])(?P=letter)*|(?P<other>[^'])")


@dataclass(frozen=True)
class Letters:
    """A field of a date or time: its letter, and how often it is repeated."""

    letter: str
    count: int

    @property
    def is_number(self) -> bool:
        """Whether it represents digits, not a name or a zone."""
        return self.letter not in _NAMES and (self.letter not in "ML" or self.count < 3)


@dataclass(frozen=True)
class DatePattern:
    """A pattern.

    :param text: as the user wrote it.
    :param parts: in order; plain texts represent themselves.
    """

    text: str
    parts: tuple[str | Letters, ...]

    @classmethod
    def parse(cls, text: str) -> DatePattern:
        """Parse a pattern.

        :raises ValueError: it is not valid, for SimpleDateFormat either.
        """
        parts: list[str | Letters] = []
        end = 0
        while end < len(text):
            match = _PART.match(text, end)
            if match is None:
                raise ValueError("Unterminated quote")
            parts.append(_part(match))
            end = match.end()
        return cls(text, tuple(parts))

    @property
    def unreadable(self) -> str | None:
        """Why no texts can be parsed with the pattern; None if they can."""
        letters = {part.letter for part in self.parts if isinstance(part, Letters)}
        wrong = ", ".join(sorted(letters & _ONLY_WRITTEN))
        return f"Texts can be written with {wrong}, but not be read" if wrong else None


def pattern_problem(key: str, text: str) -> str | None:
    """What is wrong with a pattern; None if nothing is."""
    try:
        DatePattern.parse(text)
    except ValueError as error:
        return str(error)
    return None


def _part(match: re.Match[str]) -> str | Letters:
    letter, count = match["letter"], len(match[0])
    if not letter:
        return (match["quoted"] or match["quote"] or match["other"]).replace("''", "'")
    if letter not in _LETTERS:
        raise ValueError(f"Illegal pattern character '{letter}'")
    if letter == "X" and count > 3:
        raise ValueError(f"invalid ISO 8601 format: length={count}")
    return Letters(letter, count)
