"""The configuration of a dlt source: what is refused before anything is read, and how arguments are understood."""

from __future__ import annotations

import datetime
import json
from typing import Any, Literal

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.dlt.loading import argument_of
from airflow_kconnect.connectors.dlt.source import DltSourceConnector
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.validation.hidden import shown_as_known
from airflow_kconnect.worker_config.keys import WorkerConfig

SOURCES = "tests.support.connectors.dlt_sources"
BASE = {"name": "d", "connector.class": "airflow_kconnect.connectors.dlt.DltSourceConnector"}
ALLOWED = WorkerConfig.from_props({"bootstrap.servers": "b:9092", "kconnect.dlt.sources.allowed": SOURCES})


def errors(worker: WorkerConfig = ALLOWED, /, **keys: str) -> dict[str, list[str]]:
    """Of a configuration without Kafka, dlt or the source."""
    try:
        validate_connector({**BASE, **keys}, worker=worker)
    except ConfigError as error:
        return error.errors
    return {}


def error_of(**keys: str) -> str:
    """The first error that making the source finds."""
    connector = DltSourceConnector({"name": "d", **keys})
    with pytest.raises(ConfigError) as found:
        connector.check()
    (texts,) = found.value.errors.values()
    return f"{next(iter(found.value.errors))}: {texts[0]}"


@pytest.mark.parametrize(
    ("keys", "key", "text"),
    [
        ({}, "dlt.source", "exactly one of dlt.source and dlt.rest_api must be set"),
        ({"dlt.source": f"{SOURCES}:a", "dlt.rest_api": "{}"}, "dlt.source", "exactly one of"),
        ({"dlt.source": "shop"}, "dlt.source", "not of the form module:function"),
        ({"dlt.rest_api": "{secret"}, "dlt.rest_api", "is not JSON at line 1, column 2"),
        ({"dlt.rest_api": "[1]"}, "dlt.rest_api", "is neither JSON nor the absolute path of a file"),
        ({"dlt.rest_api": "{}", "dlt.args.a": "1"}, "dlt.args.a", "takes no arguments"),
        (
            {"dlt.source": f"{SOURCES}:a", "dlt.hints.a": '{"key": 1}'},
            "dlt.hints.a",
            "does not know key, only primary_key",
        ),
        ({"dlt.source": f"{SOURCES}:a", "dlt.resume.after": "x"}, "dlt.resume.after", "must be one of"),
    ],
)
def test_what_cannot_work_is_refused(keys: dict[str, str], key: str, text: str) -> None:
    assert text in " ".join(errors(**keys)[key])


@pytest.mark.parametrize("allowed", [SOURCES, f"{SOURCES}:shop", "*"])
def test_a_source_that_the_worker_names_is_allowed(allowed: str) -> None:
    worker = WorkerConfig.from_props({"bootstrap.servers": "b:9092", "kconnect.dlt.sources.allowed": allowed})
    assert errors(worker, **{"dlt.source": f"{SOURCES}:shop"}) == {}


def test_another_source_is_not_and_the_error_says_what_to_add() -> None:
    found = errors(WorkerConfig.defaults(), **{"dlt.source": f"{SOURCES}:shop"})["dlt.source"]
    assert found == [
        f"`{SOURCES}:shop` is not allowed: a source is code, and the worker's `kconnect.dlt.sources.allowed` does not "
        f"name it: add {SOURCES} or {SOURCES}:shop there"
    ]


def test_what_dlt_brings_along_needs_no_entry() -> None:
    assert errors(WorkerConfig.defaults(), **{"dlt.source": "dlt.sources.sql_database:sql_table"}) == {}


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"dlt.source": "no_such_module:f"}, "dlt.source: module no_such_module cannot be imported here"),
        ({"dlt.source": f"{SOURCES}:f"}, f"module {SOURCES} has no function or resource f of its own"),
        ({"dlt.source": f"{SOURCES}:Path"}, "has no function or resource Path of its own"),
        ({"dlt.source": f"{SOURCES}:timedelta"}, "has no function or resource timedelta of its own"),
        (
            {"dlt.source": f"{SOURCES}:nothing_of_dlt"},
            "returns int, and not a source or resources of dlt",
        ),
        ({"dlt.source": f"{SOURCES}:values", "dlt.args.x": "1"}, "dlt.args.x: "),
        ({"dlt.source": f"{SOURCES}:shop", "dlt.args.count_file": "/c"}, "arguments are missing: api_key; set"),
        (
            {"dlt.source": f"{SOURCES}:values", "dlt.resources": "order"},
            "dlt.resources: the source has no resource order; it has values",
        ),
        (
            {"dlt.source": f"{SOURCES}:values", "dlt.hints.order": "{}"},
            "dlt.hints.order: the source has no resource order; it has values",
        ),
        ({"dlt.rest_api": "/no/such/file"}, "dlt.rest_api: the file cannot be read here"),
        ({"dlt.rest_api": '{"client": {}, "resources": []}'}, "dlt.rest_api: rest_api returns no resources"),
    ],
)
def test_a_source_that_cannot_be_made_is_an_error_of_its_key(keys: dict[str, str], text: str) -> None:
    assert text in error_of(**keys)


