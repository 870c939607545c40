"""Source partitions and offsets in the JSON of Confluent's and Aiven's JDBC source connectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.source.cursors import Position
from airflow_kconnect.connectors.jdbc.source.tables import TableName

QUERY_PARTITION = {"query": "query"}

_EPOCH = datetime(1970, 1, 1)
_MS, _SECOND = 1_000_000, 1_000_000_000
_MEMBERS = ("incrementing", "timestamp", "timestamp_nanos")


def partitions_of(table: TableName, catalog: str | None) -> Iterator[dict[str, Any]]:
    """Source partitions under which a table's offset may be found, the one that is written first.

    :param catalog: name of the database; newer versions of Connect's connector put it before the schema.
    """
    yield _protocol_1(table.text)
    if catalog and not table.catalog:
        yield _protocol_1(f"{catalog}.{table.text}")
    yield {"table": table.name}


def _protocol_1(table: str) -> dict[str, Any]:
    return {"protocol": "1", "table": table}


def offset_of(position: Position, zone: ZoneInfo | None) -> Offset:
    """The offset that says "done up to here".

    :param zone: zone of the timestamp column, None if it knows its zone itself.
    """
    offset: Offset = {}
    if position.id is not None:
        offset["incrementing"] = position.id
    if position.timestamp is not None:
        instant = to_instant(position.timestamp, zone)
        offset["timestamp"] = instant // _MS
        offset["timestamp_nanos"] = instant % _SECOND
    return offset


def position_of(table: str, offset: Mapping[str, Any], zone: ZoneInfo | None) -> Position:
    """The position that an offset means; what it does not say is None.

    :raises DataError: a member is not a whole number.
    """
    numbers = {}
    for name in _MEMBERS:
        value = offset.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise DataError(
                f"the committed offset of {table} is {dict(offset)}: `{name}` is not a whole number;"
                " alter or reset the connector's offset"
            )
        numbers[name] = value
    milliseconds, nanos = numbers["timestamp"], numbers["timestamp_nanos"]
    if milliseconds is None:
        return Position(id=numbers["incrementing"])
    instant = milliseconds * _MS if nanos is None else milliseconds * _MS // _SECOND * _SECOND + nanos
    return Position(to_wall(instant, zone), numbers["incrementing"])


def offset_problems(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset that a user sets."""
    problems = []
    if dict(partition) != QUERY_PARTITION and not isinstance(partition.get("table"), str):
        problems.append(
            f"{dict(partition)} is not a source partition of JDBC:"
            f' expected {{"protocol": "1", "table": "<schema.table>"}}, or {QUERY_PARTITION} for a `query`'
        )
    if not {"incrementing", "timestamp"} & offset.keys():
        problems.append(f"{dict(offset)} has neither `incrementing` nor `timestamp`")
    for name in _MEMBERS:
        if name in offset and (isinstance(offset[name], bool) or not isinstance(offset[name], int)):
            problems.append(f"{dict(offset)}: `{name}` is not a whole number")
    return problems


def to_instant(wall: int, zone: tzinfo | None) -> int:
    """Nanoseconds in UTC of nanoseconds on the clock of a zone.

    Of an hour that comes twice it is the first; of one that never comes, the hour before it.
    """
    return min(_instants(wall, zone))


def to_wall(instant: int, zone: ZoneInfo | None) -> int:
    """The reverse of `to_instant`; there and back leads to the same time or, if that never comes, to an earlier one."""
    if zone is None:
        return instant
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=instant // _SECOND)
    return instant + _nanoseconds(moment.astimezone(zone).utcoffset())


def settled_wall(instant: int, zone: ZoneInfo | None) -> int:
    """A time on the clock of a zone that it will not show before from this instant on.

    In the hour before clocks are set back that is an hour earlier: they will show all of it again.
    """
    wall = to_wall(instant, zone)
    return wall - (max(_instants(wall, zone)) - instant)


def _instants(wall: int, zone: tzinfo | None) -> tuple[int, ...]:
    """When a clock shows a time: mostly one instant, given twice."""
    if zone is None:
        return (wall,)
    moment = (_EPOCH + timedelta(seconds=wall // _SECOND)).replace(tzinfo=zone)
    return tuple(wall - _nanoseconds(moment.replace(fold=fold).utcoffset()) for fold in (0, 1))


def _nanoseconds(offset: timedelta | None) -> int:
    return int((offset or timedelta()).total_seconds()) * _SECOND
