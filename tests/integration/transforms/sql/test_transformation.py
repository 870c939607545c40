"""SQL: what its expressions make of records."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.testing import transform
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.predicates.record_is_tombstone import RecordIsTombstone
from airflow_kconnect.transforms.sql.predicate import SQL as Condition
from airflow_kconnect.transforms.sql.transformation import SQL

ID = ConnectSchema(SchemaType.INT32, doc="the id")
CLOCK = ConnectSchema(SchemaType.INT32, optional=True, name=TIME, version=1)
INSTANT = ConnectSchema(SchemaType.INT64, optional=True, name=TIMESTAMP, version=1)
OPTIONAL_INT = INT32_SCHEMA.as_optional()
INNER = struct(("c", INT32_SCHEMA), optional=True)
ROW = struct(
    ("id", ID), ("name", OPTIONAL_STRING_SCHEMA), ("n", OPTIONAL_INT), ("at", CLOCK), ("in", INNER), name="Row"
)
ANN = {"id": 1, "name": "ann", "n": 2, "at": 5, "in": {"c": 9}}

Result = SinkRecord | RecordError | None


def _record(value: Any, schema: ConnectSchema | None = None, **others: Any) -> SinkRecord:
    record = {"topic": "t", "partition": 3, "kafka_offset": 7, "key": None, "value": value, "value_schema": schema}
    return SinkRecord(**record | others)


def _rows(*changes: dict[str, Any]) -> list[SinkRecord]:
    return [_record(ANN | change, ROW) for change in changes]


def _good(results: list[Result]) -> list[SinkRecord]:
    assert all(isinstance(result, SinkRecord) for result in results), results
    return [result for result in results if isinstance(result, SinkRecord)]


def _texts(results: list[Result]) -> list[str | None]:
    """The errors' texts; None for good records."""
    return [result.message if isinstance(result, RecordError) else None for result in results]


