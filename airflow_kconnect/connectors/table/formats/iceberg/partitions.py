"""How a table is partitioned, as users write it: in the syntax of Iceberg's connector, and in Spark's."""

from __future__ import annotations

import re
from dataclasses import dataclass

IDENTITY = "identity"
_BY_TIME = ("year", "month", "day", "hour")
_WITH_WIDTH = ("bucket", "truncate")
_NAMES = {
    IDENTITY: IDENTITY,
    **{name: name for name in (*_BY_TIME, *_WITH_WIDTH)},
    **{f"{name}s": name for name in _BY_TIME},
    "date": "day",
    "date_hour": "hour",
}
_CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
_WIDTH = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Transform:
    """One field of a partition.

    :param name: `IDENTITY`, ``year``, ``month``, ``day``, ``hour``, ``bucket`` or ``truncate``.
    :param column: with dots if it is nested.
    :param width: number of buckets, or length.
    """

    name: str
    column: str
    width: int | None = None


def transform_of(text: str) -> Transform:
    """Parse ``region``, ``day(ts)``, ``days(ts)``, ``bucket(id, 16)``, ``bucket(16, id)``, ``truncate(name, 4)``.

    :raises ValueError: it is none of these; the text says what is wrong.
    """
    text = text.strip()
    call = _CALL.fullmatch(text)
    if call is None:
        return Transform(IDENTITY, _column(text))
    name = _NAMES.get(call[1].lower())
    if name is None:
        known = ", ".join((*_BY_TIME, *_WITH_WIDTH, IDENTITY))
        raise ValueError(f"{call[1]} is not a transform: there are {known}")
    arguments = [part.strip() for part in call[2].split(",")]
    if name not in _WITH_WIDTH:
        if len(arguments) != 1:
            raise ValueError(f"{call[1]} has {len(arguments)} arguments: it takes a column")
        return Transform(name, _column(arguments[0]))
    widths = [part for part in arguments if _WIDTH.fullmatch(part)]
    columns = [part for part in arguments if not _WIDTH.fullmatch(part)]
    if len(widths) != 1 or len(columns) != 1:
        raise ValueError(f"{text}: {name} takes a column and a number, as in {name}(id, 16)")
    return Transform(name, _column(columns[0]), int(widths[0]))


def _column(text: str) -> str:
    name = text.replace("`", "").strip()
    if not name:
        raise ValueError("a column is missing")
    return name
