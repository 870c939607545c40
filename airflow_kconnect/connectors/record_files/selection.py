"""Which files a run reads, in which order, and from where on; the offsets are what is known of files that were read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from airflow_kconnect.connect.connector.source import Offset, PlanContext
from airflow_kconnect.connectors.record_files.config import FAIL, IGNORE
from airflow_kconnect.connectors.record_files.offsets import begins, changed, is_of, partition_of
from airflow_kconnect.places.base import Place, PlacedFile


@dataclass(frozen=True)
class Rules:
    """What the configuration says about it.

    :param excluded: folders below the place, each with a slash at its end, in which files are that were read.
    """

    pattern: str = ".*"
    on_changed: str = FAIL
    excluded: tuple[str, ...] = ()

    def wants(self, name: str) -> bool:
        """Whether a file of this name is one to be read."""
        _, _, own = name.rpartition("/")
        named = not own.startswith("_") and self._pattern.fullmatch(own) is not None
        return named and not name.startswith(self.excluded)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


@dataclass(frozen=True)
class Start:
    """A file that is to be read.

    :param begin: where reading begins. :param rows: how many rows after that were read already.
    :param offset: what is known of the file.
    """

    file: PlacedFile
    begin: int
    rows: int
    offset: Offset = field(default_factory=dict)


@dataclass
class Selected:
    """Files of a place.

    :param to_read: those that are new or were not read to their ends. :param read: those that were, with their offsets.
    """

    to_read: list[Start] = field(default_factory=list)
    read: list[tuple[PlacedFile, Offset]] = field(default_factory=list)


def select(place: Place, rules: Rules, context: PlanContext) -> Selected:
    """List the files.

    :raises DataError: one has changed, and the user must decide.
    """
    selected = Selected()
    for file in place.files(wanted=rules.wants):
        offset = context.offset(partition_of(file.name))
        if offset is not None and not is_of(file, offset):
            if rules.on_changed == FAIL:
                raise changed(place.uri(file.name))
            if rules.on_changed == IGNORE:
                continue
            offset = None
        start = begins(file, offset)
        if start is not None:
            selected.to_read.append(Start(file, *start, offset or {}))
        elif offset is not None:
            selected.read.append((file, offset))
    return selected