@pytest.mark.usefixtures("spark")
class TestStructs:
    def test_a_list_makes_a_struct_in_which_what_is_passed_on_keeps_its_schema(self) -> None:
        items = (
            "value.id, upper(value.name) AS name, value.n + 1 AS n1, value.at, value.in.c, 'x' AS x,"
            " topic, partition, offset, timestamp AS ts, headers['h'] AS h, headers['none'] AS none, NULL AS nothing"
        )
        headers = (("h", "a"), ("h", "b"))
        (result,) = _good(transform(SQL({"value": items}), [_record(ANN, ROW, timestamp=5, headers=headers)]))
        assert result.value_schema == struct(
            ("id", ID),
            ("name", OPTIONAL_STRING_SCHEMA),
            ("n1", OPTIONAL_INT),
            ("at", CLOCK),
            ("c", OPTIONAL_INT),
            ("x", STRING_SCHEMA),
            ("topic", OPTIONAL_STRING_SCHEMA),
            ("partition", OPTIONAL_INT),
            ("offset", INT64_SCHEMA.as_optional()),
            ("ts", INSTANT),
            ("h", OPTIONAL_STRING_SCHEMA),
            ("none", OPTIONAL_STRING_SCHEMA),
            ("nothing", OPTIONAL_STRING_SCHEMA),
        )
        row = {"id": 1, "name": "ANN", "n1": 3, "at": 5, "c": 9, "x": "x", "topic": "t", "partition": 3, "offset": 7}
        ts = datetime(1970, 1, 1, 0, 0, 0, 5000, tzinfo=UTC)
        assert result.value == row | {"ts": ts, "h": '{"schema":null,"payload":"b"}', "none": None, "nothing": None}

    def test_members_of_structs_in_it_have_the_names_that_are_written(self) -> None:
        records = [_record({"id": 1, "name": "ann"}, ROW), _record({"id": 1, "name": "ann"})]
        config = {"value": "to_json(struct(value.id, topic, upper(value.name::string) AS `a b`)) AS json"}
        results = _good(transform(SQL(config), records))
        assert {result.value["json"] for result in results} == {'{"id":1,"topic":"t","a b":"ANN"}'}

    def test_one_expression_is_the_value_itself_and_null_is_a_tombstone(self) -> None:
        results = _good(transform(SQL({"value": "value.name"}), _rows({}, {"name": None})))
        assert [(result.value_schema, result.value) for result in results] == [(STRING_SCHEMA, "ann"), (None, None)]

    def test_key_topic_and_timestamp_see_the_record_as_it_was_and_a_star_is_all_members_before_later_ones(self) -> None:
        config = {
            "key": "value.id",
            "topic": "concat(topic, '-', value.name)",
            "timestamp": "value.id + 1000",
            "value": "value.*, upper(value.name) AS name, key AS k",
        }
        (result,) = _good(transform(SQL(config), [_record(ANN, ROW, key="old", key_schema=STRING_SCHEMA)]))
        assert (result.key_schema, result.key, result.topic, result.timestamp) == (ID, 1, "t-ann", 1001)
        assert result.value == ANN | {"name": "ANN", "k": "old"}
        assert result.value_schema is not None
        assert [field.name for field in result.value_schema.fields] == ["id", "name", "n", "at", "in", "k"]

    def test_records_for_which_where_is_not_true_are_dropped_and_do_not_fail(self) -> None:
        config = {"where": "value.n > 1", "value": "10 / (value.n - 1) AS q"}
        results = transform(SQL(config), _rows({"n": 2}, {"n": 1}, {"n": None}, {"n": 3}))
        assert [result and result.value for result in results if not isinstance(result, RecordError)] == [
            {"q": 10.0},
            None,
            None,
            {"q": 5.0},
        ]

    def test_what_throws_is_an_error_of_the_record(self) -> None:
        kinds = {
            "zero": "1 / value.n",
            "cast": "cast(value.name AS int)",
            "overflow": "cast(2147483647 AS int) + value.id",
            "index": "element_at(array(1), value.n)",
            "json": "parse_json(value.name)::string",
            "date": "to_date(value.name)",
            "regex": "regexp_replace(value.name, value.name, 'x')",
            "binary": "to_binary(value.name, 'hex')",
            "raise": "raise_error(value.name)",
            "fine": "'fine'",
        }
        cases = " ".join(f"WHEN {n} THEN cast({sql} AS string)" for n, sql in enumerate(kinds.values(), start=1))
        records = _rows(*({"id": n, "n": 0, "name": "(not"} for n in range(1, len(kinds) + 1)))
        results = dict(zip(kinds, transform(SQL({"value": f"CASE value.id {cases} END"}), records), strict=True))
        assert [kind for kind, result in results.items() if not isinstance(result, RecordError)] == ["fine"]
        error = results["zero"]
        assert isinstance(error, RecordError)
        assert (error.stage, error.exception) == ("TRANSFORMATION", "org.apache.kafka.connect.errors.DataException")
        assert error.message.startswith("value: CASE value.id WHEN 1") and error.message.endswith("fails")

    def test_each_shape_is_analysed_by_itself(self) -> None:
        records = [
            *_rows({}),
            _record({"id": 2}, struct(("id", INT64_SCHEMA))),
            _record("text", STRING_SCHEMA),
            _record({"id": 3, "name": "bob"}),
        ]
        config = {"value": "value.name::string AS name, value.id::string AS id"}
        ann, other, text, bob = transform(SQL(config), records)
        assert _texts([other, text]) == [
            "value: Unknown field name; the fields are id",
            "value: STRING has no field name",
        ]
        good = _good([ann, bob])
        assert [result.value for result in good] == [{"name": "ann", "id": "1"}, {"name": "bob", "id": "3"}]
        assert [result.value_schema for result in good] == [
            struct(("name", OPTIONAL_STRING_SCHEMA), ("id", STRING_SCHEMA.as_optional())),
            struct(("name", OPTIONAL_STRING_SCHEMA), ("id", OPTIONAL_STRING_SCHEMA)),
        ]

    def test_results_of_wrong_types_are_errors(self) -> None:
        config = {"topic": "value.n", "timestamp": "value.name", "where": "value.n"}
        texts = [_texts(transform(SQL({key: sql}), _rows({}))) for key, sql in config.items()]
        assert texts == [
            ["topic: expected STRING, found INT32"],
            ["timestamp: expected a timestamp or INT64, found STRING"],
            ["where: expected BOOLEAN, found INT32"],
        ]

    def test_what_connect_has_no_type_for_is_an_error(self) -> None:
        two = "value: The names of a struct's fields must be different and not empty: a, a"
        texts = [
            _texts(transform(SQL({"value": sql}), _rows({}))) for sql in ("INTERVAL 1 DAY", "struct(1 AS a, 2 AS a)")
        ]
        assert texts == [["value: Connect has no type for INTERVAL DAY"], [two]]

    def test_a_topic_needs_a_name(self) -> None:
        results = transform(SQL({"topic": "value.name"}), _rows({"name": None}, {"name": ""}, {}))
        assert _texts(results) == ["topic: the expression gives no name"] * 2 + [None]


