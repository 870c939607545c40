"""From a record frame to the split writer's input: bytes for key and value, only the columns in which rows differ."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.error_cells import stage_prefix
from airflow_kconnect.connect.frame import BatchFrame, RecordFrame, Union
from airflow_kconnect.converters.base import BatchEncoder, Converter, Role, encode_union, new_converter
from airflow_kconnect.converters.id_header import SchemaHeaders
from airflow_kconnect.runtime.conversion.batch_encoding import BatchEncoding
from airflow_kconnect.runtime.settings import RunSettings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def batch_encodings(frame: RecordFrame, key: Converter, value: Converter) -> tuple[BatchEncoding, ...]:
    """The parts that the writer encodes: their messages do not pass through Spark's JVM.

    Not with dead letters: which rows keep their original is known only when all have been encoded.
    """
    if "original" in frame.carried:
        return ()
    parts = (("key", frame.key, key), ("value", frame.value, value))
    encodings = [
        _encoding(name, replace(part, columns=(name,)), converter, converter.batch_encoder)
        for name, part, converter in parts
        if len(part.shapes) == 1 and part.tag is None
    ]
    return tuple(encoding for encoding in encodings if encoding is not None)


def whole_encodings(frame: BatchFrame, key: Converter, value: Converter) -> tuple[BatchEncoding, ...] | None:
    """The encodings of all parts of a frame; None if one of them needs Spark."""
    parts = [("key", frame.key, key), ("value", frame.value, value)]
    encodings = [
        _encoding(name, part, converter, converter.value_encoder) for name, part, converter in parts if not part.absent
    ]
    known = tuple(encoding for encoding in encodings if encoding is not None)
    return known if len(known) == len(encodings) else None


def _encoding(
    name: str, part: Union, converter: Converter, encoder_of: Callable[[Shape], BatchEncoder | None]
) -> BatchEncoding | None:
    """How the writer encodes a part; None if it cannot encode one of its shapes."""
    encoders = [encoder_of(shape) for shape in part.shapes]
    known = tuple(encoder for encoder in encoders if encoder is not None)
    if len(known) < len(encoders):
        return None
    stage = stage_prefix(f"{name.upper()}_CONVERTER", converter.java_name())
    return BatchEncoding(name, stage, known, part.columns, part.tag)


def encoded(frame: RecordFrame, key: Converter, value: Converter, later: Collection[BatchEncoding] = ()) -> DataFrame:
    """Apply the converters; the first failing stage's text is the row's ``error``.

    :param later: the writer encodes these parts: their columns hold data.

    The order of rows does not change and nothing is shuffled. Constant parts (one topic, no key, no headers) are left
    out, since passing a column through Arrow has a cost.
    """
    from pyspark.sql import functions as F

    columns: list[Column] = []
    headers = F.col(frame.headers) if frame.headers else None
    errors: list[Column] = [F.col("error")] if "error" in frame.carried else []
    for name, part, converter in (("key", frame.key, key), ("value", frame.value, value)):
        if part.absent and name == "key":
            continue
        if name in [encoding.part for encoding in later]:
            columns.append(_data(frame, part).alias(name))
            continue
        data, error, schema_id = encode_union(frame, part, converter)
        columns.append(data.alias(name))
        if error is not None:
            stage = stage_prefix(f"{name.upper()}_CONVERTER", converter.java_name())
            errors.append(F.concat(F.lit(stage), error))
        if schema_id is not None and isinstance(converter, SchemaHeaders):
            headers = _with_header(headers, str(converter.id_header_written), schema_id)
    optional = {
        "topic": frame.topic,
        "timestamp": frame.timestamp,
        "partition": frame.partition,
    }
    columns += [F.col(column).alias(name) for name, column in optional.items() if column]
    columns += [] if headers is None else [headers.alias("headers")]
    error = F.coalesce(*errors) if errors else F.lit(None).cast("string")
    carried = {"original": F.when(error.isNotNull(), F.col("original"))} if "original" in frame.carried else {}
    columns += [carried.get(name, F.col(name)).alias(name) for name in frame.carried if name != "error"]
    if errors:
        columns.append(error.alias("error"))
    return frame.df.select(*columns)


def _data(frame: RecordFrame, part: Union) -> Column:
    """The column of a part with one shape; no schema is registered for dropped or bad records."""
    from pyspark.sql import functions as F

    column = frame.df[part.columns[0]]
    return F.when(frame.df["error"].isNull(), column) if "error" in frame.carried else column


def _with_header(headers: Column | None, name: str, value: Column) -> Column:
    """The headers and another one, in rows where it has a value."""
    from pyspark.sql import functions as F

    kind = "array<struct<key:string,value:binary>>"
    old = F.lit(None).cast(kind) if headers is None else headers
    own = F.array(F.struct(F.lit(name).alias("key"), value.alias("value"))).cast(kind)
    return F.when(value.isNull(), old).otherwise(F.concat(F.coalesce(old, F.array().cast(kind)), own))


def converter_of(settings: RunSettings, role: Role) -> Converter:
    """The connector's converter of keys or values, or the worker's."""
    key = f"{role}.converter"
    worker = {key: str(settings.worker.get(key)), **settings.worker.props}
    return new_converter(settings.config.props.get(key), settings.config.props, worker, role)
