"""Configurations of connect-spooldir: what is wrong with them, and what they mean for the files source."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.record_files.config import AS_TEXT, GIVEN, STRINGS, Dialect
from airflow_kconnect.connectors.spooldir.source import (
    SpoolDirAvroSourceConnector,
    SpoolDirCsvSourceConnector,
    SpoolDirJsonSourceConnector,
    SpoolDirLineDelimitedSourceConnector,
    SpoolDirSchemaLessJsonSourceConnector,
    SpoolDirSourceConnector,
)
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.validation.connector import inspect_connector
from tests.unit.connectors.spooldir.conftest import PACKAGE, SCHEMAS, TIMESTAMP, plain, schema

LEAST = {
    "input.path": "/data/in",
    "finished.path": "/data/done",
    "error.path": "/data/bad",
    "input.file.pattern": r"orders-\d+\.csv",
    "topic": "orders",
}
GENERATED = {"schema.generation.enabled": "true"}
CLASSES = (
    SpoolDirAvroSourceConnector,
    SpoolDirCsvSourceConnector,
    SpoolDirJsonSourceConnector,
    SpoolDirLineDelimitedSourceConnector,
    SpoolDirSchemaLessJsonSourceConnector,
)


def problems(class_: type[SpoolDirSourceConnector] = SpoolDirCsvSourceConnector, **props: str) -> dict[str, list[str]]:
    return class_.validate(LEAST | SCHEMAS | {name.replace("__", "."): text for name, text in props.items()})


@pytest.mark.parametrize("class_", CLASSES)
def test_classes_are_known_by_their_java_names(class_: type[SpoolDirSourceConnector]) -> None:
    assert registry().connector(f"{PACKAGE}.{class_.__name__}") is class_


@pytest.mark.parametrize("class_", CLASSES)
def test_least_configuration(class_: type[SpoolDirSourceConnector]) -> None:
    assert problems(class_) == {}


def test_required_keys_are_named_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        SpoolDirLineDelimitedSourceConnector.config().parse({})
    assert sorted(raised.value.errors) == ["error.path", "input.file.pattern", "input.path", "topic"]


def test_what_is_missing_does_not_hide_other_errors() -> None:
    inspection = inspect_connector({"name": "x", "connector.class": "SpoolDirCsvSource", "tasks.max": "many"})
    assert {"input.file.pattern", "input.path", "tasks.max"} <= set(inspection.errors)


def test_schemas_are_needed_unless_they_are_made() -> None:
    assert sorted(SpoolDirCsvSourceConnector.validate(LEAST)) == ["key.schema", "value.schema"]
    assert SpoolDirCsvSourceConnector.validate(LEAST | GENERATED) == {}
    assert [*SpoolDirJsonSourceConnector.validate(LEAST | GENERATED)] == ["schema.generation.enabled"]


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("value.schema", "{", "is not JSON"),
        ("value.schema", '{"type": "STRING"}', '"type": "STRUCT"'),
        ("value.schema", schema(id=plain("INT64"), at=plain("MAP")), "`at` of type MAP"),
        ("value.schema", schema(id={"type": "INT64", "defaultValue": 1}), "'defaultValue' in `id`"),
        ("value.schema", schema(id={"type": "BYTES", "name": "org.apache.kafka.connect.data.Decimal"}), "scale"),
        ("value.schema", schema(id={"type": "INT32", "name": "org.apache.kafka.connect.data.Time"}), "data.Time"),
        ("key.schema", schema(other=plain("INT64")), "which is not in `value.schema`: add it there"),
        ("key.schema", schema(id=plain("STRING")), "another type"),
        ("key.schema", schema(name=plain("STRING", optional=False)), "which may be null"),
        ("parser.timestamp.date.formats", "dd.MM.yyyy", "TimestampConverter"),
        ("parser.timestamp.timezone", "Europe/Berlin", "in UTC"),
        ("csv.null.field.indicator", "EMPTY_QUOTES", "kconnect.hosted=true"),
        ("halt.on.error", "false", "errors.tolerance=all"),
        ("finished.path", "/data", "must not be `input.path`"),
        ("finished.path", "", "`cleanup.policy` is MOVE"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_an_error_of_its_key(key: str, text: str, says: str) -> None:
    found = SpoolDirCsvSourceConnector.validate(LEAST | SCHEMAS | {key: text})
    assert [*found] == [key]
    assert says in found[key][0]


def test_a_schema_without_fields_makes_no_values_but_says_that_there_are_no_keys() -> None:
    assert problems(key__schema=schema()) == {}
    assert problems(key__schema=schema(), value__schema=schema())["value.schema"] == [
        "has no fields: nothing would be read"
    ]


@pytest.mark.parametrize("key", ["csv.strict.quotes", "csv.ignore.quotations", "csv.keep.carriage.return"])
def test_a_way_of_quoting_that_is_not_supported_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=r"kconnect\.hosted=true"):
        SpoolDirCsvSourceConnector.config().parse(LEAST | {key: "true"})


def test_a_time_from_a_field_needs_a_timestamp_that_is_required() -> None:
    mode: dict[str, Any] = {"timestamp__mode": "FIELD", "timestamp__field": "at"}
    assert [*problems(**mode)] == ["timestamp.field"]
    assert [*problems(SpoolDirLineDelimitedSourceConnector, **mode)] == ["timestamp.mode"]
    value = schema(id=plain("INT64", optional=False), at=TIMESTAMP)
    assert problems(**mode, value__schema=value) == {}


def test_a_folder_for_finished_files_is_not_needed_where_they_stay() -> None:
    assert problems(cleanup__policy="NONE") == {}
    assert problems(cleanup__policy="DELETE", finished__path="") == {}


def test_keys_without_effect_are_named() -> None:
    ignored = SpoolDirCsvSourceConnector.config().ignored({"batch.size": "5", "task.partitioner": "ByName"})
    assert [text for text in ignored if "batch.size" in text] == ignored != []


def test_rows_that_are_skipped_although_errors_should_halt_give_a_warning() -> None:
    props = LEAST | {"halt.on.error": "true", "errors.tolerance": "all"}
    assert "errors.tolerance" in SpoolDirLineDelimitedSourceConnector.warnings(props)[0]
    assert SpoolDirLineDelimitedSourceConnector.warnings(LEAST) == []


def test_defaults_of_csv_are_those_of_connect_spooldir() -> None:
    assert SpoolDirCsvSourceConnector(LEAST | SCHEMAS).settings().dialect == Dialect(
        separator=",", quote='"', escape="\\", header=False, null=None, names=("id", "name"), spaced_quotes=False,
        tabs_in_tsv=False,
    )  # fmt: skip


def test_characters_are_numbers() -> None:
    keys = {"csv.separator.char": "9", "csv.quote.char": "0", "csv.escape.char": "0", "csv.skip.lines": "2"}
    dialect = SpoolDirCsvSourceConnector(LEAST | SCHEMAS | keys).settings().dialect
    assert (dialect.separator, dialect.quote, dialect.escape, dialect.skipped) == ("\t", None, None, 2)


def test_types_are_those_of_the_schema() -> None:
    decimal = {"type": "BYTES", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "2"}}
    value = schema(id=plain("INT8"), rate=plain("FLOAT32"), at=TIMESTAMP, price=decimal)
    props = LEAST | {"value.schema": value, "key.schema": schema()}
    found = SpoolDirJsonSourceConnector(props).settings()
    assert found.types == (("id", "int8"), ("rate", "float32"), ("at", "timestamp"), ("price", "decimal(2)"))
    assert found.inference == GIVEN
    assert found.shaping.value is not None
    assert found.shaping.value.name == "shop.Order"
    assert found.shaping.key is None


def test_schemas_that_are_made_have_strings_and_names() -> None:
    found = SpoolDirCsvSourceConnector(LEAST | GENERATED | {"schema.generation.key.fields": "id"}).settings()
    assert found.inference == STRINGS
    assert found.shaping.name == "com.github.jcustenborder.kafka.connect.model.Value"
    assert found.shaping.key is not None
    assert [field.name for field in found.shaping.key.fields] == ["id"]


def test_schemas_that_are_both_given_are_used() -> None:
    assert problems(SpoolDirJsonSourceConnector, schema__generation__enabled="true") == {}
    found = SpoolDirCsvSourceConnector(LEAST | SCHEMAS | GENERATED).settings()
    assert found.types == (("id", "int64"), ("name", "string"))


def test_a_column_cannot_be_in_keys_twice() -> None:
    with pytest.raises(ConfigError, match="has id twice"):
        SpoolDirCsvSourceConnector.config().parse(LEAST | GENERATED | {"schema.generation.key.fields": "id,id"})


def test_json_without_schema_is_a_string() -> None:
    found = SpoolDirSchemaLessJsonSourceConnector(LEAST | {"file.charset": "ISO-8859-1"}).settings()
    assert (found.format, found.inference, found.charset) == ("json", AS_TEXT, "ISO-8859-1")