@pytest.mark.usefixtures("spark")
class TestTombstones:
    def test_a_tombstone_stays_one_and_its_members_are_null_to_other_expressions(self) -> None:
        config = {"value": "value.id, 1 AS one", "key": "coalesce(value.id, -1)", "where": "value.n IS NULL"}
        null = _record(None, ROW.as_optional())
        results = _good(transform(SQL(config), [_record(None), null, *_rows({"n": None})]))
        assert [(result.key, result.value) for result in results] == [(-1, None), (-1, None), (1, {"id": 1, "one": 1})]
        assert [result.value_schema is None for result in results] == [True, False, False]

    def test_a_predicate_leaves_them_alone(self) -> None:
        config = {"key": "value.id", "value": "value.name", "topic": "'new'", "timestamp": "1L"}
        old: dict[str, Any] = {"key": "k", "key_schema": STRING_SCHEMA, "timestamp": 5}
        records = [_record(None, **old), _record(ANN, ROW, **old)]
        tombstone, row = _good(transform(SQL(config), records, RecordIsTombstone({}), negate=True))
        assert tombstone == records[0]
        assert (row.key, row.value, row.topic, row.timestamp) == (1, "ann", "new", 1)


@pytest.mark.usefixtures("spark")
class TestSchemalessData:
    def test_what_has_no_type_makes_objects(self) -> None:
        data = [{"id": 1, "name": "ann", "a": {"b": [1, 2]}, "z": None}, {"id": "x", 'it\'s "so"': 1}]
        items = (
            "value.id, upper(value.name::string) AS name, value.a.b, value:a.b[1]::int AS c, value.z IS NULL AS no,"
            " value['a'].b[0] AS d, value.a.b[9] AS e"
        )
        results = _good(transform(SQL({"value": items}), [_record(item) for item in data]))
        assert [result.value for result in results] == [
            {"id": 1, "name": "ANN", "b": [1, 2], "c": 2, "no": True, "d": 1, "e": None},
            {"id": "x", "name": None, "b": None, "c": None, "no": True, "d": None, "e": None},
        ]
        assert {result.value_schema for result in results} == {None}

    def test_casts_give_it_a_schema(self) -> None:
        (result,) = _good(transform(SQL({"value": "value.id::int, value.name::string AS n"}), [_record({"id": 1})]))
        assert result.value_schema == struct(("id", OPTIONAL_INT), ("n", OPTIONAL_STRING_SCHEMA))

    def test_a_star_is_the_whole_object(self) -> None:
        config = {"value": "value.*, map('k', 1) AS m, 'new' AS `it's \"so\"`"}
        data = [{"id": 1, "z": None, 'it\'s "so"': "old"}, [1]]
        result, error = transform(SQL(config), [_record(item) for item in data])
        assert _good([result])[0].value == {"id": 1, "z": None, "m": {"k": 1}, 'it\'s "so"': "new"}
        assert "value.*: Only Map objects supported" in str(_texts([error])[0])

    def test_conditions_need_a_type(self) -> None:
        (error,) = transform(SQL({"where": "value.flag"}), [_record({"flag": True})])
        assert _texts([error]) == ["where: expected BOOLEAN, found a value without schema, which needs a cast"]


@pytest.mark.usefixtures("spark")
def test_the_predicate_is_false_where_its_condition_does_not_hold_or_does_not_fit() -> None:
    records = [*_rows({"n": 5}, {"n": 0}, {"n": None}), _record("text", STRING_SCHEMA), _record(None)]
    condition = Condition({"condition": "10 / value.n > 1"})
    chosen = transform(SQL({"topic": "'chosen'"}), records, condition)
    others = transform(SQL({"topic": "'chosen'"}), records, condition, negate=True)
    assert _topics(chosen) == ["chosen", FAILED, "t", "t", "t"]
    assert _topics(others) == ["t", FAILED, "chosen", "chosen", "chosen"]


