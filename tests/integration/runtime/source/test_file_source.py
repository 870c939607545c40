"""The file source end to end: bytes, resuming, bounds, bad input."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError
from tests.integration.runtime.conftest import NumberedFile, Run
from tests.support.kafka import produce, read_all, read_values

Config = Callable[..., dict[str, str]]
JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture
def spark_if_needed(spark: SparkSession) -> SparkSession:
    """As on a cluster: through Spark, also what does not need it."""
    return spark


def test_lines_arrive_in_file_order_on_one_partition_and_a_second_run_moves_only_new_ones(
    numbered: NumberedFile, file_source: Config, run_here: Run, bootstrap: str
) -> None:
    config = file_source()
    numbered.append(5000)
    run_here(config)
    numbered.append(10)
    assert run_here(config).records["written"] == 10
    assert read_values(bootstrap, config["topic"]) == numbered.expected()


def test_envelope_and_offset_record_have_the_bytes_of_connect(
    numbered: NumberedFile, file_source: Config, run_here: Run, bootstrap: str, worker_props: dict[str, str]
) -> None:
    config = file_source(**{"value.converter": JSON})
    numbered.path.write_text("a line\n")
    run_here(config)
    assert read_values(bootstrap, config["topic"]) == [
        b'{"schema":{"type":"string","optional":false},"payload":"a line"}'
    ]
    key = json.dumps([config["name"], {"filename": str(numbered.path)}], separators=(",", ":")).encode()
    found = [r.value for r in read_all(bootstrap, worker_props["offset.storage.topic"]) if r.key == key]
    assert found == [b'{"position":7}']


def test_bound_by_records_stops_exactly_there_and_goes_on(
    numbered: NumberedFile, file_source: Config, run_here: Run, bootstrap: str
) -> None:
    config = file_source(**{"kconnect.max.records": "700"})
    numbered.append(1000)
    reports = [run_here(config), run_here(config)]
    assert [(report.records["written"], report.complete) for report in reports] == [(700, False), (300, True)]


def test_links_and_pipes_in_a_folder_are_not_read(
    file_source: Config, run_here: Run, bootstrap: str, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret\n")
    (folder / "own.txt").write_text("own\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    config = file_source(files=str(folder))
    del config["file"]
    (folder / "two.txt").write_text("two\n")
    report = run_here(config)
    assert sorted(filter(None, read_values(bootstrap, config["topic"]))) == [b"own", b"two"]
    files = [found["partition"]["filename"] for found in report.offsets]
    assert files == [str(folder / name) for name in ("own.txt", "two.txt")]
    assert [text.split()[0] for text in report.warnings] == [str(folder / "link.txt"), str(folder / "pipe")]


def test_at_least_once_is_named_and_moves_everything(
    numbered: NumberedFile, file_source: Config, run_here: Run, bootstrap: str
) -> None:
    config = file_source()
    numbered.append(1000)
    report = run_here(config, **{"exactly.once.source.support": "disabled"})
    assert (report.guarantee, len(read_values(bootstrap, config["topic"]))) == ("at_least_once", 1000)


def test_new_topic_is_made_as_topic_creation_says(
    numbered: NumberedFile, file_source: Config, run_here: Run, bootstrap: str
) -> None:
    creation = {"topic.creation.default.partitions": "3", "topic.creation.default.replication.factor": "1"}
    config = file_source(**creation)
    numbered.append(3000)
    run_here(config)
    from confluent_kafka.admin import AdminClient

    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(config["topic"], 10)
    assert len(metadata.topics[config["topic"]].partitions) == 3


class TestBadInput:
    def test_internal_topic_is_refused(self, file_source: Config, run_here: Run, worker_props: dict[str, str]) -> None:
        with pytest.raises(ConfigError, match="topic"):
            run_here({**file_source(), "topic": worker_props["offset.storage.topic"]})

    def test_offset_that_cannot_be_read_fails_the_run_by_its_place(
        self, numbered: NumberedFile, file_source: Config, run_here: Run, bootstrap: str, worker_props: dict[str, str]
    ) -> None:
        config, topic = file_source(), worker_props["offset.storage.topic"]
        numbered.append(10)
        key = json.dumps([config["name"], {"filename": str(numbered.path)}], separators=(",", ":"))
        produce(bootstrap, topic, ["no json"], key=key)
        with pytest.raises(DataError, match=rf"{topic}-\d+@\d+"):
            run_here(config)
