"""Made-up records for the JDBC sinks, and what the runtime does with one split of them, without Kafka."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.error_cells import DROPPED, error_from_column
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.jdbc.sink_connector import AivenJdbcSink, ConfluentJdbcSink, JdbcSinkConnector
from airflow_kconnect.converters.types import spark_type


@dataclass(frozen=True)
class Record:
    """A record; its schemas are None if there is no key, or no value."""

    value: Any = None
    schema: ConnectSchema | None = None
    key: Any = None
    key_schema: ConnectSchema | None = None
    topic: str = "t"


@dataclass
class Sink:
    """A sink and the results for the records written to it.

    :param tolerant: the writer may skip records that the database rejects.
    :param refused: its errors for them, by offset.
    """

    spark: SparkSession
    config: Mapping[str, str]
    aiven: bool = False
    errors: list[str] = field(default_factory=list)
    dropped: int = 0
    tolerant: bool = False
    refused: dict[int, str] = field(default_factory=dict)

    def connector(self) -> JdbcSinkConnector:
        """A new connector, as each run creates one."""
        return (AivenJdbcSink if self.aiven else ConfluentJdbcSink)({"name": "sink", **self.config})

    def run(self, *records: Record, first: int = 0, topic: str = "t") -> dict[TopicPartition, int]:
        """A run over records with consecutive offsets; returns the offsets that were stored before."""
        connector, topic_partition = self.connector(), TopicPartition(topic, 0)
        connector.check()
        stored = dict(connector.take_over([topic_partition]))
        if records:
            self.write(connector, records, first, topic)
        return stored

    def write(self, connector: JdbcSinkConnector, records: Sequence[Record], first: int = 0, topic: str = "t") -> None:
        """Write one split; records with errors are left out, and the errors kept."""
        rows = connector.render(frame_of(self.spark, records, first)).toArrow()
        writer = pickle.loads(pickle.dumps(connector.writer()))  # noqa: S301
        split = SinkSplit(topic, 0, first, first + len(records))
        if self.tolerant:
            writer.tolerate(lambda offset, error: self.refused.update({offset: str(error)}))
        try:
            writer.open(split)
            for batch in rows.to_batches(max_chunksize=1000):
                good = [n for n, error in enumerate(batch.column("error").to_pylist()) if error is None]
                if good:
                    writer.write(batch.take(good))
                self._count([error for error in batch.column("error").to_pylist() if error is not None])
            facts = writer.close(split.end)
        except BaseException:
            writer.abort()
            raise
        connector.commit([(split, facts)])

    def _count(self, errors: Sequence[str]) -> None:
        self.dropped += sum(error == DROPPED for error in errors)
        self.errors += [str(error_from_column(error, "here")) for error in errors if error != DROPPED]


def frame_of(spark: SparkSession, records: Sequence[Record], first: int = 0) -> RecordFrame:
    """The records as the runtime's frame: every schema is a shape of its own."""
    keys = _Part("key", [(record.key_schema, record.key) for record in records])
    values = _Part("value", [(record.schema, record.value) for record in records])
    fields = [T.StructField("kafka_offset", T.LongType()), T.StructField("topic", T.StringType())]
    schema = T.StructType([*fields, *keys.fields, *values.fields])
    rows = [
        (first + n, record.topic, *keys.row(n), *values.row(n))
        for n, record in enumerate(records)
    ]  # fmt: skip
    df = spark.createDataFrame(rows, schema).coalesce(1)
    df = df.withColumns({"error": F.lit(None).cast("string"), "partition": F.lit(0)})
    carried = ("kafka_offset", "error")
    return RecordFrame(df, values.union, keys.union, topic="topic", partition="partition", carried=carried)


class _Part:
    def __init__(self, part: str, data: Sequence[tuple[ConnectSchema | None, Any]]) -> None:
        self._data = data
        self._schemas = list(dict.fromkeys(schema for schema, _ in data if schema is not None))
        self._names = tuple(f"{part}_{n}" for n in range(len(self._schemas)))
        self._tag = f"{part}_tag"

    @property
    def fields(self) -> list[T.StructField]:
        own = [T.StructField(n, spark_type(s)) for n, s in zip(self._names, self._schemas, strict=True)]
        return [*own, T.StructField(self._tag, T.IntegerType())]

    @property
    def union(self) -> Union:
        return Union(tuple(map(Shape, self._schemas)), self._names, self._tag) if self._schemas else Union()

    def row(self, number: int) -> list[Any]:
        schema, value = self._data[number]
        cells = [value if other == schema else None for other in self._schemas]
        return [*cells, None if schema is None else self._schemas.index(schema)]
