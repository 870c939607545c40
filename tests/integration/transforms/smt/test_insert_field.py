"""InsertField: which records get which fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import SCHEMALESS, STRING_SCHEMA, Shape
from airflow_kconnect.connect.data import struct as struct_schema
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.smt.insert_field import InsertFieldValue
from tests.support.connectors.sinks import record_frame
from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of

NO_MAP = "DataException: Only Map objects supported in absence of schema for [field insertion], found: "
NO_STRUCT = "DataException: Only Struct objects supported for [field insertion], found: "


def test_structs_lose_optional_but_nulls_keep_their_schema() -> None:
    old = {"a": LONG, "d": DEFAULTED}
    optional = struct(old, optional=True, name="N", version=2, doc="text", parameters={"x": "y"})
    new = struct(
        {**old, "t": {"type": "string", "optional": False}, "s": TEXT},
        name="N",
        version=2,
        doc="text",
        parameters={"x": "y"},
    )
    answers = transformed(
        "InsertField$Value",
        {"topic.field": "t!", "static.field": "s?", "static.value": " constant "},
        [
            of(optional, {"a": 1, "d": None}),
            of(optional, None),
            of(TEXT, None),
            of(TEXT, "x"),
            of({"type": "array", "items": LONG, "optional": False}, [1]),
            of(struct({"a": LONG, "s": LONG}), {"a": 1, "s": 2}),
            None,
        ],
    )
    assert values_of(answers) == [
        of(new, {"a": 1, "d": "preset", "t": "topic", "s": "constant"}),
        of(optional, None),
        of(TEXT, None),
        f"{NO_STRUCT}java.lang.String",
        f"{NO_STRUCT}java.util.ArrayList",
        "SchemaBuilderException: Cannot create field because of field name duplication s",
        None,
    ]


def test_objects_and_nulls_that_stay() -> None:
    config = {"topic.field": "it's", "partition.field": "a", "timestamp.field": "a!"}
    value = struct({"d": DEFAULTED})
    answers = transformed(
        "InsertField$Value",
        {**config, "replace.null.with.default": "false"},
        [bare({"a": None, "b": 1.5}), bare({}), bare(["a"]), bare(7), bare(1.5), bare(True), of(value, {"d": None})],
    )
    inserted = {"it's": "topic", "a": 1_700_000_000_123}
    clash = "SchemaBuilderException: Cannot create field because of field name duplication a"
    assert values_of(answers) == [
        bare({"b": 1.5, **inserted}),
        bare(inserted),
        f"{NO_MAP}java.util.ArrayList",
        f"{NO_MAP}java.lang.Long",
        f"{NO_MAP}java.lang.Double",
        f"{NO_MAP}java.lang.Boolean",
        clash,
    ]


def test_source_records_have_no_offset_and_perhaps_no_partition_and_timestamp(spark: SparkSession) -> None:
    scope = Scope(is_sink=False, header_converter=JsonConverter({}, is_key=False))
    shapes = [SCHEMALESS, Shape(struct_schema(("a", STRING_SCHEMA)))]
    frame = record_frame(spark, shapes, [(0, '{"a": 1}'), (1, ("x",)), (None, None)])
    frame = replace(frame, constant_topic="topic")

    def applied(config: dict[str, str]) -> list[Any]:
        result = InsertFieldValue(config).apply(frame, None, scope)
        values = (F.to_json(name, {"ignoreNullFields": "false"}) for name in result.value.columns)
        rows = result.df.select(F.coalesce("error", *values)).collect()
        return [row[0] for row in rows]

    wrong = "Only SinkRecord supported for [field insertion], found: org.apache.kafka.connect.source.SourceRecord"
    assert applied({"topic.field": "t", "offset.field": "o"}) == [wrong, wrong, None]
    assert applied({"topic.field": "t", "partition.field": "p", "timestamp.field": "w"}) == [
        '{"a":1,"t":"topic"}',
        '{"a":"x","t":"topic","p":null,"w":null}',
        None,
    ]
