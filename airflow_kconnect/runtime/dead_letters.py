"""The content of dead letters, on its way through a frame, and their topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.converters.base import Converter, encode_union
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.runtime.bad_records import CONTEXT_PREFIX

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def with_error_column(frame: RecordFrame) -> RecordFrame:
    """The frame with an ``error`` column, if it has none yet."""
    from pyspark.sql import functions as F

    if "error" in frame.carried:
        return frame
    df = frame.df.withColumn("error", F.lit(None).cast("string"))
    return replace(frame.with_df(df), carried=(*frame.carried, "error"))


def with_originals(frame: RecordFrame, key: Converter, value: Converter) -> RecordFrame:
    """The frame with a column ``original``: the record as the converters would have written it untransformed.

    It costs nothing in rows without an error: it is not used there, and Catalyst moves it to where it is used.
    """
    from pyspark.sql import functions as F

    parts = [
        _bytes(frame, part, converter).alias(name)
        for name, part, converter in (("key", frame.key, key), ("value", frame.value, value))
    ]
    timestamp = F.col(frame.timestamp) if frame.timestamp else F.lit(None).cast("long")
    headers = [F.col(frame.headers).alias("headers")] if frame.headers else []
    original = F.struct(*parts, timestamp.alias("timestamp"), *headers)
    return replace(frame.with_df(frame.df.withColumn("original", original)), carried=(*frame.carried, "original"))


def _bytes(frame: RecordFrame, part: Union, converter: Converter) -> Column:
    """The part as its converter writes it; if it cannot, as plain JSON."""
    from pyspark.sql import functions as F

    plain = encode_union(frame, part, JsonConverter({"schemas.enable": "false"}, is_key=converter.is_key)).bytes
    if converter.writes_by_topic:  # a schema is not registered for the sake of a dead letter
        return plain
    data, error, _ = encode_union(frame, part, converter)
    if error is None:
        return data
    return F.when(error.isNull(), data).otherwise(plain)


REPLAYED_OFFSET = "replayed_offset"


def original_in_kafka(*, with_place: str | None = None) -> Column:
    """Column ``original`` of the reader's rows: the record as it is in Kafka.

    :param with_place: its topic and partition are columns, and its offset is this one: it may have another place than
        that which it is read from.
    """
    from pyspark.sql import functions as F

    place = ("topic", "partition", F.col(with_place).alias("offset")) if with_place else ()
    return F.struct("key", "value", "timestamp", "headers", *place)


def as_before(rows: DataFrame, topics: Sequence[str]) -> DataFrame:
    """Dead letters as the records that they were: topic, partition and offset are those of the context headers, which
    are removed. A record that is put, or written by its place, must not replace another one.

    :param topics: those of the connector: a header that names any other topic is not trusted.
    """
    from pyspark.sql import functions as F

    def context(name: str) -> Column:
        matching = F.filter("headers", lambda header: header["key"] == CONTEXT_PREFIX + name)
        # The last one is the reporter's: a record may have had its own.
        return F.get(F.transform(matching, lambda header: header["value"].cast("string")), F.size(matching) - 1)

    own = F.filter("headers", lambda header: ~header["key"].startswith(CONTEXT_PREFIX))
    known = context("topic").isin(list(topics))
    partition = F.coalesce(F.when(known, context("partition")).try_cast("int"), F.col("partition"))
    offset = F.coalesce(F.when(known, context("offset")).try_cast("long"), F.col("kafka_offset"))
    topic = F.coalesce(F.when(known, context("topic")), F.col("topic"))
    before = {"topic": topic, "partition": partition, REPLAYED_OFFSET: offset}
    return rows.withColumns(before).withColumn("headers", F.when(F.size(own) > 0, own))


def only_of_failed(rows: DataFrame) -> DataFrame:
    """The column ``original``, if there is one, only where there is an error: the others need not be passed on."""
    from pyspark.sql import functions as F

    if "original" not in rows.columns:
        return rows
    return rows.withColumn("original", F.when(F.col("error").isNotNull(), F.col("original")))
