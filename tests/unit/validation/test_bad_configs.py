"""Wrong configurations of the connectors that are installed: each error is at its key, on one line, and comes soon.

Rules that hold for any class are tested in `validation`, with classes made for it.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.worker_config.keys import WorkerConfig

WORKER = {"bootstrap.servers": "localhost:9092"}
SOURCE = {"name": "s", "connector.class": "FileStreamSource", "file": "/in.txt", "topic": "t"}
SINK = {"name": "k", "connector.class": "DirectorySink", "directory": "/out", "topics": "t"}
PATTERN = {"name": "k", "connector.class": "DirectorySink", "directory": "/out"}
JSON = {"value.converter": "JsonConverter"}
ROUTER = {"transforms": "a", "transforms.a.type": "RegexRouter", "transforms.a.regex": "t"}
ROUTED = {**ROUTER, "transforms.a.replacement": "x"}
DEAD = "errors.deadletterqueue.topic.name"
CREATION = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
CATASTROPHIC = "(a+)+(.*)(.*)(.*)(.*)(.*)$"
LONG = "a" * 248 + "-"


def errors_of(config: dict[str, Any], worker: dict[str, str] = WORKER) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        validate_connector(config, worker=WorkerConfig.from_props(worker))
    return caught.value.errors


def filtered(predicate: dict[str, str]) -> dict[str, str]:
    """A source with a filter for what `predicates.p` is true for."""
    drop = {"transforms": "f", "transforms.f.type": "Filter", "transforms.f.predicate": "p", "predicates": "p"}
    return {**SOURCE, **drop, **predicate}


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    ("config", "key", "text"),
    [
        pytest.param({**SOURCE, "name": "a\x00b"}, "name", "control sequences .*: 0", id="4 NUL in the name"),
        pytest.param({**SOURCE, "name": "\ud800"}, "name", "half of a surrogate pair", id="4 half a character"),
        pytest.param({**SOURCE, "file": "/\udfff"}, "file", "half of a surrogate pair", id="25 half a character"),
        pytest.param({**SOURCE, "connector.class": ""}, "connector.class", "FileStreamSource", id="7 empty class"),
        pytest.param({**SOURCE, "connector.class": "Filter"}, "connector.class", "Failed to find", id="7 no connector"),
        pytest.param({**SOURCE, "tasks.max": True}, "tasks.max", "value true .* Not a number", id="8 boolean"),
        pytest.param({**SOURCE, DEAD: "t"}, DEAD, "writes good records to", id="10 source"),
        pytest.param(filtered({"predicates.p.type": "Filter"}), "predicates.p.type", "could not be found",
                     id="12 a transformation as predicate"),
        pytest.param({**SOURCE, "value.converter": ""}, "value.converter", "could not be found", id="13 no class"),
        pytest.param({**SOURCE, "value.converter": "Filter"}, "value.converter", "could not be found", id="13 type"),
        pytest.param({**SOURCE, **JSON, "value.converter.schemas.enable": "maybe"}, "value.converter.schemas.enable",
                     "either true or false", id="13 misconfigured"),
        pytest.param({**SOURCE, **JSON, "value.converter.schema.content": "{"}, "value.converter.schema.content",
                     "Unable to parse the schema", id="13 throws in its constructor"),
        pytest.param({**SOURCE, "errors.retry.timeout": "-2"}, "errors.retry.timeout", "at least -1", id="14 timeout"),
        pytest.param({**SOURCE, "errors.retry.delay.max.ms": "-1"}, "errors.retry.delay.max.ms", "at least 0",
                     id="14 delay"),
        pytest.param({**SOURCE, **ROUTED, "transforms.a.regex": "(" * 1_000_000}, "transforms.a.regex", "Invalid regex",
                     id="21 value of a megabyte"),
        pytest.param({**SINK, "topics": "t,.."}, "topics", "'..' is not allowed", id="23 topic that cannot be"),
        pytest.param({**PATTERN, "topics.regex": "(["}, "topics.regex", "regex: .* at position 1", id="24 regex"),
        pytest.param({**PATTERN, "topics.regex": "a{"}, "topics.regex", "not begin a repetition", id="24 as in Java"),
        pytest.param({**PATTERN, "topics.regex": "(" * 9_000}, "topics.regex", "nested too deeply", id="24 deep"),
        pytest.param({**PATTERN, "topics.regex": CATASTROPHIC, DEAD: LONG[1:]}, "topics.regex", "matched by",
                     id="24 matches"),
        pytest.param({**SOURCE, **ROUTED, "transforms.a.replacement": "$1"}, "transforms.a.replacement", "No group 1",
                     id="24 replacement"),
        pytest.param(filtered({"predicates.p.type": "TopicNameMatches", "predicates.p.pattern": "(["}),
                     "predicates.p.pattern", "Invalid regex", id="24 predicate"),
        pytest.param({**SOURCE, **ROUTED, "transforms.a.regex": CATASTROPHIC}, "transforms.a.regex", "forever",
                     id="24 that Java matches forever"),
        pytest.param(filtered({"predicates.p.type": "TopicNameMatches", "predicates.p.pattern": CATASTROPHIC}),
                     "predicates.p.pattern", "forever", id="24 predicate that Java matches forever"),
    ],
)  # fmt: skip
def test_is_refused_at_its_key(config: dict[str, Any], key: str, text: str) -> None:
    errors = errors_of(config)
    assert re.search(text, errors[key][0])
    assert all("\n" not in message or "\n" in str(config.get(name)) for name in errors for message in errors[name])


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "config",
    [
        pytest.param({**PATTERN, "topics.regex": CATASTROPHIC + "!", DEAD: LONG}, id="topics.regex"),
        pytest.param(
            {**SOURCE, **CREATION, "topic.creation.groups": "g", "topic.creation.g.include": CATASTROPHIC},
            id="topic.creation",
        ),
        pytest.param({**SOURCE, "file": "/" + "x" * 5_000_000}, id="21 5 MB"),
        pytest.param({**SOURCE, **{f"key-{n}": "v" for n in range(10_000)}}, id="21 10 000 keys"),
        pytest.param({**SOURCE, "name": "a/b?c#d%2F é" * 20}, id="5 unusual name"),
        pytest.param({**SOURCE, "tasks.max": 10**9}, id="8 many tasks"),
        pytest.param({**PATTERN, "topics.regex": r"\Qorders.\E\p{L}+[\w&&[^_]]*"}, id="24 syntax that only Java has"),
    ],
)
def test_is_accepted_in_no_time(config: dict[str, Any]) -> None:
    assert validate_connector(config, worker=WorkerConfig.from_props(WORKER))


def test_all_errors_come_at_once() -> None:
    config = {"connector.class": "Nope", "tasks.max": "0", "value.converter": "Nope", "transforms": "x", "a": None}
    assert errors_of(config).keys() == {
        "name", "connector.class", "tasks.max", "value.converter", "transforms.x.type", "a"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "text"),
    [
        pytest.param("tasks.mx", "did you mean `tasks.max`", id="26 slip of the pen"),
        pytest.param("value.converter.schemas.enable", "only together with `value.converter`", id="26 no converter"),
    ],
)
def test_unknown_keys_are_warned_of(key: str, text: str) -> None:
    (warning,) = validate_connector({**SOURCE, key: "true"}).warnings
    assert text in warning


def test_a_transaction_must_be_longer_than_its_parts() -> None:
    config = validate_connector({**SOURCE, "transaction.boundary.interval.ms": "900000"})
    with pytest.raises(ConfigError, match=r"900000 ms is too near to .* 60000 ms"):
        run_settings(config, WorkerConfig.from_props({**WORKER, "exactly.once.source.support": "enabled"}), "run")


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    ("value", "resolved"),
    [
        pytest.param("${env:PATH", "${env:PATH", id="20 not closed"),
        pytest.param("${a:b:c:d}", "${a:b:c:d}", id="20 unknown provider"),
        pytest.param("${env:PATH" * 10_000, "${env:PATH" * 10_000, id="20 many"),
    ],
)
def test_what_is_not_a_variable_stays(value: str, resolved: str) -> None:
    assert ConfigResolver.from_worker({}).resolve({"name": "n", "x": value})["x"] == resolved


@pytest.mark.parametrize("path", ["/dev/zero", "/tmp", "/no/such/file"])
def test_a_variable_without_value_is_named(path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ConfigResolver.from_worker({}).resolve({"name": "n", "x": f"${{file:{path}:key}}"})
    assert caught.value.errors.keys() == {"x"}
    assert f"variable ${{file:{path}:key}}" in caught.value.errors["x"][0]
