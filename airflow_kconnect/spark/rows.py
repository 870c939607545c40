"""Rows of a DataFrame, made of polled records: the fields of values, or all parts of records as Spark's Kafka source
names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.source import RecordShapes
from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.types import arrow_type, spark_type
from airflow_kconnect.spark.options import TOPICS
from airflow_kconnect.spark.polling import position

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_HEADERS = pa.list_(pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())])))
_TIMESTAMP = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class Rows:
    """Makes rows of records whose values all have one schema; pickled.

    :param shapes: what values and keys of records may have. :param value: the schema of all values; None: they have
        none, and are JSON texts. :param key: likewise. :param metadata: whether rows have all parts.
    :param topics: whose records become rows; None: all.
    """

    shapes: RecordShapes
    value: ConnectSchema | None
    key: ConnectSchema | None
    metadata: bool = False
    topics: tuple[str, ...] | None = None

    @property
    def spark_schema(self) -> StructType:
        """Of the DataFrame."""
        from pyspark.sql import types as spark

        def type_of(schema: ConnectSchema | None) -> DataType:
            return spark_type(schema) if schema else spark.StringType()

        value = type_of(self.value)
        if not self.metadata:
            return value if isinstance(value, spark.StructType) else spark.StructType().add("value", value)
        header = spark.StructType().add("key", spark.StringType()).add("value", spark.BinaryType())
        columns = {
            "key": type_of(self.key),
            "value": value,
            "topic": spark.StringType(),
            "partition": spark.StringType(),
            "offset": spark.StringType(),
            "timestamp": spark.TimestampType(),
            "headers": spark.ArrayType(header),
        }
        return spark.StructType([spark.StructField(name, type_) for name, type_ in columns.items()])

    @cached_property
    def _arrow_schema(self) -> pa.Schema:
        value = arrow_type(self.value) if self.value else pa.string()
        if not self.metadata:
            return pa.schema(list(value) if self._has_fields else [("value", value)])
        text, key = pa.string(), arrow_type(self.key) if self.key else pa.string()
        types = {"key": key, "value": value, "topic": text, "partition": text, "offset": text}
        return pa.schema([*types.items(), ("timestamp", _TIMESTAMP), ("headers", _HEADERS)])

    @property
    def _has_fields(self) -> bool:
        return self.value is not None and self.value.type is SchemaType.STRUCT

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the records of some topics.

        :raises DataError: a value has another schema.
        """
        if self.topics is not None:
            batch = batch.filter(pc.is_in(batch.column("topic"), pa.array(self.topics)))
        columns = self._with_metadata(batch) if self.metadata else self._values(batch)
        schema = self._arrow_schema
        return pa.RecordBatch.from_arrays(
            [column.cast(type_) for column, type_ in zip(columns, schema.types, strict=True)], schema=schema
        )

    def _values(self, batch: pa.RecordBatch) -> list[pa.Array]:
        values = self._part(batch, "value", self.shapes.values, self.value)
        return values.flatten() if self._has_fields else [values]

    def _with_metadata(self, batch: pa.RecordBatch) -> list[pa.Array]:
        return [
            self._part(batch, "key", self.shapes.keys, self.key),
            self._part(batch, "value", self.shapes.values, self.value),
            *(batch.column(name) for name in ("topic", "source_partition", "source_offset")),
            _times(batch.column("timestamp")),
            batch.column("headers"),
        ]

    def _part(
        self, batch: pa.RecordBatch, part: str, declared: Sequence[Shape], schema: ConnectSchema | None
    ) -> pa.Array:
        """Keys or values, all of one schema."""
        tag = declared.index(Shape(schema)) if schema else len(declared)
        others = pc.indices_nonzero(pc.fill_null(pc.not_equal(batch.column(f"{part}_tag"), tag), False))
        if len(others):
            row = others[0].as_py()
            other = batch.column(f"{part}_tag")[row].as_py()
            has = shown(declared[other].schema if other < len(declared) else None)
            where = f"the {part} of a record of topic {batch.column('topic')[row]} at {position(batch, row)}"
            text = f"{where} is {has}, and in the DataFrame it is {shown(schema)}: a DataFrame has one schema"
            raise DataError(f"{text}. Name the topics that have it by the option `{TOPICS}`")
        return batch.column(f"{part}_{tag}")


def shown(schema: ConnectSchema | None) -> str:
    """A schema, for errors."""
    if schema is None:
        return "without a schema"
    names = ", ".join(field.name for field in schema.fields)
    return f"a {schema.name or schema.type.value}" + (f" ({names})" if names else "")


def _times(milliseconds: pa.Array) -> pa.Array:
    try:
        return milliseconds.cast(pa.timestamp("ms", tz="UTC")).cast(_TIMESTAMP)
    except pa.ArrowInvalid as error:
        raise DataError(f"the timestamp of a record is not in milliseconds since 1970: {error}") from None
