"""The report of a source split: how far it is, what happened to its rows; and the row in which any split reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from airflow_kconnect.connect.connector.source import ResumePoint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCHEMA = pa.schema([pa.field("split", pa.int32()), pa.field("report", pa.string())])


@dataclass
class SplitReport:
    """The report of a split.

    :param resume_point: resume point after the last committed row.
    :param already_done: rows that an earlier attempt had committed and that were skipped.
    :param topics: where records were written, including those of earlier attempts of the split.
    :param offsets: (source partition, offset) pairs committed by a poll task.
    """

    split: int
    written: int = 0
    filtered: int = 0
    dead_lettered: int = 0
    already_done: int = 0
    resume_point: ResumePoint | None = None
    done: bool = False
    topics: list[str] = field(default_factory=list)
    offsets: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    error: dict[str, Any] | None = None

    @property
    def handled(self) -> int:
        """Rows that are done, whatever happened to them."""
        return self.written + self.filtered + self.dead_lettered


def with_reports(rows: DataFrame, write: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]) -> DataFrame:
    """The reports of the splits, of sources and of sinks, each of which is written by a task.

    :param write: returns one `report_row`.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    # Not a text: Spark's parser of SQL, which would read it, takes 0.3 s to load.
    return rows.mapInArrow(write, from_arrow_schema(_SCHEMA))


def report_row(split: int, report: Mapping[str, Any]) -> pa.RecordBatch:
    """The one row that a split returns."""
    return pa.RecordBatch.from_pydict({"split": [split], "report": [json.dumps(report)]}, schema=_SCHEMA)
