"""The row in which a split, of a source or of a sink, reports to the driver."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCHEMA = pa.schema([pa.field("split", pa.int32()), pa.field("report", pa.string())])


def with_reports(rows: DataFrame, write: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]) -> DataFrame:
    """The reports of the splits, of sources and of sinks, each of which is written by a task.

    :param write: returns one `report_row`.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    # Not a text: Spark's parser of SQL, which would read it, takes 0.3 s to load.
    # And Spark passes an iterator, which the types of older versions do not say.
    return rows.mapInArrow(cast("Any", write), from_arrow_schema(_SCHEMA))


def report_row(split: int, report: Mapping[str, Any]) -> pa.RecordBatch:
    """The one row that a split returns."""
    return pa.RecordBatch.from_pydict({"split": [split], "report": [json.dumps(report)]}, schema=_SCHEMA)
