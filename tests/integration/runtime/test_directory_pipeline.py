"""Kafka to files end to end: shapes that change on the way, bad records, deleted records, bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError, DataError
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.kafka import produce

JSON = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
SCHEMALESS = {**JSON, "value.converter.schemas.enable": "false"}
INT = {"type": "int32", "optional": False}
RECORD = {"type": "struct", "optional": False, "fields": [{"type": "string", "optional": True, "field": "name"}]}


def envelope(schema: dict[str, Any] | None, payload: Any) -> str:
    """A message of JsonConverter."""
    return json.dumps({"schema": schema, "payload": payload}, separators=(",", ":"))


@pytest.fixture
def sink(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The configuration of a directory sink."""

    def config(topics: str, **more: str) -> dict[str, str]:
        return {
            "name": unique("sink"),
            "connector.class": "DirectorySink",
            "topics": topics,
            "directory": str(tmp_path / "out"),
            **more,
        }

    return config


def lines(config: dict[str, str]) -> list[Any]:
    """What the sink wrote, in the order of file names."""
    files = sorted(path for path in Path(config["directory"]).rglob("*.json") if not path.name.startswith("."))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def test_shapes_that_change_on_the_way_keep_their_order(
    topic: Callable[..., str], bootstrap: str, sink: Callable[..., dict[str, str]], run_here: Run
) -> None:
    name = topic()
    messages = [
        envelope(INT, 1),
        envelope(INT, 2),
        envelope(RECORD, {"name": "x"}),
        envelope(None, [3]),
        envelope(INT, 4),
    ]
    produce(bootstrap, name, messages)
    config = sink(name, **JSON)
    run_here(config)
    assert lines(config) == [1, 2, {"name": "x"}, [3], 4]


def test_tombstones_are_null_lines(
    topic: Callable[..., str], bootstrap: str, sink: Callable[..., dict[str, str]], run_here: Run
) -> None:
    name = topic()
    produce(bootstrap, name, ['{"a":1}', None, '{"a":2}'])
    config = sink(name, **SCHEMALESS)
    run_here(config)
    assert lines(config) == [{"a": 1}, None, {"a": 2}]


def test_what_is_before_a_bad_record_is_kept_and_nothing_after_it(
    topic: Callable[..., str], bootstrap: str, sink: Callable[..., dict[str, str]], run_here: Run
) -> None:
    name = topic()
    produce(bootstrap, name, ["1", "2", "{no json", "4"])
    config = sink(name, **SCHEMALESS)
    for _ in range(2):
        with pytest.raises(DataError, match=f"{name}-0@2"):
            run_here(config)
    assert lines(config) == [1, 2]


def test_deleted_records_fail_the_run_until_the_user_decides(
    topic: Callable[..., str], bootstrap: str, sink: Callable[..., dict[str, str]], run_here: Run
) -> None:
    name = topic()
    produce(bootstrap, name, ["1", "2"])
    config = sink(name, **SCHEMALESS)
    run_here(config)
    produce(bootstrap, name, ["3", "4"])
    admin, third = AdminClient({"bootstrap.servers": bootstrap}), TopicPartition(name, 0, 3)
    admin.delete_records([third])[third].result(30)
    with pytest.raises(DataError, match="were deleted before they were read"):
        run_here(config)
    run_here({**config, "consumer.override.auto.offset.reset": "earliest"})
    assert lines(config) == [1, 2, 4]


def test_missing_topic_is_a_configuration_error(sink: Callable[..., dict[str, str]], run_here: Run) -> None:
    with pytest.raises(ConfigError, match="no-such-topic does not exist"):
        run_here(sink("no-such-topic"))


def test_pattern_reads_every_topic_that_matches(
    topic: Callable[..., str], bootstrap: str, sink: Callable[..., dict[str, str]], run_here: Run
) -> None:
    prefix = unique("pattern")
    for name in (topic(prefix=prefix), topic(prefix=prefix)):
        produce(bootstrap, name, ["1"])
    config = {**sink("unused", **SCHEMALESS), "topics.regex": f"{prefix}.*"}
    del config["topics"]
    assert run_here(config).records["written"] == 2


def test_parquet_has_the_members_as_columns(
    topic: Callable[..., str], bootstrap: str, sink: Callable[..., dict[str, str]], run_here: Run
) -> None:
    import pyarrow.parquet as pq

    name = topic()
    produce(bootstrap, name, [envelope(RECORD, {"name": "x"}), envelope(RECORD, {"name": None})])
    config = sink(name, **JSON, format="parquet")
    run_here(config)
    (file,) = Path(config["directory"]).rglob("*.parquet")
    assert pq.read_table(file).to_pylist() == [{"name": "x"}, {"name": None}]
