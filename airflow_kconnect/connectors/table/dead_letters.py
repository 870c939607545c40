"""Bad records as rows of a table, next to the one that they were for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.error_cells import DATA_EXCEPTION, MESSAGE, RECORD_ERROR
from airflow_kconnect.connectors.table.routing.routing import name_format
from airflow_kconnect.connectors.table.settings import ROUTE, TOPIC, Routing

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_HEADERS = T.ArrayType(T.StructType([T.StructField("key", T.StringType()), T.StructField("value", T.BinaryType())]))
COLUMNS = T.StructType(
    [
        T.StructField("topic", T.StringType(), metadata={"comment": "from which the record was read"}),
        T.StructField("partition", T.IntegerType()),
        T.StructField("offset", T.LongType()),
        T.StructField("timestamp", T.TimestampType(), metadata={"comment": "of the record"}),
        T.StructField("key", T.BinaryType(), metadata={"comment": "as it is in Kafka"}),
        T.StructField("value", T.BinaryType(), metadata={"comment": "as it is in Kafka"}),
        T.StructField("headers", _HEADERS),
        T.StructField("connector", T.StringType()),
        T.StructField("stage", T.StringType(), metadata={"comment": "at which it failed, such as VALUE_CONVERTER"}),
        T.StructField("class", T.StringType(), metadata={"comment": "of the converter or transformation that failed"}),
        T.StructField("exception", T.StringType()),
        T.StructField("message", T.StringType()),
        T.StructField("failed_at", T.TimestampType()),
    ]
)
"""The columns of such a table: what Connect's context headers say, and the record."""


def dead_letter_rows(bad: DataFrame, connector: str) -> DataFrame:
    """The rows of such a table.

    :param bad: rows with ``error`` and ``original``.
    """
    original, error = F.col("original"), F.col("error")
    pieces = F.split(F.substr(error, F.lit(len(RECORD_ERROR) + 1)), "\x1e", 3)
    rest = F.get(pieces, F.lit(2))
    has_class = rest.contains("\x1f")
    message = F.when(has_class, F.substring_index(rest, "\x1f", -1)).otherwise(rest)
    cells = {
        "topic": original["topic"],
        "partition": original["partition"],
        "offset": original["offset"],
        "timestamp": F.timestamp_millis(original["timestamp"]),
        "key": original["key"],
        "value": original["value"],
        "headers": original["headers"],
        "connector": F.lit(connector),
        "stage": F.get(pieces, F.lit(0)),
        "class": F.get(pieces, F.lit(1)),
        "exception": F.when(has_class, F.substring_index(rest, "\x1f", 1)).otherwise(F.lit(DATA_EXCEPTION)),
        "message": F.substring_index(message, MESSAGE, 1),  # what follows is the message again, for those who explain
        "failed_at": F.current_timestamp(),
    }
    return bad.select(*(cells[each.name].cast(each.dataType).alias(each.name) for each in COLUMNS.fields))


def is_bad(error: Column) -> Column:
    """Whether the cells of an ``error`` column are of bad records."""
    return F.coalesce(error.startswith(RECORD_ERROR), F.lit(False))


def of_topic(routing: Routing, topic: Column) -> Column:
    """Name of the table of a record that names none: its topic takes the place of what the record should have said."""
    before, *pieces = name_format(routing).replace(ROUTE, TOPIC).split(TOPIC)
    quoted = F.concat(F.lit("`"), F.replace(topic, F.lit("`"), F.lit("``")), F.lit("`"))
    return F.concat(F.lit(before), *(cell for piece in pieces for cell in (quoted, F.lit(piece))))
