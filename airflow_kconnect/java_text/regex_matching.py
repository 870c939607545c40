"""Matching of regular expressions without backtracking: no expression takes long, whatever the name.

Python's and Java's engines try one way after the other, and ``(a+)+$`` or ``(.*)(.*)(.*)x`` have too many. Here a part
of an expression returns all positions where it can end; each part is evaluated only once per position.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

_EFFORT_MAX = 400_000

Captures = tuple[tuple[int, str], ...]
"""Number -> text of the groups to which the expression refers back, sorted."""
State = tuple[int, Captures]
"""A position in the text, and what was captured on the way to it."""
States = frozenset[State]


class TooManyWaysError(Exception):
    """There are too many ways to match a text."""


class Matching:
    """The matching of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._known: dict[tuple[int, State], States] = {}
        self._effort = 0

    def ends(self, part: Part, start: State) -> States:
        """The positions at which a part can end if it begins at `start`.

        :raises TooManyWaysError: it takes too long.
        """
        states = self._known.get((id(part), start))
        if states is None:
            states = self._known[id(part), start] = part.ends(self, start)
            self._effort += len(states)
            if self._effort > _EFFORT_MAX:
                raise TooManyWaysError(
                    f"a regular expression takes too long to match `{self.text[:250]}`; make it simpler"
                )
        return states

    def all_ends(self, part: Part, starts: Iterable[State]) -> States:
        """The positions at which a part can end if it begins at one of these."""
        return frozenset().union(*(self.ends(part, start) for start in starts))


class Part(ABC):
    """A part of an expression."""

    @abstractmethod
    def ends(self, matching: Matching, start: State) -> States:
        """See `Matching.ends`."""


@dataclass(eq=False)
class Character(Part):
    """One character that passes a test."""

    test: Callable[[str], bool]

    def ends(self, matching: Matching, start: State) -> States:
        position, captures = start
        fits = position < len(matching.text) and self.test(matching.text[position])
        return frozenset({(position + 1, captures)} if fits else ())


@dataclass(eq=False)
class Sequence(Part):
    """Parts in sequence."""

    parts: list[Part] = field(default_factory=list)

    def ends(self, matching: Matching, start: State) -> States:
        states = frozenset({start})
        for part in self.parts:
            states = matching.all_ends(part, states)
        return states


@dataclass(eq=False)
class Choice(Part):
    """One of several parts."""

    options: list[Part]

    def ends(self, matching: Matching, start: State) -> States:
        return frozenset().union(*(matching.ends(option, start) for option in self.options))


@dataclass(eq=False)
class Repeat(Part):
    """A part at least `least` times, and at most `most` times unless that is None."""

    part: Part
    least: int
    most: int | None

    def ends(self, matching: Matching, start: State) -> States:
        now: States = frozenset({start})
        for _ in range(self.least):
            before, now = now, matching.all_ends(self.part, now)
            if now == before:
                break
        states, count = now, self.least
        while now and (self.most is None or count < self.most):
            now = matching.all_ends(self.part, now) - states
            states |= now
            count += 1
        return states


@dataclass(eq=False)
class Longest(Part):
    """As many characters as possible (``a++``), without giving any back."""

    repeat: Repeat

    def ends(self, matching: Matching, start: State) -> States:
        states = self.repeat.ends(matching, start)
        return frozenset({max(states)} if states else ())


@dataclass(eq=False)
class Anchor(Part):
    """A position at which a condition holds; consumes no characters."""

    holds: Callable[[str, int], bool]

    def ends(self, matching: Matching, start: State) -> States:
        return frozenset({start} if self.holds(matching.text, start[0]) else ())


@dataclass(eq=False)
class Look(Part):
    """A look-ahead or look-behind: a position before or after which a part matches, or does not."""

    part: Part
    behind: bool
    positive: bool

    def ends(self, matching: Matching, start: State) -> States:
        position, captures = start
        if self.behind:
            matches = any(
                end == position for s in range(position + 1) for end, _ in matching.ends(self.part, (s, captures))
            )
        else:
            matches = bool(matching.ends(self.part, start))
        return frozenset({start} if matches == self.positive else ())


@dataclass(eq=False)
class Capture(Part):
    """A group to which the expression refers back."""

    part: Part
    number: int

    def ends(self, matching: Matching, start: State) -> States:
        def captured(position: int, captures: Mapping[int, str]) -> State:
            return position, tuple(sorted({**captures, self.number: matching.text[start[0] : position]}.items()))

        return frozenset(captured(position, dict(captures)) for position, captures in matching.ends(self.part, start))


@dataclass(eq=False)
class BackReference(Part):
    """The text of a group, repeated."""

    number: int

    def ends(self, matching: Matching, start: State) -> States:
        position, captures = start
        text = dict(captures).get(self.number)
        fits = text is not None and matching.text.startswith(text, position)
        return frozenset({(position + len(text), captures)} if fits and text is not None else ())
