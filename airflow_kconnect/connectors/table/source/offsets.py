"""Offsets of a table source: how far a table was read, as its mode and format say it. Pure rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.table.formats.registry import DELTA, ICEBERG
from airflow_kconnect.connectors.table.source.config import BULK, INCREMENTING, SourceSettings

_STATES = {ICEBERG: "snapshot", DELTA: "version"}


def partition_of(settings: SourceSettings) -> dict[str, Any]:
    """The source partition: the table."""
    return {"table": settings.name}


def offset_name(settings: SourceSettings) -> str | None:
    """What the number in an offset is; None: there are no offsets."""
    if settings.mode == BULK:
        return None
    return "incrementing" if settings.mode == INCREMENTING else _STATES[settings.format]


def reached(settings: SourceSettings, offset: Mapping[str, Any] | None) -> int | None:
    """The number in a committed offset.

    :raises DataError: it is one of another mode or format.
    """
    name = offset_name(settings)
    if offset is None or name is None:
        return None
    if not isinstance(offset.get(name), int):
        raise DataError(
            f"table {settings.name} was read up to {dict(offset)}, and `mode`={settings.mode} of {settings.format} goes"
            f" by {name}: set `mode` and `table.format` back, or reset the connector's offsets (`kconnect offsets"
            " reset`) to read the table as a whole"
        )
    return int(offset[name])


def offset_problems(settings: SourceSettings, partition: Mapping[str, Any], offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset that is to be committed."""
    subject, expected, name = f"{dict(offset)} of {dict(partition)}", partition_of(settings), offset_name(settings)
    problems = []
    if dict(partition) != expected:
        problems.append(f"{subject}: the connector reads {expected}")
    number = offset.get(name) if name is not None and len(offset) == 1 else None
    if not isinstance(number, int) or isinstance(number, bool):
        wanted = f"expected {{'{name}': <whole number>}}" if name else "`mode`=bulk has no offsets"
        problems.append(f"{subject}: {wanted}")
    return problems
