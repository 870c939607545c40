"""Avro records whose writer's schema changes in mid-topic, with nested data, into tables and files: each policy.

CI has each policy in one of them; connectors show all: `connectors/jdbc/sink/test_schema_changes.py`,
`connectors/test_directory_changes.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.databases.postgres import PostgresServer
from tests.support.databases.servers import Database
from tests.support.kafka import produce, read_all

MakeTopic = Callable[..., str]
Config = dict[str, str]

ITEM = {"type": "record", "name": "Item", "fields": [{"name": "sku", "type": "string"}]}
NAME = {"name": "name", "type": ["null", "string"], "default": None}
GONE = {"name": "gone", "type": ["null", "string"], "default": None}
CITY = {"name": "city", "type": "string", "default": "?"}
NESTED = [
    {"name": "items", "type": {"type": "array", "items": ITEM}},
    {"name": "counts", "type": {"type": "map", "values": "long"}},
    {"name": "choice", "type": ["null", "string", "long"], "default": None},
]


def _schema(id_: str, *fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": "Order", "fields": [{"name": "id", "type": id_}, *fields, *NESTED]}


OLD = _schema("int", NAME, GONE)
ADDED = _schema("int", NAME, GONE, CITY)
WIDE = _schema("long", NAME, CITY)
WRITTEN = [(1, OLD), (2, OLD), (3, ADDED), (4, WIDE), (5, OLD)]


def _order(number: int, schema: dict[str, Any]) -> dict[str, Any]:
    values = {
        "id": number,
        "name": "n",
        "gone": "g",
        "city": "Ulm",
        "items": [{"sku": "a"}, {"sku": "b"}],
        "counts": {"x": 1 << 40},
        "choice": "text" if number % 2 else number,
    }
    return {field["name"]: values[field["name"]] for field in schema["fields"]}


@pytest.fixture
def orders(topic: MakeTopic, bootstrap: str, registry_url: str) -> str:
    """A topic in which a field is added, one removed, and one widened; then an old writer comes back."""
    name, registry = topic(), SchemaRegistryClient({"url": registry_url})
    context = SerializationContext(name, MessageField.VALUE)
    produce(bootstrap, name, [AvroSerializer(registry, json.dumps(s))(_order(n, s), context) for n, s in WRITTEN])
    return name


def _avro(orders: str, url: str, policy: str) -> Config:
    return {
        "name": unique("sink"),
        "topics": orders,
        "value.converter": "io.confluent.connect.avro.AvroConverter",
        "value.converter.schema.registry.url": url,
        SCHEMA_CHANGE: policy,
    }


def _tolerant(dead_letters: str) -> Config:
    return {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead_letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def _told(bootstrap: str, topic: str) -> list[tuple[int, str]]:
    """Offset and message of dead letters."""
    headers = [{name: value or b"" for name, value in record.headers or []} for record in read_all(bootstrap, topic)]
    prefix = "__connect.errors."
    return sorted((int(h[f"{prefix}offset"]), h[f"{prefix}exception.message"].decode()) for h in headers)


class TestTables:
    @pytest.fixture
    def config(self, orders: str, registry_url: str, each_database: Database) -> Callable[..., Config]:
        def of(policy: str, **more: str) -> Config:
            return {
                **_avro(orders, registry_url, policy),
                "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
                "table.name.format": "orders",
                "auto.create": "true",
                "kconnect.jdbc.nested.fields": "json",
                **each_database.config,
                **more,
            }

        return of

    def test_evolve(self, config: Callable[..., Config], each_database: Database, run_here: Run) -> None:
        report = run_here(config("evolve"))
        assert each_database.execute("SELECT id, name, gone, city FROM orders ORDER BY id") == [
            (1, "n", "g", "?"),
            (2, "n", "g", "?"),
            (3, "n", "g", "Ulm"),
            (4, "n", None, "Ulm"),
            (5, "n", "g", "?"),
        ]
        assert (report.records["written"], report.warnings) == (5, [])

    @pytest.mark.exhaustive
    def test_ignore(self, config: Callable[..., Config], each_database: Database, run_here: Run) -> None:
        report = run_here(config("ignore"))
        found = each_database.execute("SELECT id, name, gone, items, counts, choice FROM orders ORDER BY id")
        assert [row[:3] for row in found] == [(n, "n", None if n == 4 else "g") for n in range(1, 6)]
        nested = [[json.loads(c) if isinstance(c, str) else c for c in row[3:]] for row in found[:2]]
        same = [[{"sku": "a"}, {"sku": "b"}], {"x": 1 << 40}]
        assert nested == [[*same, {"string": "text", "long": None}], [*same, {"string": None, "long": 2}]]
        (warning,) = report.warnings
        assert warning.startswith("table orders has no columns for the fields `city`")

    def test_fail_with_dead_letters(
        self, config: Callable[..., Config], each_database: Database, topic: MakeTopic, bootstrap: str, run_here: Run
    ) -> None:
        dead_letters = topic()
        report = run_here(config("fail", **_tolerant(dead_letters)))
        assert each_database.execute("SELECT id FROM orders ORDER BY id") == [(1,), (2,), (5,)]
        assert (report.records["written"], report.records["dead_lettered"]) == (3, 2)
        told = _told(bootstrap, dead_letters)
        assert [offset for offset, _ in told] == [2, 3]
        assert all("table orders has no columns for the fields `city`" in message for _, message in told)


@pytest.mark.exhaustive
def test_fail_ends_the_run_of_a_jdbc_sink(
    orders: str, registry_url: str, postgres: PostgresServer, run_here: Run
) -> None:
    database = postgres.create_database()
    config = {
        **_avro(orders, registry_url, "fail"),
        "connector.class": "JdbcSink",
        "table.name.format": "orders",
        "auto.create": "true",
        "kconnect.jdbc.nested.fields": "columns",
        **database.config,
    }
    with pytest.raises(DataError, match=rf"{orders}-0@2: connector .*table orders has no columns for .*`city`"):
        run_here(config)


class TestFiles:
    @pytest.fixture(params=["parquet", pytest.param("json", marks=pytest.mark.exhaustive)])
    def config(self, request: Any, orders: str, registry_url: str, tmp_path: Path) -> Callable[..., Config]:
        def of(policy: str, **more: str) -> Config:
            own = {"connector.class": "DirectorySink", "directory": str(tmp_path / "lake"), "format": request.param}
            return {**_avro(orders, registry_url, policy), **own, **more}

        return of

    @pytest.mark.exhaustive
    def test_evolve(self, config: Callable[..., Config], run_here: Run) -> None:
        run_here(used := config("evolve"))
        assert [(row["id"], row.get("city")) for row in _rows(used)] == [
            (1, None), (2, None), (3, "Ulm"), (4, "Ulm"), (5, None),
        ]  # fmt: skip

    def test_ignore(self, config: Callable[..., Config], run_here: Run) -> None:
        report = run_here(used := config("ignore"))
        rows = _rows(used)
        assert [row["id"] for row in rows] == [1, 2, 3, 4, 5]
        assert all("city" not in row for row in rows)
        choice = {"string": "text", "long": None}
        assert rows[0] == {**_order(1, OLD), "choice": choice, "counts": rows[0]["counts"]}
        assert dict(rows[0]["counts"]) == {"x": 1 << 40}
        (warning,) = report.warnings
        assert "have no fields `city`" in warning

    def test_fail(self, config: Callable[..., Config], orders: str, run_here: Run) -> None:
        used = config("fail")
        with pytest.raises(DataError, match=rf"bad record at {orders}-0@2: .*`city` is new.*{used['name']} is fail"):
            run_here(used)
        assert [row["id"] for row in _rows(used)] == [1, 2]

    @pytest.mark.exhaustive
    def test_fail_with_dead_letters(
        self, config: Callable[..., Config], topic: MakeTopic, bootstrap: str, run_here: Run
    ) -> None:
        dead_letters = topic()
        report = run_here(used := config("fail", **_tolerant(dead_letters)))
        assert [row["id"] for row in _rows(used)] == [1, 2, 5]
        assert report.records["dead_lettered"] == 2
        assert [offset for offset, _ in _told(bootstrap, dead_letters)] == [2, 3]


@pytest.mark.parametrize("format", ["parquet", pytest.param("json", marks=pytest.mark.exhaustive)])
def test_topics_have_fields_of_their_own(
    topic: MakeTopic, bootstrap: str, tmp_path: Path, run_here: Run, format: str
) -> None:
    """Two topics whose fields of the same name differ in type, before and after a transformation."""
    left, right = topic(), topic()
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "directory": str(tmp_path / "lake"),
        "format": format,
        "topics": f"{left},{right}",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": ".*",
        "transforms.route.replacement": "same",
        SCHEMA_CHANGE: "ignore",
    }
    produce(bootstrap, left, [_json(x="int32"), _json(x="int32", new="string")])
    produce(bootstrap, right, [_json(x="string", y="string")])

    reports = [run_here(config)]
    produce(bootstrap, right, [_json(y="string", z="int32")])
    reports.append(run_here(config))

    rows = _rows(config)
    absent = {"x": None} if format == "parquet" else {}
    expected = [{"x": 1}, {"x": 1}, {"x": "v", "y": "v"}, {**absent, "y": "v"}]
    assert sorted(rows, key=str) == sorted(expected, key=str)
    assert [warning.split()[4] for report in reports for warning in report.warnings] == [left, right]


def _json(**fields: str) -> str:
    values = {"int32": 1, "string": "v"}
    schema = {"type": "struct", "fields": [{"field": name, "type": kind} for name, kind in fields.items()]}
    return json.dumps({"schema": schema, "payload": {name: values[kind] for name, kind in fields.items()}})


def _rows(config: Config) -> list[dict[str, Any]]:
    if config["format"] == "json":
        return lines(config)
    files = sorted(path for path in Path(config["directory"]).rglob("*.parquet") if not path.name.startswith("."))
    return [row for path in files for row in pq.read_table(path, partitioning=None).to_pylist()]
