"""Warnings of a run, with the kind by which `kconnect.fail.on.warning` chooses among them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Self


class Kind(StrEnum):
    """What a warning is about. The values are those that a user writes."""

    LOST = "lost"  # records were deleted before they were read, or may have been skipped
    DOUBLED = "doubled"  # records are, or may be, in the target twice
    DEAD_LETTERS = "dead_letters"  # records became dead letters, or were skipped by `errors.tolerance=all`
    WAITING = "waiting"  # records are there and were not moved: open transactions, a plug-in that did not finish
    EMPTY_REPLAY = "empty_replay"  # a replay found nothing although there should be something
    TARGET = "target"  # the target is not as this connector left it
    SOURCE = "source"  # the source is not as this connector left it, or cannot give what was asked for
    CONFIGURATION = "configuration"  # a key has no effect, or not the one that it seems to have
    UNKNOWN = "unknown"  # something that the report should say could not be found out


class RunWarning(str):
    """A warning's text, which knows its kind. In JSON it is the text alone.

    :ivar kind: a warning that is a plain text counts as `Kind.UNKNOWN`.
    """

    kind: Kind

    def __new__(cls, kind: Kind, text: str) -> Self:
        warning = super().__new__(cls, text)
        warning.kind = kind
        return warning

    def __reduce__(self) -> tuple[type[Self], tuple[Kind, str]]:
        # From a Spark task to the driver.
        return type(self), (self.kind, str(self))


def kind_of(warning: str) -> Kind:
    """The kind of any warning."""
    return warning.kind if isinstance(warning, RunWarning) else Kind.UNKNOWN


def of_kinds(warnings: Iterable[str], kinds: frozenset[Kind]) -> list[str]:
    """Those warnings whose kind is one of `kinds`, in their order."""
    return [warning for warning in warnings if kind_of(warning) in kinds]