FAILED = "TRANSFORMATION: Predicate SQL fails: 10 / value.n > 1"


def _topics(results: list[Result]) -> list[str | None]:
    """The topics; for records that failed stage and text."""
    return [_topic(result) for result in results]


def _topic(result: Result) -> str | None:
    if isinstance(result, RecordError):
        return f"{result.stage}: {result.message}"
    return None if result is None else result.topic


def _frame(spark: SparkSession, columns: str, schema: ConnectSchema) -> RecordFrame:
    df = spark.range(3).selectExpr(columns, "cast(null as string) AS error")
    return RecordFrame(df, value=single(Shape(schema), "value_0"), constant_topic="t", carried=("error",))


def test_compiled_expressions_do_not_throw_either(spark: SparkSession) -> None:
    """Spark would compute 6 / value.n once for both, outside of what keeps it from throwing."""
    frame = _frame(spark, "struct(id AS n) AS value_0", struct(("n", INT64_SCHEMA)))
    config = {"value": "6 / value.n AS a, 6 / value.n + 6 / value.n AS b", "where": "6 / value.n > 0"}
    done = SQL(config).apply(
        frame, None, Scope(is_sink=False, header_converter=SimpleHeaderConverter({}, is_key=False))
    )
    (name,) = done.value.columns
    rows = done.df.select(F.to_json(name).alias("value"), "error").collect()
    assert [row.error for row in rows] == ["where: 6 / value.n > 0 fails", None, None]
    assert [json.loads(row.value) for row in rows[1:]] == [{"a": 6.0, "b": 12.0}, {"a": 3.0, "b": 6.0}]
    assert [name for name in done.df.columns if name.startswith("sql")] == []


_REFUSED = {
    "value.id +": "Syntax error",
    "value.id value.name": "Syntax error",
    "no_such_function(value.id)": "no_such_function is not a function of Spark",
    "spark_catalog.default.f(1)": "is not a function of Spark",
    "system.builtin.reflect('a', 'b')": "is not a function of Spark",
    "identifier('reflect')('a', 'b')": "ExpressionWithUnresolvedIdentifier is not supported",
    "session_user": "Unknown name session_user; the names are key, value, topic",
    "vlaue.id": "Unknown name vlaue",  # codespell:ignore
    "transform(value.xs, x -> y)": "Unknown name y",
    "spark_partition_id()": "not allowed",
    "value_0.id": "Unknown name value_0",
    "EXISTS (FROM t)": "Subqueries are not supported",
    "value.id IN (FROM t)": "Subqueries are not supported",
    "(VALUES (1))": "Subqueries are not supported",
    "sum(value.id)": "Function sum is not supported",
    "any_value(value.id)": "Aggregate functions are not supported",
    "sum(value.id) OVER ()": "Window functions are not supported",
    "explode(value.xs)": "Function explode is not supported",
    "json_tuple(value.a, 'b')": "Function json_tuple is not supported",
    "window(timestamp, '1 day')": "Function window is not supported",
    "from_xml(value.a, 'a INT')": "not allowed",
    "uuid()": "depend on nothing but the record",
    "rand() > 0.5": "depend on nothing but the record",
    "value.id AS (a, b)": "MultiAlias is not supported",
    "value.id, 1 + 1": "in a list it needs a name: 1 + 1 AS name",
    "*": "only value.* and key.* are known",
    "headers.*": "only value.* and key.* are known",
    "struct(value.*)": "A star is only supported as value.* or key.*, by itself",
    ":parameter": "NamedParameter is not supported",
}


def test_what_is_not_an_expression_over_the_record_is_refused(spark: SparkSession) -> None:
    frame = _frame(spark, "struct(id) AS value_0", struct(("id", INT64_SCHEMA)))
    scope = Scope(is_sink=True, header_converter=SimpleHeaderConverter({}, is_key=False))
    for expression, message in _REFUSED.items():
        with pytest.raises(ConfigError) as caught:
            SQL({"value": expression}).apply(frame, None, scope)
        assert message in caught.value.errors["value"][0], expression
