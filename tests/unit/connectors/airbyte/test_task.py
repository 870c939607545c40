"""The task of an Airbyte source: states of streams and of all of them, errors that it tells, how it resumes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.connector.task import NewShapes
from airflow_kconnect.connect.data import INT64_SCHEMA
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.airbyte.source import AirbyteSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.connectors import tasks
from tests.support.connectors.taps import Source
from tests.support.connectors.tasks import offsets_of, polls


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path, count=23)


def started(
    props: dict[str, str], offsets: dict[str, Offset] | None = None, facts: Sequence[dict[str, Any]] = ()
) -> Any:
    return tasks.started(AirbyteSourceConnector({"name": "a", **props}), offsets, facts)


def read(props: dict[str, str], offsets: dict[str, Offset] | None = None) -> list[SourceRecord]:
    return list(polls(started(props, offsets)))


def numbers(records: list[SourceRecord], stream: str = "numbers") -> list[int]:
    return [record.value["n"] for record in records if record.topic.endswith(stream)]


BOTH = {"airbyte.streams": "*"}


def test_a_run_that_ends_at_any_offset_is_resumed_without_gap_or_doubles(tmp_path: Path) -> None:
    """Each stream is a source partition with its state; what is new of it by then is read, too."""
    source = Source(tmp_path, count=8)
    props = {**source.props(), **BOTH}
    records = read(props)
    identities = {
        stream: partition_identity({"source": "source-numbers", "stream": stream}) for stream in ("numbers", "others")
    }
    assert offsets_of(records) == {identity: {"state": '{"next":8}'} for identity in identities.values()}
    source.grow(10)
    for end in [n for n, record in enumerate(records, 1) if record.source_offset is not None]:
        committed = offsets_of(records[:end])
        complete = {identity: int(offset["state"][8:-1]) for identity, offset in committed.items()}
        after = read(props, committed)
        for stream, identity in identities.items():
            assert numbers(after, stream) == list(range(complete.get(identity, 0), 10))


def test_records_have_the_key_and_the_time_that_the_source_tells(source: Source) -> None:
    record = read({**source.props(at=1767225600000), "topic.prefix": "shop."})[3]
    assert (record.topic, record.key, record.value) == ("shop.numbers", {"n": 3}, {"n": 3, "text": "number 3"})
    assert (record.timestamp, record.value_schema) == (1767225600000, None)


def test_with_schemas_records_are_as_the_catalog_declares_them(source: Source) -> None:
    record = read({**source.props(), "airbyte.schemas": "declared"})[3]
    assert record.key_schema is not None
    assert record.key_schema.fields[0].schema == INT64_SCHEMA


@pytest.mark.parametrize("kind", ["GLOBAL", "LEGACY"])
def test_a_state_of_all_streams_makes_the_source_one_partition_once_that_is_known(source: Source, kind: str) -> None:
    props = {**source.props(states=kind), **BOTH}
    task = started(props)
    with pytest.raises(NewShapes) as new:
        list(polls(task))
    records = list(polls(started(props, {}, [new.value.facts])))
    assert list(offsets_of(records)) == [partition_identity({"source": "source-numbers"})]
    source.grow(30)
    again = list(polls(started(props, offsets_of(records), [new.value.facts])))
    assert numbers(again) == list(range(23, 30))


def test_a_state_of_one_stream_is_not_taken_for_that_of_all_streams(source: Source) -> None:
    known = {"streams": "{}", "scope": "source"}
    with pytest.raises(DataError, match="now tells one of stream numbers: reset its offsets"):
        list(polls(started(source.props(), {}, [known])))


def test_an_old_state_in_which_nothing_is_resumes_at_the_beginning(source: Source) -> None:
    known, nothing = {"streams": "{}", "scope": "source"}, {"state": '{"type":"LEGACY"}'}
    offsets: dict[str, Offset] = {partition_identity({"source": "source-numbers"}): nothing}
    assert numbers(list(polls(started(source.props(states="LEGACY"), offsets, [known])))) == list(range(23))


def test_an_error_that_is_told_counts_even_if_the_source_ends_well(source: Source) -> None:
    with pytest.raises(RetriableError, match="source-numbers has failed: half of it"):
        read(source.props(events={"13": "trace-and-end"}))


@pytest.mark.parametrize(("failure", "kind"), [("config_error", ConfigError), ("transient_error", RetriableError)])
def test_an_error_that_the_source_tells_is_that_of_the_run_without_what_its_specification_calls_secret(
    source: Source, failure: str, kind: type[Exception], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(kind, match=r"no access with \.\.\.") as error:
        read(source.props(secret_word="hush-hush", events={"13": f"trace:{failure}"}))
    log = capfd.readouterr().err
    assert "source-numbers: INFO this is read" in log
    assert "hush-hush" not in str(error.value) + log


def test_a_source_that_cannot_connect_says_why(source: Source) -> None:
    with pytest.raises(ConfigError, match="source-numbers cannot connect: no route"):
        AirbyteSourceConnector({**source.props(connects=False), "airbyte.check": "true"}).check()


def test_streams_are_read_by_their_cursor_unless_a_hint_says_otherwise(source: Source) -> None:
    """What is read as a whole begins at its beginning in each run."""
    props = {**source.props(), **BOTH, "airbyte.hints.others": '{"sync_mode": "full_refresh"}'}
    connector = AirbyteSourceConnector(props)
    connector.check()
    assert connector.run_warnings() == [
        "stream others is read as a whole (full_refresh), so each run writes all of its records again"
    ]
    again = read(props, offsets_of(read(props)))
    assert (numbers(again), numbers(again, "others")) == ([], list(range(23)))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"airbyte.streams": "orders"}, "no stream has such a name; source-numbers has numbers, others"),
        ({"airbyte.hints.numbers": '{"sync_mode": "cdc"}'}, "`sync_mode` cdc is not one that the stream supports"),
        ({"airbyte.catalog": "none"}, "a source of Airbyte needs a catalog"),
    ],
)
def test_what_the_source_does_not_have_is_refused(source: Source, keys: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError) as error:
        AirbyteSourceConnector({**source.props(), **keys}).check()
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("partition", "text"),
    [({"source": "s", "stream": "a"}, ""), ({"source": "s"}, ""), ({"tap": "s"}, "it needs `source`, and `stream`")],
)
def test_offsets_are_of_streams_or_of_the_source(partition: dict[str, str], text: str) -> None:
    offsets = [(partition, {"state": "{}"})]
    if not text:
        assert AirbyteSourceConnector.alter_offsets({}, offsets)
        return
    with pytest.raises(ConfigError) as error:
        AirbyteSourceConnector.alter_offsets({}, offsets)
    assert text in str(error.value)


def test_streams_that_would_share_a_topic_are_both_named(source: Source, tmp_path: Path) -> None:
    streams: list[dict[str, Any]] = [{"name": name, "json_schema": {}} for name in ("x y", "x_y")]
    (catalog := tmp_path / "catalog.json").write_text(json.dumps({"streams": streams}))
    props = {**source.props(), "airbyte.streams": "*", "airbyte.catalog": str(catalog)}
    with pytest.raises(ConfigError, match=r"`airbyte\.streams`: streams `x y` and `x_y` would both go to topic x_y"):
        AirbyteSourceConnector(props).check()


def of_catalog(source: Source, tmp_path: Path, *streams: dict[str, Any]) -> AirbyteSourceConnector:
    (catalog := tmp_path / "catalog.json").write_text(
        json.dumps({"streams": [{"json_schema": {}} | s for s in streams]})
    )
    return AirbyteSourceConnector({**source.props(), **BOTH, "airbyte.catalog": str(catalog)})


@pytest.mark.parametrize(
    "other",
    [
        {"namespace": "a.b", "name": "c"},
        {"name": "a.b.c"},
        {"namespace": "a", "name": "b.c", "supported_sync_modes": ["incremental"]},
    ],
)
def test_streams_of_one_name_are_refused(source: Source, tmp_path: Path, other: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"`airbyte\.streams`: `a\.b\.c` is the name of several streams"):
        of_catalog(source, tmp_path, {"namespace": "a", "name": "b.c"}, other).check()


def test_a_stream_that_a_catalog_has_twice_is_one(source: Source, tmp_path: Path) -> None:
    connector = of_catalog(source, tmp_path, *[{"namespace": "a", "name": "b"}] * 2)
    connector.check()
    assert len(connector.run_warnings()) == 1


def test_streams_of_one_name_may_be_left_out(source: Source, tmp_path: Path) -> None:
    connector = of_catalog(source, tmp_path, {"namespace": "a", "name": "b.c"}, {"name": "a.b.c"}, {"name": "numbers"})
    AirbyteSourceConnector({**connector.props, "airbyte.streams": "!a.b.c"}).check()
