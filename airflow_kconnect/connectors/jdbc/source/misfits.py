"""Values that are neither null nor what their field can hold: a run that reads one fails, and names the column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from airflow_kconnect.connectors.jdbc.source.columns import Kind, Reading

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

MISFIT = -(2**63 - 1)
"""What a dialect selects for a timestamp, date or time that no number of it tells."""


class _Range(NamedTuple):
    """The numbers from `low` to `high` become `type`; others are refused, with `others` as the reason."""

    low: int
    high: int
    type: str
    others: str


_TIMESTAMPS = _Range(MISFIT + 1, 2**63 - 1, "bigint", "is not a timestamp up to 294247-01-10 04:00:54")
# By kind and Spark's type of what is selected: a wider one than the kind's own has room for what does not fit.
_RANGES = {
    (Kind.TIME, "bigint"): _Range(0, 86_399_999, "int", "is not a time of day (00:00:00 to 23:59:59.999)"),
    (Kind.DATE, "bigint"): _Range(-(2**31), 2**31 - 1, "int", "is not a date"),
    (Kind.WALL, "bigint"): _TIMESTAMPS,
    (Kind.INSTANT, "bigint"): _TIMESTAMPS,
    (Kind.INT64, "decimal(20,0)"): _Range(-(2**63), 2**63 - 1, "bigint", f"is too large for INT64 ({2**63 - 1})"),
}
# What makes a timestamp of a text.
_DAYS = {Kind.TIME: "1970-01-01 ", Kind.WALL: "", Kind.INSTANT: ""}
CURE = "correct it, leave its row out or select the column as a text, by a view or `query`"
_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.* has a value that .*?)(?: SQLSTATE: \w+)?$", re.MULTILINE)


def fitting(reading: Reading, column: SparkColumn, table: str) -> SparkColumn:
    """A column as Spark has read it, in the type that `finished` expects; a value out of range fails the job.

    :param table: its name in messages.
    """
    from pyspark.sql import functions as F

    def refused(others: str) -> SparkColumn:
        return F.raise_error(F.lit(f"{table}.{reading.name} has a value that {others}: {CURE}"))

    if reading.wire == "string" and reading.kind in _DAYS:
        moment = F.concat(F.lit(_DAYS[reading.kind]), column).try_cast("timestamp")
        return F.when(column.isNull() | moment.isNotNull(), moment).otherwise(refused("is not in ISO form"))
    limits = _RANGES.get((reading.kind, reading.wire))
    if limits is None:
        return column
    fits = column.isNull() | column.between(limits.low, limits.high)
    return F.when(fits, column.cast(limits.type)).otherwise(refused(limits.others))


def misfit_of(failure: str) -> str | None:
    """What `fitting` said, in the text of a failed job; None if something else failed."""
    match = _RAISED.search(failure)
    return match[1] if match else None
