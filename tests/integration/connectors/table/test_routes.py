"""Which tables topics go to, before any record is looked at."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.connectors.table.routing.routes import READ_FROM, is_same, topic_of
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.runtime.sink.reader import with_topic, with_topic_partition
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain

SPLITS = [SinkSplit(topic, 0, 0, 1) for topic in ("shop.orders", "shop.items")]
INSERT = {
    "transforms": "insert",
    "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.insert.static.field": "from",
    "transforms.insert.static.value": "shop",
}
RENAME = {
    "transforms": "rename",
    "transforms.rename.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.rename.regex": "shop.orders",
    "transforms.rename.replacement": "orders",
}


@pytest.mark.parametrize(("props", "kept"), [({}, True), (INSERT, True), (RENAME, False)])
def test_it_is_known_of_all_topics_at_once_whether_they_keep_their_names(
    spark: SparkSession, props: dict[str, str], kept: bool
) -> None:
    rows = spark.range(0, len(SPLITS), 1, len(SPLITS)).select(
        F.struct(F.col("id")).alias("value"), F.lit(None).cast("string").alias("error")
    )
    rows = with_topic_partition(with_topic(rows, SPLITS, READ_FROM), SPLITS)
    shape = Shape(struct(("id", ConnectSchema(SchemaType.INT64))))
    frame = RecordFrame(rows, single(shape, "value"), topic="topic", carried=("error", READ_FROM))
    scope = Scope(is_sink=True, header_converter=SimpleHeaderConverter({}, is_key=False))
    frame = Chain.from_props(props).apply(frame, scope)
    assert is_same(frame.df, topic_of(frame), F.col(READ_FROM)) is kept
