"""Records as rows for the encoder of a format, by Catalyst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.error_cells import stage_prefix
from airflow_kconnect.connectors.directory.rendering import choose, json_lines, parquet_rows
from airflow_kconnect.connectors.file.text import text_lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

EXECUTING = "airflow_kconnect.connectors.directory.DirectorySinkConnector"
"""The class in dead letters."""
_RAW = (SchemaType.BYTES, SchemaType.STRING)


def rendered(format: str, frame: RecordFrame, separator: str) -> DataFrame:
    """The rows.

    :param separator: what follows each value in files of bytes.
    """
    match format:
        case "json":
            return json_lines(frame)
        case "text":
            return text_lines(frame)
        case "bytes":
            return _values(frame, separator)
    return parquet_rows(frame)


def _values(frame: RecordFrame, separator: str) -> DataFrame:
    """Column ``line`` (BINARY): the bytes of the value, none if there is no value, and the separator."""
    shapes, df = frame.value.shapes, frame.df
    raw = {n: df[frame.value.columns[n]].cast("binary") for n, shape in enumerate(shapes) if _is_raw(shape.schema)}
    odd = {
        n: F.lit(
            f"{stage_prefix('TASK_PUT', EXECUTING)}`format` bytes stores bytes and texts, and the value is"
            f" {shape.schema.type if shape.schema else 'schemaless'}: set `value.converter` to"
            " org.apache.kafka.connect.converters.ByteArrayConverter, or another `format`"
        )
        for n, shape in enumerate(shapes)
        if not _is_raw(shape.schema)
    }
    data = F.coalesce(choose(frame, raw).cast("binary"), F.lit(b""))
    error = F.coalesce(F.col("error"), choose(frame, odd).cast("string"))
    carried = [name for name in frame.carried if name != "error"]
    line = F.concat(data, F.lit(separator.encode())).alias("line")
    return df.select(line, *carried, error.alias("error"))


def _is_raw(schema: ConnectSchema | None) -> bool:
    return schema is not None and schema.type in _RAW and schema.name is None
