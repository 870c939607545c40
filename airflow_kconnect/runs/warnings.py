"""Warnings of a run, with the kind by which `kconnect.fail.on.warning` chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Self


class Kind(StrEnum):
    """What a warning is about. The values are those that a user writes."""

    LOST = "lost"  # records were deleted before they were read, or may have been skipped
    DOUBLED = "doubled"  # records are, or may be, in the target twice
    DEAD_LETTERS = "dead_letters"  # records became dead letters, or were skipped by `errors.tolerance=all`
    WAITING = "waiting"  # records are there and were not moved: open transactions, a plug-in that did not finish
    EMPTY_REPLAY = "empty_replay"  # a replay found nothing although there should be something
    ALTERED = "altered"  # values have reached the target changed, or not at all
    OFFSETS = "offsets"  # the offsets are not those that this connector has committed, or may be lost
    TARGET = "target"  # the target is not as this connector left it
    SOURCE = "source"  # the source is not as this connector left it, or cannot give what was asked for
    SMALL_FILES = "small_files"  # tables get files that are too small to be read fast
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


FAIL_ON_WARNING = "kconnect.fail.on.warning"
ALL = "all"


def dead_letters_warning(
    name: str, records: Mapping[str, int], notes: Mapping[str, Any], topic: str | None
) -> RunWarning | None:
    """The warning of a run that could not move all records; None if it could.

    :param name: of the connector.
    :param records: the report's counts. :param notes: the report's; a hosted run's have what was skipped.
    :param topic: the dead-letter topic, if there is one.
    """
    lost, skipped = records.get("dead_lettered", 0), int(notes.get("skipped", 0))
    if topic is not None and lost:
        text = f"{lost:,} records could not be moved and are dead letters in {topic}"
        return RunWarning(Kind.DEAD_LETTERS, f"{text}: `kconnect dlq show {name}` shows why")
    if not max(lost, skipped):
        return None
    text = f"{max(lost, skipped):,} records could not be moved and were skipped, as `errors.tolerance` is all"
    cure = "set `errors.deadletterqueue.topic.name` to keep such records, and `errors.log.enable` to see why"
    return RunWarning(Kind.DEAD_LETTERS, f"{text}: {cure}")


def failing(warnings: Iterable[str], kinds: Iterable[str]) -> list[str]:
    """Those warnings with which a run is to end as an error.

    :param kinds: the value of `kconnect.fail.on.warning`.
    """
    chosen = set(kinds)
    return [warning for warning in warnings if ALL in chosen or kind_of(warning) in chosen]


def kind_of(warning: str) -> Kind:
    """The kind of any warning."""
    return warning.kind if isinstance(warning, RunWarning) else Kind.UNKNOWN
