"""Sources of a group that have nothing new, by what their offsets and their files say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.producers import FlushingProducer
from airflow_kconnect.runtime.group import idle
from airflow_kconnect.runtime.group.idle import looked_at
from airflow_kconnect.runtime.job import run
from airflow_kconnect.stores.offset_topic.records import PlanRecord, plan_key
from tests.integration.runtime.conftest import NumberedFile, Run, Source
from tests.integration.runtime.group.idle_members import as_told, member
from tests.support import unique
from tests.support.kafka import create_topic, delete_topic, produce


def test_the_report_is_that_of_a_run(
    run_here: Run, file_source: Source, numbered: NumberedFile, worker_props: dict[str, str]
) -> None:
    numbered.append(3)
    numbered.path.write_text(numbered.path.read_text() + "not ended")
    config = file_source()
    run_here(config)
    report = looked_at([member(config, worker_props)]).reports[config["name"]]
    assert report.notes == {"held_back_bytes": 9}
    assert as_told(report) == as_told(run_here(config))


def test_a_folder_without_files_has_nothing_new_before_the_first_run(
    file_source: Source, worker_props: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    config = file_source(files=str(folder))
    del config["file"]
    assert list(looked_at([member(config, worker_props)]).reports) == [config["name"]]
    (folder / "a.txt").write_text("a\n")
    assert looked_at([member(config, worker_props)]).reports == {}


@pytest.fixture
def committed(file_source: Source, numbered: NumberedFile, worker_props: dict[str, str]) -> dict[str, str]:
    """A source of a file that was read to its end, as an older version has committed it."""
    numbered.append(3)
    config = file_source()
    offset = f'{{"position":{numbered.path.stat().st_size}}}'
    write(worker_props, f'["{config["name"]}",{{"filename":"{numbered.path}"}}]'.encode(), offset.encode())
    return config


def write(worker_props: dict[str, str], key: bytes, value: bytes | None) -> None:
    producer = FlushingProducer(ClientConfigs(worker_props).small_producer(), "writing offsets")
    producer.produce("connect-offsets", value, key)
    producer.flush()
    producer.close()


@pytest.mark.parametrize("spoil", ["new line", "replaced", "gone", "unfinished plan", "reset", "unreadable", "dry run"])
def test_of_what_is_new_or_unusual_a_run_decides(
    spoil: str, committed: dict[str, str], numbered: NumberedFile, worker_props: dict[str, str]
) -> None:
    looked = member(committed, worker_props)
    name = committed["name"]
    assert list(looked_at([looked]).reports) == [name]
    offset = f'["{name}",{{"filename":"{numbered.path}"}}]'.encode()
    match spoil:
        case "new line":
            numbered.append(1)
        case "replaced":
            numbered.path.write_text("x")
        case "gone":
            numbered.path.unlink()
        case "unfinished plan":
            write(worker_props, plan_key(name), PlanRecord("p", "r", 1).encode())
        case "reset":
            write(worker_props, offset, None)
        case "unreadable":
            write(worker_props, offset, b"nonsense")
        case "dry run":
            looked = member(committed, worker_props, dry_run=True)
    assert looked_at([looked]).reports == {}


def test_a_run_sees_what_was_committed_since_the_look(
    run_here: Run, spark: SparkSession, file_source: Source, numbered: NumberedFile, worker_props: dict[str, str]
) -> None:
    numbered.append(3)
    config = file_source()
    looked = member(config, worker_props)
    before = looked_at([looked]).read_before[config["name"]]
    run_here(config)
    assert run(looked.spec, spark, read_before=before).records["written"] == 0


def test_of_another_offset_topic_of_that_name_nothing_was_read(
    spark: SparkSession,
    file_source: Source,
    numbered: NumberedFile,
    worker_props: dict[str, str],
    topic: Callable[..., str],
    bootstrap: str,
) -> None:
    numbered.append(3)
    offsets = topic(config={"cleanup.policy": "compact"})
    config = file_source(**{"offsets.storage.topic": offsets})
    worker_props = {**worker_props, "status.storage.topic": ""}
    looked = member(config, worker_props)
    run(looked.spec, spark)
    before = looked_at([looked]).read_before[config["name"]]
    delete_topic(bootstrap, offsets)
    create_topic(bootstrap, offsets, 1, {"cleanup.policy": "compact"})
    assert run(looked.spec, spark, read_before=before).records["written"] == 3


def test_a_source_that_has_lost_its_offsets_is_run(
    committed: dict[str, str], worker_props: dict[str, str], topic: Callable[..., str], numbered: NumberedFile
) -> None:
    emptied = topic(config={"cleanup.policy": "compact"})
    statuses = {"status.storage.topic": topic(config={"cleanup.policy": "compact"})}
    numbered.path.write_text("")
    config = {**committed, "offsets.storage.topic": emptied}
    assert looked_at([member(config, worker_props | statuses)]).reports
    used: dict[str, Any] = {"name": "t", "connector": config["name"], "task": 0, "discoverTimestamp": 1}
    key = f"status-topic-t:connector-{config['name']}"
    value = str({"topic": used}).replace("'", '"')
    produce(worker_props["bootstrap.servers"], statuses["status.storage.topic"], [value], key=key)
    assert looked_at([member(config, worker_props | statuses)]).reports == {}


def test_an_open_transaction_may_hide_what_was_committed(
    committed: dict[str, str],
    worker_props: dict[str, str],
    numbered: NumberedFile,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from confluent_kafka import Producer

    monkeypatch.setattr(idle, "_PATIENCE_S", 0.2)
    producer = Producer({"bootstrap.servers": worker_props["bootstrap.servers"], "transactional.id": unique("open")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("connect-offsets", b"{}", b'["other",{}]')
    producer.flush(30)
    try:
        assert looked_at([member(committed, worker_props)]).reports == {}
    finally:
        producer.abort_transaction(30)
