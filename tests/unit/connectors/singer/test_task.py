"""The task of a tap: which records have an offset, how it resumes, and what it makes of a tap that fails."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.connector.task import NewShapes
from airflow_kconnect.connect.data import INT64_SCHEMA
from airflow_kconnect.connect.errors import ConfigError, DataError, NextRunError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.programs import running as running_programs
from airflow_kconnect.connectors.programs import transactions
from airflow_kconnect.connectors.singer.source import SingerSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.connectors import tasks
from tests.support.connectors.taps import Tap
from tests.support.connectors.tasks import polls
from tests.support.kafka import eventually
from tests.support.spark.jobs import command_of, is_running

PARTITION = {"tap": "tap-numbers"}


@pytest.fixture
def tap(tmp_path: Path) -> Tap:
    return Tap(tmp_path, count=23)


def started(props: dict[str, str], state: str | None = None, facts: Sequence[dict[str, Any]] = ()) -> Any:
    offsets: dict[str, Offset] = {} if state is None else {partition_identity(PARTITION): {"state": state}}
    return tasks.started(SingerSourceConnector({"name": "s", **props}), offsets, facts)


def read(props: dict[str, str], state: str | None = None) -> list[SourceRecord]:
    return list(polls(started(props, state)))


def numbers(records: list[SourceRecord]) -> list[int]:
    return [record.value["n"] for record in records]


def running(tap: Tap) -> list[psutil.Process]:
    """The processes of the tap, and its leash."""
    children = psutil.Process().children(recursive=True)
    return [each for each in children if str(tap.command) in command_of(each)]


def states(records: list[SourceRecord]) -> dict[int, str]:
    """The state of each record that has one."""
    return {record.value["n"]: str(record.source_offset["state"]) for record in records if record.source_offset}


def saying(folder: Path, *messages: dict[str, Any], catalog: str = "none") -> dict[str, str]:
    """The configuration of a tap that writes these messages, and no others."""
    command = folder / "tap-saying"
    command.write_text(f"#!{sys.executable}\nprint({chr(10).join(map(json.dumps, messages))!r})\n")
    command.chmod(0o755)
    return {"singer.command": str(command), "singer.catalog": catalog}


def test_the_last_record_before_a_state_has_it_as_its_offset(tap: Tap) -> None:
    found = states(read(tap.props(size=10)))
    assert found == {9: '{"next":10}', 19: '{"next":20}', 22: '{"next":23}'}


def test_a_second_run_reads_what_is_new(tap: Tap) -> None:
    first = read(tap.props())
    tap.grow(30)
    second = read(tap.props(), states(first)[22])
    assert (numbers(first), numbers(second)) == (list(range(23)), list(range(23, 30)))


def test_a_run_that_ends_at_any_offset_is_resumed_without_gap_or_doubles(tap: Tap) -> None:
    for n, state in states(read(tap.props(size=10))).items():
        assert numbers(read(tap.props(), state)) == list(range(n + 1, 23))


def test_a_state_that_says_nothing_new_is_no_offset(tap: Tap) -> None:
    records = read(tap.props(size=5, static_state=True))
    assert states(records) == {22: '{"bookmarks":{"n":{}}}'}


def test_each_state_is_an_offset_if_the_user_wants_it(tap: Tap) -> None:
    records = read({**tap.props(size=10, static_state=True), "singer.resume.after": "state"})
    assert sorted(states(records)) == [9, 19, 22]


def test_a_state_that_is_not_resumable_by_its_own_words_is_no_offset(tap: Tap) -> None:
    records = read(tap.props(size=10, progress_markers=True))
    assert states(records) == {22: '{"next":23}'}


def test_all_of_a_run_is_one_transaction_if_the_user_wants_it(tap: Tap) -> None:
    records = read({**tap.props(size=10), "singer.resume.after": "run"})
    assert states(records) == {22: '{"next":23}'}


def test_a_tap_without_states_has_an_offset_at_its_end(tap: Tap) -> None:
    assert states(read(tap.props(size=0))) == {22: "{}"}


def test_streams_that_share_a_topic_end_the_run_where_no_catalog_has_told_of_them(tmp_path: Path) -> None:
    schemas: list[dict[str, Any]] = [
        {"type": "SCHEMA", "stream": name, "schema": {}, "key_properties": []} for name in ("a b", "a_b")
    ]
    with pytest.raises(ConfigError, match=r"streams `a b` and `a_b` would both go to topic a_b"):
        read(saying(tmp_path, *schemas))


def test_records_have_the_schema_the_key_and_the_time_that_the_tap_tells(tap: Tap) -> None:
    record = read({**tap.props(at="2026-01-01T00:00:00Z"), "topic.prefix": "shop."})[3]
    assert record.value_schema is not None
    assert record.key_schema is not None
    assert (record.topic, record.key, record.timestamp) == ("shop.numbers", {"n": 3}, 1767225600000)
    assert record.key_schema.fields[0].schema == INT64_SCHEMA
    assert [field.name for field in record.value_schema.fields] == ["n", "text"]


def test_without_schemas_records_are_what_the_tap_has_written(tap: Tap) -> None:
    record = read({**tap.props(), "singer.schemas": "none"})[3]
    assert (record.value, record.value_schema) == ({"n": 3, "text": "number 3"}, None)


def test_numbers_of_a_stream_without_a_schema_are_json_next_to_decimals_of_another_one(tmp_path: Path) -> None:
    price = {"type": "object", "properties": {"price": {"type": "number", "multipleOf": 0.01}}}
    props = saying(
        tmp_path,
        {"type": "SCHEMA", "stream": "prices", "schema": price, "key_properties": []},
        {"type": "SCHEMA", "stream": "free", "schema": {}, "key_properties": ["n"]},
        {"type": "RECORD", "stream": "free", "record": {"n": 0.5, "all": [{"x": 1.5}]}},
    )
    with pytest.raises(NewShapes) as new:
        list(polls(started(props)))
    (record,) = polls(started(props, facts=[new.value.facts]))
    assert json.dumps([record.key, record.value]) == '[{"n": 0.5}, {"n": 0.5, "all": [{"x": 1.5}]}]'


def test_what_was_before_the_last_state_is_returned_before_a_tap_that_fails(tap: Tap) -> None:
    found: list[SourceRecord] = []
    with pytest.raises(RetriableError, match="has failed with exit code 1: the service does not answer"):
        found += polls(started(tap.props(size=10, events={"13": "exit"})))
    assert (numbers(found), states(found)) == (list(range(10)), {9: '{"next":10}'})


def test_what_a_tap_says_is_in_the_log_without_secrets(tap: Tap, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RetriableError) as error:
        read(tap.props(password="hush-hush", events={"3": "exit"}))
    log = capfd.readouterr().err
    assert "tap-numbers: the service does not answer; password=..." in log
    assert "hush-hush" not in str(error.value) + log


def test_a_poll_after_a_failure_doubles_nothing(tap: Tap) -> None:
    task = started(tap.props(size=5, events={"13": "exit"}))
    found: list[SourceRecord] = []
    with pytest.raises(RetriableError):
        while (records := task.poll()) is not None:  # a page may be empty
            found += records
    found += polls(task)
    assert numbers(found) == list(range(23))


def test_only_the_next_run_can_repair_what_was_returned_without_its_state(
    tap: Tap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "_RECORDS", 3)
    task = started(tap.props(size=20, events={"13": "exit"}))
    with pytest.raises(NextRunError):
        list(polls(task))


def test_a_large_transaction_does_not_wait_in_memory(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "_RECORDS", 3)
    records = read(tap.props(size=20))
    assert (numbers(records), sorted(states(records))) == (list(range(23)), [19, 22])


def test_a_line_that_is_no_message_ends_the_run(tap: Tap) -> None:
    with pytest.raises(DataError, match="tap-numbers has written a line that is not a message: it is not JSON"):
        read(tap.props(events={"3": "junk"}))


def test_a_tap_that_hangs_is_ended_with_all_that_it_has_started(tap: Tap) -> None:
    task = started({**tap.props(events={"3": "hang"}), "singer.idle.timeout.ms": "1000"})
    with pytest.raises(RetriableError, match="has written nothing for 1 s and was ended"):
        list(polls(task))
    assert running(tap) == []


def test_a_process_that_a_tap_has_left_is_ended_too(tap: Tap) -> None:
    task = started({**tap.props(events={"3": "leave-a-child"}), "singer.idle.timeout.ms": "1000"})
    with pytest.raises(RetriableError, match="has written nothing for 1 s and was ended"):
        list(polls(task))
    child = int(Path(f"{tap.count_file}.child").read_text())
    assert eventually(lambda: is_running(child), False) is False  # a killed process needs a core to end


@pytest.mark.parametrize("event", ["killed", "cut-off"])
def test_a_tap_that_a_signal_has_ended_is_named_with_it_even_in_the_middle_of_a_line(tap: Tap, event: str) -> None:
    with pytest.raises(RetriableError, match="was ended by signal 9"):
        read(tap.props(events={"3": event}))


def test_a_schema_that_changes_is_learned_before_its_records(tap: Tap) -> None:
    props = tap.props(size=5, events={"13": "schema-always"})
    task, found = started(props), list[SourceRecord]()
    with pytest.raises(NewShapes) as new:
        while (records := task.poll()) is not None:  # a page may be empty
            found += records
    task.stop()
    again = started(props, states(found)[numbers(found)[-1]], [new.value.facts])
    found += polls(again)
    assert numbers(found) == list(range(23))
    assert found[-1].value_schema is not None
    assert found[-1].value_schema.field("more") is not None


def test_its_files_are_private_and_removed(tap: Tap) -> None:
    read(tap.props(password="hush-hush"), '{"next":2}')
    seen = tap.seen()
    assert (seen["state"], seen["config"]["password"]) == ({"next": 2}, "hush-hush")
    assert not Path(seen["cwd"]).exists()
    assert seen["modes"] == {"catalog.json": "600", "config.json": "600", "state.json": "600"}
    assert "hush-hush" not in " ".join(seen["argv"])


OF_OTHERS = (
    "AIRFLOW__CORE__FERNET_KEY",
    "AIRFLOW_CONN_SHOP",
    "AIRFLOW_VAR_TOKEN",
    "PYSPARK_GATEWAY_SECRET",
    "PYTHON_WORKER_FACTORY_SECRET",
    "_SPARK_AUTH_SECRET",
    "_SPARK_SSL_RPC_KEY_PASSWORD",
    "SPARK_CONNECT_AUTHENTICATE_TOKEN",
    "SPARK_JAVA_OPT_0",
    "KCONNECT_SPARK_OPTIONS",
    "KCONNECT_DB_PASSWORD",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
)


def test_a_tap_inherits_what_finds_machine_and_clouds_but_nothing_of_airflow_spark_and_this_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = ("HTTPS_PROXY", "SSL_CERT_FILE", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "TZ")
    for name in (*OF_OTHERS, *needed):
        monkeypatch.setenv(name, "hush-hush")
    command = tmp_path / "tap-env"
    record = '{"type": "RECORD", "stream": "env", "record": dict(os.environ)}'
    schema = '{"type": "SCHEMA", "stream": "env", "schema": {}, "key_properties": []}'
    command.write_text(
        f"#!{sys.executable}\nimport json, os\nfor each in {schema}, {record}: print(json.dumps(each))\n"
    )
    command.chmod(0o755)
    (found,) = read({"singer.command": str(command), "singer.catalog": "none"})
    assert set(found.value) & {*OF_OTHERS, *needed, "PATH"} == {*needed, "PATH"}


def test_only_the_streams_that_are_wanted_are_selected(tap: Tap) -> None:
    read(tap.props())
    selected = {
        each["stream"]: each["metadata"][0]["metadata"]["selected"] for each in tap.seen()["catalog"]["streams"]
    }
    assert selected == {"numbers": True, "other": False}


def test_records_of_streams_that_are_not_wanted_are_left_out_without_a_catalog_too(tap: Tap) -> None:
    assert read({**tap.props(), "singer.catalog": "none", "singer.streams": "!numbers"}) == []


def two_tables(streams: str, **hints: Any) -> dict[str, str]:
    """The keys of a catalog with tables of two schemas, both called `numbers`."""
    tables = [{"stream": "numbers", "tap_stream_id": f"{schema}-numbers", "schema": {}} for schema in ("a", "b")]
    keys = {f"singer.hints.{name.replace('_', '-')}": json.dumps(hint) for name, hint in hints.items()}
    keys |= {"singer.catalog": json.dumps({"streams": tables}), "singer.schemas": "none"}
    return {"singer.streams": streams, **keys}


def selected(tap: Tap) -> dict[str, bool]:
    return {each["tap_stream_id"]: each["selected"] for each in tap.seen()["catalog"]["streams"]}


@pytest.mark.parametrize("streams", ["b-numbers", "b-*", "!a-numbers", "numbers,!a-*"])
def test_one_of_two_tables_of_the_same_name_is_read_by_its_id(tap: Tap, streams: str) -> None:
    records = read(tap.props() | two_tables(streams, b_numbers={"key_properties": ["text"]}))
    assert (selected(tap), len(records)) == ({"a-numbers": False, "b-numbers": True}, 23)
    assert {tuple(record.key) for record in records} == {("text",)}


def test_a_name_of_several_tables_selects_all_of_them_where_the_tap_tells_them_apart(tap: Tap) -> None:
    read(tap.props(stream="b-numbers") | two_tables("numbers"))
    assert selected(tap) == {"a-numbers": True, "b-numbers": True}


def test_tables_whose_records_have_the_same_name_are_not_mixed(tap: Tap) -> None:
    with pytest.raises(ConfigError) as error:
        read(tap.props() | two_tables("numbers"))
    assert error.value.errors["singer.streams"] == [
        "tap-numbers calls several of its streams `numbers`: a-numbers, b-numbers: name one of these in "
        "`singer.streams`, and read the others by connectors with another `topic.prefix`"
    ]


def test_a_selected_stream_is_read_that_the_tap_calls_otherwise_in_its_messages(tap: Tap) -> None:
    table = {"stream": "country", "tap_stream_id": "public-country", "schema": {}}
    props = tap.props(stream="public-country") | {"singer.streams": "country"}
    records = read(props | {"singer.catalog": json.dumps({"streams": [table]}), "singer.schemas": "none"})
    assert numbers(records) == list(range(23))


def test_a_bound_that_ends_the_run_ends_the_tap(tap: Tap) -> None:
    task = started(tap.props(pause_s=0.2))
    task.poll()
    task.stop()
    assert running(tap) == []


def test_a_large_record_is_read_whole(tap: Tap) -> None:
    records = read(tap.props(huge_at=7, bytes=10_000_000))
    assert [len(record.value["text"]) for record in records[6:9]] == [8, 10_000_000, 8]


def test_a_record_that_no_topic_takes_ends_the_run(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_programs, "LINE_MAX_BYTES", 1_000_000)
    with pytest.raises(DataError, match="writes a message of more than 0 MiB, which no topic takes"):
        read(tap.props(huge_at=7, bytes=10_000_000))


def test_files_that_a_killed_machine_has_left_are_removed_by_the_next_run(
    tap: Tap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (left := tmp_path / "kconnect-program-left").mkdir()
    (left / ".in-use").touch()
    os.utime(left, (1_700_000_000, 1_700_000_000))
    read(tap.props())
    assert list(tmp_path.glob("kconnect-program-*")) == []