@pytest.mark.parametrize(
    ("function", "hints", "expected"),
    [
        ("whole", "{}", ["doubled: resource whole replaces its table"]),
        ("values", "{}", []),
        ("values", '{"write_disposition": "merge"}', ["configuration: resource values merges rows"]),
        ("values", '{"write_disposition": "merge", "primary_key": "id"}', []),
    ],
)
def test_a_report_warns_of_what_a_topic_cannot_do(function: str, hints: str, expected: list[str]) -> None:
    own = {"dlt.source": f"{SOURCES}:{function}", f"dlt.hints.{function}": hints}
    arguments = {"dlt.args.count_file": "/c"} if function == "whole" else {}
    found = DltSourceConnector({"name": "d", **own, **arguments}).run_warnings()
    assert [f"{warning.kind}: {warning}".partition(" in dlt")[0] for warning in found] == expected


@pytest.mark.parametrize("value", ["hush", {"type": "bearer", "tokn": "hush"}, "two\nlines` with type `hush"], ids=str)
def test_an_error_of_dlt_does_not_quote_the_configuration(value: Any) -> None:
    api = {"client": {"base_url": "http://127.0.0.1:1/", "auth": value}, "resources": ["a"]}
    with pytest.raises(ConfigError) as error:
        DltSourceConnector({"name": "d", "dlt.rest_api": json.dumps(api)}).check()
    assert "hush" not in str(error.value)
    assert "field `auth` expects" in str(error.value)


def test_secrets_are_not_shown() -> None:
    keys = {
        "dlt.source": "dlt.sources.sql_database:sql_table",
        "dlt.args.credentials": "postgresql://u:hush@h/d",
        "dlt.args.api_key": "hush",
        "dlt.rest_api": '{"client": {"auth": {"type": "bearer", "token": "hush"}}}',
    }
    assert "hush" not in str(shown_as_known({**BASE, **keys}))
    assert "hush" not in repr(DltSourceConnector)


@pytest.mark.parametrize(
    ("text", "annotation", "expected"),
    [
        ("12", str, "12"),
        ("12", int, 12),
        ("12", None, 12),
        ("a b", None, "a b"),
        ("true", bool, True),
        ('["a", "b"]', list[str] | None, ["a", "b"]),
        ('{"a": 1}', dict[str, Any] | str, {"a": 1}),
        ("postgresql://h/d", dict[str, Any] | str, "postgresql://h/d"),
        ("full", Literal["full", "minimal"], "full"),
        ("2026-01-02T03:04:05+00:00", datetime.datetime, datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)),
        ("2026-01-02", datetime.date | None, datetime.date(2026, 1, 2)),
    ],
)
def test_arguments_are_read_by_their_annotations(text: str, annotation: Any, expected: Any) -> None:
    assert argument_of(text, annotation, "dlt.args.a") == expected


def test_a_cursor_is_an_object() -> None:
    import dlt

    wanted = dlt.sources.incremental[Any] | None
    found = argument_of('{"cursor_path": "at", "row_order": "asc"}', wanted, "dlt.args.a")
    assert (found.cursor_path, found.row_order) == ("at", "asc")


def test_an_argument_of_another_type_is_an_error_without_its_text() -> None:
    with pytest.raises(ConfigError, match="cannot be read as int") as found:
        argument_of("hush", int, "dlt.args.a")
    assert "hush" not in str(found.value)


@pytest.mark.parametrize(
    ("most", "expected"), [(1, [["ordered", "items"]]), (2, [["ordered"], ["items"]]), (9, [["ordered"], ["items"]])]
)
def test_resources_are_shared_by_the_tasks(most: int, expected: list[list[str]]) -> None:
    connector = DltSourceConnector({"name": "d", "dlt.source": f"{SOURCES}:shop", "dlt.args.count_file": "/c",
                                    "dlt.args.api_key": "k"})  # fmt: skip
    found = [json.loads(config["dlt.task.resources"]) for config in connector.task_configs(most)]
    assert found == expected
