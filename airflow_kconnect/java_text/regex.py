"""Regular expressions in Java's syntax, for names: parsed without Java, matched without backtracking
(`regex_matching`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from airflow_kconnect.java_text.regex_classes import Test, any_, any_in_line, class_of, ignoring_case, is_
from airflow_kconnect.java_text.regex_matching import (
    Anchor,
    BackReference,
    Capture,
    Character,
    Choice,
    Longest,
    Look,
    Matching,
    Part,
    Repeat,
    Sequence,
)

_LENGTH_MAX = 100_000
_DEPTH_MAX = 50
_COUNT_MAX = 2**31 - 1
_SIGNS: Mapping[str | None, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_QUANTIFIER = re.compile(
    r"(?:(?P<sign>[*+?])|\{(?P<least>\d{1,20})(?P<comma>,(?P<most>\d{1,20})?)?\})(?P<kind>[?+]?)", re.ASCII
)
_FLAGS = re.compile(r"\(\?(?P<on>[idmsuxU]*)(?:-(?P<off>[idmsuxU]+))?\)")
_FLAGS_OF_GROUP = re.compile(r"\(\?(?P<on>[idmsuxU]*)(?:-(?P<off>[idmsuxU]+))?:")
_NAME = re.compile(r"\(\?<(?P<name>[a-zA-Z][a-zA-Z0-9]*)>")
_REFERENCE = re.compile(r"\\(?:k<(?P<name>[a-zA-Z0-9]*)>|(?P<number>[1-9]))")
_COMMENT = re.compile(r"\s+|#[^\n]*")
_LOOKS = {"(?=": (False, True), "(?!": (False, False), "(?<=": (True, True), "(?<!": (True, False)}


@dataclass(frozen=True)
class JavaPattern:
    """A parsed regular expression."""

    pattern: str
    root: Part

    def fullmatch(self, text: str) -> bool:
        """Whether the whole text matches (``Matcher.matches``).

        :raises TooManyWaysError: matching takes too long, as with back-references or dozens of stars.
        """
        ends = Matching(text).ends(self.root, (0, ()))
        return any(end == len(text) for end, _ in ends)


def java_pattern(pattern: str) -> JavaPattern:
    r"""Parse a regular expression.

    :raises re.error: it is invalid, or uses unsupported syntax: ``\p{IsLatin}``, ``\R``, ``(?>a)``, ``(a)*+``.
    """
    if len(pattern) > _LENGTH_MAX:
        raise re.error(f"longer than {_LENGTH_MAX} characters")
    return JavaPattern(pattern, _Reader(pattern).root())


class _Reader:
    """Parses an expression in one pass, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._depth = pattern, 0, 0
        self._flags: frozenset[str] = frozenset()
        self._groups, self._names = 0, dict[str, int]()
        # Captures are kept only if a back-reference needs them: each one adds states.
        self._captures = re.search(r"\\(?:k<|[1-9])", pattern) is not None

    def root(self) -> Part:
        """The whole expression."""
        part = self._choice()
        if self._at < len(self._pattern):
            raise self._error("unmatched ')'")
        return part

    def _choice(self) -> Part:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._error("groups are nested too deeply")
        flags, options = self._flags, [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        self._flags, self._depth = flags, self._depth - 1
        return options[0] if len(options) == 1 else Choice(options)

    def _sequence(self) -> Part:
        sequence = Sequence()
        while (char := self._peek()) and char not in "|)":
            if flags := _FLAGS.match(self._pattern, self._at):
                self._at, self._flags = flags.end(), self._with(flags)
            elif self._take(r"\Q"):
                sequence.parts += self._quoted()
            else:
                sequence.parts.append(self._quantified(self._atom()))
        return sequence

    def _quoted(self) -> list[Part]:
        text, end, _ = self._pattern[self._at :].partition(r"\E")
        self._at += len(text + end)
        parts: list[Part] = [self._character(is_(char)) for char in text]
        return [*parts[:-1], self._quantified(parts[-1])] if parts else []

    def _atom(self) -> Part:
        start, char = self._at, self._peek()
        if char == "(":
            return self._group()
        if char == "\\" and (part := self._reference() or self._anchor()):
            return part
        if char in "[\\":
            test, self._at = class_of(self._pattern, self._at, ignore_case="i" in self._flags)
            return Character(test)
        self._at += 1
        if char in "*+?":
            raise self._error(f"nothing to repeat before '{char}'", start)
        if char == "{":
            raise self._error("'{' does not begin a repetition", start)
        if char in "^$":
            return Anchor(_ANCHORS["A" if char == "^" else "z"])
        if char == ".":
            return Character(any_ if "s" in self._flags else any_in_line)
        return self._character(is_(char))

    def _character(self, test: Test) -> Part:
        return Character(ignoring_case(test) if "i" in self._flags else test)

    def _group(self) -> Part:
        start = self._at
        for look, (behind, positive) in _LOOKS.items():
            if self._take(look):
                return Look(self._closed(start), behind, positive)
        if flags := _FLAGS_OF_GROUP.match(self._pattern, start):
            before, self._at, self._flags = self._flags, flags.end(), self._with(flags)
            part = self._closed(start)
            self._flags = before
            return part
        name = _NAME.match(self._pattern, start)
        if name is None and self._pattern.startswith("(?", start):
            raise self._error(f"{self._pattern[start : start + 3]} is not understood", start)
        self._at = name.end() if name else start + 1
        self._groups += 1
        number = self._groups
        if name and self._names.setdefault(name["name"], number) != number:
            raise self._error(f"group {name['name']} is defined twice", start)
        part = self._closed(start)
        return Capture(part, number) if self._captures else part

    def _with(self, flags: re.Match[str]) -> frozenset[str]:
        return (self._flags | set(flags["on"])) - set(flags["off"] or "")

    def _closed(self, start: int) -> Part:
        part = self._choice()
        if not self._take(")"):
            raise self._error("missing ')'", start)
        return part

    def _reference(self) -> Part | None:
        reference = _REFERENCE.match(self._pattern, self._at)
        if reference is None:
            return None
        if reference["name"] and reference["name"] not in self._names:
            raise self._error(f"there is no group {reference['name']}")
        self._at = reference.end()
        return BackReference(self._names[reference["name"]] if reference["name"] else int(reference["number"]))

    def _anchor(self) -> Part | None:
        anchor = _ANCHORS.get(self._pattern[self._at + 1 : self._at + 2])
        if anchor is None:
            return None
        self._at += 2
        return Anchor(anchor)

    def _quantified(self, part: Part) -> Part:
        self._peek()
        quantifier = _QUANTIFIER.match(self._pattern, self._at)
        if quantifier is None:
            return part
        least, most = _SIGNS.get(quantifier["sign"]) or _counts(quantifier)
        if least > _COUNT_MAX or (most is not None and not least <= most <= _COUNT_MAX):
            raise self._error(f"{quantifier[0]} is not a valid range")
        start, self._at = self._at, quantifier.end()
        repeat = Repeat(part, least, most)
        if quantifier["kind"] != "+":
            return repeat
        if not isinstance(part, Character):
            raise self._error("possessive repetition of a group is not understood", start)
        return Longest(repeat)

    def _peek(self) -> str:
        """The next significant character; empty at the end."""
        while "x" in self._flags and (comment := _COMMENT.match(self._pattern, self._at)):
            self._at = comment.end()
        return self._pattern[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        follows = self._pattern.startswith(text, self._at)
        self._at += len(text) * follows
        return follows

    def _error(self, message: str, at: int | None = None) -> re.error:
        return re.error(message, self._pattern, self._at if at is None else at)


def _counts(quantifier: re.Match[str]) -> tuple[int, int | None]:
    """The bounds in ``{2}``, ``{2,}`` and ``{2,3}``."""
    least = int(quantifier["least"])
    return least, int(quantifier["most"]) if quantifier["most"] else None if quantifier["comma"] else least


def _is_word(text: str, position: int) -> bool:
    return 0 <= position < len(text) and (text[position].isalnum() or text[position] == "_")


_ANCHORS: Mapping[str, Callable[[str, int], bool]] = {
    "A": lambda text, at: at == 0,
    "G": lambda text, at: at == 0,
    "z": lambda text, at: at == len(text),
    "Z": lambda text, at: at == len(text),
    "b": lambda text, at: _is_word(text, at - 1) != _is_word(text, at),
    "B": lambda text, at: _is_word(text, at - 1) == _is_word(text, at),
}
