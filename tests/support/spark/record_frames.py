"""Record frames of messages, decoded as a sink does it; and the rows that a table sink makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql import types as T
from pyspark.sql.types import VariantVal

from airflow_kconnect.connect.error_cells import record_error
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.columns.columns import ColumnSettings
from airflow_kconnect.connectors.table.columns.rows import rows_of
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.runtime.conversion.decoding import PartDecoder, decoded_frame

_KAFKA = T.StructType(
    [
        T.StructField("key", T.BinaryType()),
        T.StructField("value", T.BinaryType()),
        T.StructField("topic", T.StringType()),
        T.StructField("partition", T.IntegerType()),
        T.StructField("kafka_offset", T.LongType()),
        T.StructField("timestamp", T.LongType()),
        T.StructField("error", T.StringType()),
    ]
)


def fields(**types: Any) -> dict[str, Any]:
    """A struct's schema as JsonConverter writes it.

    :param types: a schema, or the name of a type, with ``?`` if it may be null.
    """
    members = []
    for name, type_ in types.items():
        schema = {"type": type_.rstrip("?"), "optional": type_.endswith("?")} if isinstance(type_, str) else type_
        members.append({**schema, "field": name})
    return {"type": "struct", "fields": members}


def decimal(scale: int, precision: int | None = None) -> dict[str, Any]:
    """The schema of a decimal that may be null."""
    parameters = {"scale": str(scale)} | ({"connect.decimal.precision": str(precision)} if precision else {})
    return {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "version": 1, "parameters": parameters,
            "optional": True}  # fmt: skip


def logical(type_: str, name: str) -> dict[str, Any]:
    """The schema of Connect's logical type of this name, that may be null."""
    return {"type": type_, "name": f"org.apache.kafka.connect.data.{name}", "version": 1, "optional": True}


def message(schema: Any, payload: Any) -> bytes:
    """A message with its schema."""
    return json.dumps({"schema": schema, "payload": payload}).encode()


def frame_of(
    spark: SparkSession,
    values: Sequence[bytes | None],
    keys: Sequence[bytes | None] | None = None,
    *,
    schemas: bool = True,
) -> RecordFrame:
    """The frame of messages of JsonConverter, all in partition 0, by offset.

    :param keys: None: records have none.
    :param schemas: whether they have their schemas.
    """
    conf = {"schemas.enable": str(schemas).lower(), "converter.type": "value", "decimal.format": "NUMERIC"}
    value = PartDecoder("value", JsonConverter(conf, is_key=False))
    key = PartDecoder("key", JsonConverter({**conf, "converter.type": "key"}, is_key=True)) if keys else None
    value.learn(values)
    if key is not None and keys is not None:
        key.learn(keys)
    paired = zip(keys or [None] * len(values), values, strict=True)
    rows = [(k, v, "orders", 0, n, 1_700_000_000_000 + n, None) for n, (k, v) in enumerate(paired)]
    frame = decoded_frame(spark.createDataFrame(rows, _KAFKA).coalesce(1), key, value)
    return replace(frame, partition="partition")


def written(
    frame: RecordFrame, columns: T.StructType, settings: ColumnSettings, deleted: str | None = None
) -> list[Any]:
    """Each record as what its row has in the columns, or as the text of its error; in the order of offsets."""
    found: list[Any] = []
    for row in rows_of(frame, columns, settings, deleted).orderBy("kafka_offset").collect():
        if row.error is None:
            found.append(tuple(_plain(row[name]) for name in columns.names))
        else:
            error = record_error(row.error)
            found.append(row.error if error is None else error.message)
    return found


def _plain(cell: Any) -> Any:
    """Rows as dicts, VARIANTs as JSON text."""
    match cell:
        case Row():
            return {name: _plain(cell[name]) for name in cell.__fields__}
        case VariantVal():
            return cell.toJson()
        case list():
            return [_plain(item) for item in cell]
        case dict():
            return {name: _plain(item) for name, item in cell.items()}
        case bytearray():
            return bytes(cell)
    return cell
