"""JDBC sinks: structs, arrays and maps as JSON, and in the databases' own types."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.connectors.jdbc.sink.config import NESTED
from tests.support.databases.jdbc_sink import Record, Sink
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.servers import Database, DuckDbDatabase

PRICE = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"})
DAY = ConnectSchema(SchemaType.INT32, name=DATE)
INSTANT = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
CLOCK = ConnectSchema(SchemaType.INT32, name=TIME)


def array(items: ConnectSchema, *, optional: bool = True) -> ConnectSchema:
    return ConnectSchema(SchemaType.ARRAY, value_schema=items, optional=optional)


def mapping(keys: ConnectSchema, values: ConnectSchema) -> ConnectSchema:
    return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values, optional=True)


ITEM = struct(("sku", STRING_SCHEMA), ("price", PRICE), ("day", DAY), ("at", INSTANT), ("opens", CLOCK))
ORDER = struct(
    ("id", INT32_SCHEMA),
    ("tags", array(OPTIONAL_STRING_SCHEMA)),
    ("item", ITEM.as_optional()),
    ("items", array(ITEM)),
    ("counts", mapping(STRING_SCHEMA, INT64_SCHEMA)),
    ("by_number", mapping(INT32_SCHEMA, STRING_SCHEMA)),
)
THING = ("a", Decimal("1.50"), datetime.date(2024, 2, 29), datetime.datetime(2023, 11, 14, 22, 13, 20), 30_600_000)
WIRE = {"sku": "a", "price": 1.5, "day": 19782, "at": 1700000000000, "opens": 30600000}
HOSTILE = ['say "x"', "back\\slash", "a,b{}", "NULL", "", None, "tab\tline\nü"]
FULL = Record((1, HOSTILE, THING, [THING], {"x": 1 << 40}, {3: "c"}), ORDER)
EMPTY = Record((2, [], None, [], {}, {}), ORDER)
NONE = Record((3, None, None, None, None, None), ORDER)


def cells(row: tuple[Any, ...]) -> list[Any]:
    return [json.loads(cell) if isinstance(cell, str) else cell for cell in row]


def found(database: Database) -> list[list[Any]]:
    return [cells(row) for row in database.execute("SELECT tags, item, items, counts, by_number FROM t ORDER BY id")]


def sink_of(spark: SparkSession, database: Database, nested: str, **more: str) -> Sink:
    return Sink(spark, {**database.config, "auto.create": "true", NESTED: nested, **more})


class TestJson:
    @pytest.mark.every_database
    def test_is_what_json_converter_writes(self, spark: SparkSession, each_database: Database) -> None:
        sink_of(spark, each_database, "json").run(FULL, EMPTY, NONE)
        assert found(each_database) == [
            [HOSTILE, WIRE, [WIRE], {"x": 1 << 40}, [[3, "c"]]],
            [[], None, [], {}, []],
            [None] * 5,
        ]

    def test_goes_into_columns_of_texts(self, spark: SparkSession, each_database: Database) -> None:
        each_database.execute("CREATE TABLE t (id INT, tags VARCHAR(200), item VARCHAR(200), items VARCHAR(200),"
                              " counts VARCHAR(200), by_number VARCHAR(200))")  # fmt: skip
        sink_of(spark, each_database, "json").run(FULL)
        assert found(each_database) == [[HOSTILE, WIRE, [WIRE], {"x": 1 << 40}, [[3, "c"]]]]

    def test_decimals_keep_their_digits(self, spark: SparkSession, each_database: Database) -> None:
        schema = struct(("id", INT32_SCHEMA), ("prices", array(PRICE)))
        sink_of(spark, each_database, "json").run(Record((1, [Decimal("12345678901234567890.10")]), schema))
        ((text,),) = each_database.execute(
            f"SELECT CAST(prices AS {'CHAR(99)' if 'maria' in each_database.url else 'VARCHAR(99)'}) FROM t"
        )
        assert text == "[12345678901234567890.10]"

    def test_upserts(self, spark: SparkSession, each_database: Database) -> None:
        keys = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}
        again = Record((1, ["b"], None, None, None, None), ORDER)
        sink_of(spark, each_database, "json", **keys).run(FULL, EMPTY, again)
        assert [row[0] for row in found(each_database)] == [["b"], []]

    def test_column_is_added_with_a_default(self, spark: SparkSession, each_database: Database) -> None:
        tags = ConnectSchema(SchemaType.ARRAY, value_schema=STRING_SCHEMA, default=("none",))
        wide = struct(("id", INT32_SCHEMA), ("tags", tags))
        to = sink_of(spark, each_database, "json", **{"auto.evolve": "true"})
        to.run(Record((1,), struct(("id", INT32_SCHEMA))), Record((2, ["x"]), wide), Record((3, None), wide))
        tags_found = [cells(row)[0] for row in each_database.execute("SELECT tags FROM t ORDER BY id")]
        assert tags_found == [None, ["x"], ["none"]]

    def test_null_in_a_required_member_is_a_bad_record(self, spark: SparkSession, each_database: Database) -> None:
        schema = struct(("id", INT32_SCHEMA), ("tags", array(STRING_SCHEMA)))
        to = sink_of(spark, each_database, "json")
        to.run(Record((1, ["a", None]), schema), Record((2, ["b"]), schema))
        assert "field `tags`: Conversion error: null value" in to.errors[0]


def test_nested_fields_of_the_primary_key_are_refused(spark: SparkSession, each_database: Database) -> None:
    keys = {"pk.mode": "record_value", "pk.fields": "id,tags"}
    to = sink_of(spark, each_database, "json", **keys)
    to.run(FULL)
    assert "`tags` is of type ARRAY, which cannot belong to the primary key" in to.errors[0]


class TestColumnsOfPostgres:
    @pytest.fixture
    def database(self, postgres: PostgresServer) -> PostgresDatabase:
        return postgres.create_database()

    def test_arrays_of_single_values_are_arrays(self, spark: SparkSession, database: PostgresDatabase) -> None:
        kinds = {
            "ints": (INT32_SCHEMA, [1, 2]),
            "texts": (OPTIONAL_STRING_SCHEMA, HOSTILE),
            "floats": (FLOAT64_SCHEMA, [1.5, 1e300]),
            "truths": (BOOLEAN_SCHEMA, [True, False]),
            "raws": (BYTES_SCHEMA, [b"\x00\\x", b""]),
            "prices": (PRICE, [Decimal("1.50")]),
            "days": (DAY, [datetime.date(2024, 2, 29)]),
            "ats": (INSTANT, [datetime.datetime(2023, 11, 14, 22, 13, 20)]),
            "clocks": (CLOCK, [30_600_000]),
        }
        schema = struct(("id", INT32_SCHEMA), *((name, array(items)) for name, (items, _) in kinds.items()))
        values = [values for _, values in kinds.values()]
        sink_of(spark, database, "columns").run(
            Record((1, *values), schema), Record((2, *([] for _ in kinds)), schema), Record((3, *[None] * 9), schema)
        )
        rows = [list(row) for row in database.execute(f"SELECT {', '.join(kinds)} FROM t ORDER BY id")]
        assert rows == [[*values[:-1], [datetime.time(8, 30)]], [[]] * 9, [None] * 9]

    def test_all_else_is_json(self, spark: SparkSession, database: PostgresDatabase) -> None:
        sink_of(spark, database, "columns").run(FULL, EMPTY, NONE)
        assert found(database) == [
            [HOSTILE, WIRE, [WIRE], {"x": 1 << 40}, [[3, "c"]]],
            [[], None, [], {}, []],
            [None] * 5,
        ]
        types = "SELECT pg_typeof(tags)::text, pg_typeof(item)::text FROM t LIMIT 1"
        assert database.execute(types) == [("text[]", "jsonb")]

    def test_arrays_keep_every_character(self, spark: SparkSession, database: PostgresDatabase) -> None:
        special = "\\\"{},\n\r\t 'NULLx"
        texts = [chr(code) for code in range(1, 0x250)] + [a + b + c for a in special for b in special for c in special]
        schema = struct(("tags", array(STRING_SCHEMA)))
        sink_of(spark, database, "columns").run(Record((texts,), schema))
        assert database.execute("SELECT tags FROM t") == [(texts,)]

    @pytest.mark.parametrize("nested", ["json", "columns"])
    def test_nul_characters_are_refused(self, spark: SparkSession, database: PostgresDatabase, nested: str) -> None:
        schema = struct(("id", INT32_SCHEMA), ("tags", array(STRING_SCHEMA)))
        sink = sink_of(spark, database, nested)
        sink.tolerant = True
        sink.run(Record((1, ["a\0"]), schema), Record((2, ["\\u0000"]), schema))
        assert len(sink.errors) + len(sink.refused) == 1
        assert database.execute("SELECT id, tags FROM t") == [(2, ["\\u0000"])]

    def test_moments_in_another_zone(self, spark: SparkSession, database: PostgresDatabase) -> None:
        database.execute("CREATE TABLE t (ats timestamptz[])")
        at = datetime.datetime(2023, 11, 14, 22, 13, 20)
        schema = struct(("ats", array(INSTANT)))
        sink_of(spark, database, "columns", **{"db.timezone": "America/New_York"}).run(Record(([at],), schema))
        assert database.execute("SELECT ats FROM t") == [([at.replace(tzinfo=datetime.UTC)],)]


class TestColumnsOfDuckDb:
    @pytest.fixture
    def database(self, tmp_path: Path) -> Database:
        return DuckDbDatabase.create(tmp_path)

    def test_are_lists_structs_and_maps(self, spark: SparkSession, database: Database) -> None:
        sink_of(spark, database, "columns").run(FULL, EMPTY, NONE)
        thing = {
            **dict(zip(("sku", "price", "day", "at"), THING[:4], strict=True)),
            "opens": datetime.time(8, 30),
        }
        assert database.execute("SELECT tags, item, items, counts, by_number FROM t ORDER BY id") == [
            (HOSTILE, thing, [thing], {"x": 1 << 40}, {3: "c"}),
            ([], None, [], {}, {}),
            (None,) * 5,
        ]

    NEWER = struct(("sku", STRING_SCHEMA), ("size", INT64_SCHEMA.as_optional()))
    NARROW = struct(("id", INT32_SCHEMA), ("items", array(struct(("sku", STRING_SCHEMA)))))
    WIDE = struct(("id", INT32_SCHEMA), ("items", array(NEWER)))

    def run(self, spark: SparkSession, database: Database, policy: str) -> Sink:
        sink = sink_of(spark, database, "columns", **{"kconnect.schema.change": policy})
        sink.tolerant = True
        sink.run(Record((1, [("a",)]), self.NARROW), Record((2, [("b", 5)]), self.WIDE))
        return sink

    def test_new_members_are_added(self, spark: SparkSession, database: Database) -> None:
        self.run(spark, database, "evolve")
        rows = database.execute("SELECT items FROM t ORDER BY id")
        assert rows == [([{"sku": "a", "size": None}],), ([{"sku": "b", "size": 5}],)]

    def test_new_members_are_refused(self, spark: SparkSession, database: Database) -> None:
        sink = self.run(spark, database, "fail")
        assert "table t has no columns for the fields `items.element.size`" in sink.refused[1]

    def test_new_members_are_left_out(self, spark: SparkSession, database: Database) -> None:
        self.run(spark, database, "ignore")
        assert database.execute("SELECT items FROM t ORDER BY id") == [([{"sku": "a"}],), ([{"sku": "b"}],)]

    def test_structs_of_which_nothing_is_left_are_refused(self, spark: SparkSession, database: Database) -> None:
        sink = sink_of(spark, database, "columns", **{"kconnect.schema.change": "ignore"})
        sink.tolerant = True
        other = struct(("id", INT32_SCHEMA), ("items", array(struct(("z", INT64_SCHEMA)))))
        sink.run(Record((1, [("a",)]), self.NARROW), Record((2, [(5,)]), other))
        assert "has no column for any member of `items.element`" in sink.refused[1]
