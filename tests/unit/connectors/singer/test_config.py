"""The configuration of a tap's connector: what is refused before anything is run, and what the tap is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.singer.settings import settings_of
from airflow_kconnect.connectors.singer.source import SingerSourceConnector
from airflow_kconnect.validation.connector import inspect_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connectors.taps import Tap


def problems(**keys: str) -> dict[str, list[str]]:
    return SingerSourceConnector.validate(keys)


def forbidden(allowed: str, **keys: str) -> dict[str, list[str]]:
    worker = WorkerConfig.from_props({"bootstrap.servers": "b:9092", "kconnect.singer.taps.allowed": allowed})
    return SingerSourceConnector.forbidden(keys, worker)


@pytest.mark.parametrize(
    ("keys", "key", "text"),
    [
        ({}, "singer.tap", "exactly one of singer.tap and singer.command must be set"),
        ({"singer.tap": "t", "singer.command": "/t"}, "singer.tap", "exactly one of"),
        ({"singer.command": "tap"}, "singer.command", "`tap` is not an absolute path"),
        ({"singer.tap": "-r file"}, "singer.tap", "`-r file` is not a requirement such as"),
        ({"singer.tap": "t", "singer.requirements": "a, b c"}, "singer.requirements", "`b c` is not a requirement"),
        ({"singer.tap": "t", "singer.executable": "../x"}, "singer.executable", "`../x` is a path: name a program"),
        ({"singer.tap": "t", "singer.executable": "/bin/x"}, "singer.executable", "`/bin/x` is a path: name a program"),
        ({"singer.tap": "t", "singer.config.file": "c.json"}, "singer.config.file", "is not the absolute path"),
        ({"singer.tap": "t", "singer.catalog": "{secret"}, "singer.catalog", "is not JSON at line 1, column 2"),
        ({"singer.tap": "t", "singer.catalog": "c.json"}, "singer.catalog", "is neither `discover`, `none`, JSON, nor"),
        (
            {"singer.tap": "t", "singer.hints.a": '{"key": 1}'},
            "singer.hints.a",
            "does not know key, only replication_method",
        ),
    ],
)
def test_what_cannot_work_is_refused(keys: dict[str, str], key: str, text: str) -> None:
    assert text in " ".join(problems(**keys)[key])


@pytest.mark.parametrize(
    ("allowed", "keys"),
    [
        ("tap-github", {"singer.tap": "Tap_GitHub==4.0.0"}),
        ("*", {"singer.tap": "tap-github", "singer.requirements": "anything"}),
        ("tap-github,psycopg", {"singer.tap": "tap-github", "singer.requirements": "psycopg>=3"}),
        ("/opt/tap", {"singer.command": "/opt/tap"}),
        ("tap-x @ file:///x.whl", {"singer.tap": "tap-x @ file:///x.whl"}),
    ],
)
def test_a_tap_that_the_worker_names_is_allowed(allowed: str, keys: dict[str, str]) -> None:
    assert forbidden(allowed, **keys) == {}


@pytest.mark.parametrize(
    ("allowed", "keys", "key", "cure"),
    [
        ("", {"singer.tap": "tap-github==4.0.0"}, "singer.tap", "add tap-github"),
        ("tap-x", {"singer.tap": "tap-x @ https://evil/x.whl"}, "singer.tap", "add tap-x @ https://evil/x.whl"),
        ("tap-x", {"singer.tap": "tap-x", "singer.requirements": "more"}, "singer.requirements", "add more"),
        ("tap-x", {"singer.command": "/bin/sh"}, "singer.command", "`kconnect.singer.taps.allowed` does not name it"),
    ],
)
def test_another_one_is_not_and_the_error_says_what_to_add(
    allowed: str, keys: dict[str, str], key: str, cure: str
) -> None:
    assert cure in forbidden(allowed, **keys)[key][0]


def config_of(**keys: str) -> dict[str, Any]:
    return settings_of({"singer.command": "/tap", **keys}).program_config()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("start", "2026-01-01", "2026-01-01"),
        ("size", "10", 10),
        ("on", "true", True),
        ("names", '["a"]', ["a"]),
        ("password", "12345678", "12345678"),
        ("token", '{"id": 1}', {"id": 1}),
        ("code", '"10"', "10"),
    ],
)
def test_values_that_are_json_are_read_as_such_and_secrets_stay_texts(name: str, text: str, value: object) -> None:
    assert config_of(**{f"singer.config.{name}": text}) == {name: value}


def test_a_member_that_resembles_a_key_of_the_connector_is_no_misspelling() -> None:
    props = {"name": "s", "connector.class": "SingerSource", "singer.tap": "tap-x", "singer.config.files": "[]"}
    assert inspect_connector(props).warnings == []


def test_keys_replace_members_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a": 1, "b": 2}')
    assert config_of(**{"singer.config.file": str(path), "singer.config.b": "3"}) == {"a": 1, "b": 3}


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"`singer\.config\.file`: the file cannot be read here"):
        config_of(**{"singer.config.file": "/none.json"})


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [("*", ["a-x", "a-y", "b"]), ("a-*", ["a-x", "a-y"]), ("a-*,!a-y", ["a-x"]), ("!b", ["a-x", "a-y"])],
)
def test_streams_are_chosen_by_patterns(patterns: str, wanted: list[str]) -> None:
    settings = settings_of({"singer.command": "/tap", "singer.streams": patterns})
    assert [stream for stream in ("a-x", "a-y", "b") if settings.wants(stream)] == wanted


def test_a_stream_that_the_tap_does_not_have_is_named_with_those_that_it_has(tmp_path: Path) -> None:
    props = {**Tap(tmp_path).props(), "singer.streams": "orders", "singer.hints.none": "{}"}
    with pytest.raises(ConfigError) as error:
        SingerSourceConnector(props).check()
    assert error.value.errors == {
        "singer.streams": ["no stream has such a name; tap-numbers has numbers, other"],
        "singer.hints.none": ["tap-numbers has no such stream; it has numbers, other"],
    }


def test_streams_of_the_same_name_are_named_with_their_ids(tmp_path: Path) -> None:
    tables = [{"stream": "orders", "tap_stream_id": f"{schema}-orders", "schema": {}} for schema in ("a", "b")]
    props = {**Tap(tmp_path).props(), "singer.catalog": json.dumps({"streams": tables}), "singer.streams": "!orders"}
    with pytest.raises(ConfigError, match=r"tap-numbers has orders \(a-orders\), orders \(b-orders\)"):
        SingerSourceConnector(props).check()


TWINS = '{"streams": [{"stream": "sales orders", "schema": {}}, {"stream": "sales_orders", "schema": {}}]}'


def test_streams_that_would_share_a_topic_are_both_named() -> None:
    catalog = {"singer.catalog": TWINS}
    with pytest.raises(ConfigError) as error:
        SingerSourceConnector({"singer.command": "/tap", "topic.prefix": "crm.", **catalog}).check()
    assert error.value.errors["singer.streams"] == [
        "streams `sales orders` and `sales_orders` would both go to topic crm.sales_orders: leave one of them out, and "
        "read it by another connector, with another `topic.prefix`"
    ]


def test_a_stream_that_is_left_out_shares_no_topic() -> None:
    catalog = {"singer.catalog": TWINS, "singer.streams": "!sales_orders"}
    SingerSourceConnector({"singer.command": "/tap", **catalog}).check()


def test_hints_are_where_taps_of_all_ages_look_for_them(tmp_path: Path) -> None:
    hints = {"replication_method": "INCREMENTAL", "replication_key": "n", "key_properties": ["text"]}
    connector = SingerSourceConnector({**Tap(tmp_path).props(), "singer.hints.numbers": json.dumps(hints)})
    stream = json.loads(connector.task_configs(1)[0]["program.task.catalog"])["streams"][0]
    assert {name: stream[name] for name in hints} == hints
    assert stream["metadata"][0]["metadata"] == {
        "replication-method": "INCREMENTAL",
        "replication-key": "n",
        "table-key-properties": ["text"],
        "selected": True,
    }


def test_a_stream_that_is_read_as_a_whole_is_warned_of(tmp_path: Path) -> None:
    hints = {"singer.hints.numbers": '{"replication_method": "FULL_TABLE"}'}
    connector = SingerSourceConnector({**Tap(tmp_path).props(), **hints})
    connector.check()
    assert "stream numbers is read as a whole" in connector.run_warnings()[0]


@pytest.mark.parametrize(
    ("partition", "offset", "text"),
    [
        ({"tap": "t"}, {"state": '{"a": 1}'}, None),
        ({"tap": "t"}, {"state": "[1]"}, "`state` of t: is JSON, but not an object"),
        ({"tap": "t"}, {"page": 1}, "`state` of t: is missing, or not a text"),
        ({"tap": "t"}, {"state": "{}", "page": 1}, "`state` of t: is not all: an offset has nothing else, but `page`"),
        ({"file": "t"}, {"state": "{}"}, "is not of this connector: it needs `tap`"),
    ],
)
def test_an_offset_from_which_no_run_could_start_is_refused(
    partition: dict[str, str], offset: dict[str, Any], text: str | None
) -> None:
    if text is None:
        assert SingerSourceConnector.alter_offsets({}, [(partition, offset)])
        return
    with pytest.raises(ConfigError, match="offsets") as error:
        SingerSourceConnector.alter_offsets({}, [(partition, offset)])
    assert text in str(error.value)
