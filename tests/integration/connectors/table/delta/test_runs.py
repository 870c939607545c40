"""Whole runs of a sink into Delta tables, whose writes are visible at once: each record is there once.

A run costs some 6 CPU seconds, a job 20: they are worth 120, since this format cannot stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError, FencedError
from airflow_kconnect.kafka.positions_text import positions_of, positions_request
from airflow_kconnect.runtime.sink import planned
from airflow_kconnect.stores.offset_changes.sink import SinkOffsets
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record
from tests.integration.runtime.sink.planned.test_interrupted_plans import ending_at
from tests.support.catalogs.hive import HiveMetastore
from tests.support.kafka import read_all
from tests.support.spark.jobs import kill_job_at, start_job
from tests.support.spark.lakes import lakes_conf
from tests.support.tables import rows_by_another_engine

_KILL_POINTS = [("announced", False), ("after-last-write", True), ("after-visible", True), ("after-final-commit", True)]


@pytest.fixture
def config(tables: Lake, tmp_path: Path) -> dict[str, str]:
    """A sink of one topic."""
    name = f"delta.`{tmp_path}/${{topic}}`"
    return tables.config(tables.topic(), **{"table.format": "delta", "table.name.format": name})


@pytest.fixture
def send(tables: Lake) -> Callable[..., None]:
    """Writes records with these ids; those in `bad` are not JSON."""

    def go(topic: str, ids: Iterable[int], bad: Sequence[int] = ()) -> None:
        tables.add(topic, *("{oops" if n in bad else record(id=n, name=f"n{n}") for n in ids))

    return go


Send = Callable[..., None]


def name_of(config: dict[str, str], topic: str | None = None) -> str:
    return config["table.name.format"].replace("${topic}", topic or config["topics"])


def ids(spark: SparkSession, config: dict[str, str], topic: str | None = None) -> list[int]:
    return sorted(row["id"] for row in spark.table(name_of(config, topic)).collect())


def tolerant(config: dict[str, str]) -> dict[str, str]:
    return {
        **config,
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"dlq-{config['name']}",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }


def test_what_comes_before_a_bad_record_is_written_once(
    spark: SparkSession, config: dict[str, str], send: Send, run_here: Run, bootstrap: str
) -> None:
    send(config["topics"], range(20), bad=[12])
    with pytest.raises(DataError, match=f"{config['topics']}-0@12"):
        run_here(config)
    assert ids(spark, config) == list(range(12))
    patient = tolerant(config)
    run_here(patient)
    assert ids(spark, config) == [n for n in range(20) if n != 12]
    dead = read_all(bootstrap, patient["errors.deadletterqueue.topic.name"])
    assert [record.value for record in dead] == [b"{oops"]


def test_a_shape_that_the_samples_did_not_have_is_written_once(
    spark: SparkSession, config: dict[str, str], send: Send, run_here: Run, tables: Lake
) -> None:
    send(config["topics"], range(150))
    tables.add(config["topics"], *(record(id=n) for n in range(150, 160)))
    report = run_here(config)
    assert ids(spark, config) == list(range(160))
    assert (report.records["written"], report.notes["rounds"]) == (160, 2)


@pytest.fixture
def two(config: dict[str, str], tables: Lake) -> dict[str, str]:
    """A sink of two topics, each with a table."""
    return {**config, "topics": ",".join(sorted([config["topics"], tables.topic()]))}


def test_a_plan_that_one_of_two_tables_has_is_completed(
    spark: SparkSession, two: dict[str, str], send: Send, run_here: Run, bootstrap: str
) -> None:
    first, second = two["topics"].split(",")
    send(first, range(10))
    send(second, range(10), bad=[5])
    with pytest.raises(DataError, match=f"{second}-0@5"):
        run_here(two)
    assert ids(spark, two, first) == list(range(10))
    assert ids(spark, two, second) == []
    send(first, range(10, 12))
    run_here(tolerant(two))
    assert ids(spark, two, first) == list(range(12))
    assert ids(spark, two, second) == [n for n in range(10) if n != 5]
    assert len(read_all(bootstrap, f"dlq-{two['name']}")) == 1


@pytest.mark.exhaustive  # which rows are one write is decided before a format is asked
def test_two_topics_of_one_table_are_one_write(
    spark: SparkSession, two: dict[str, str], send: Send, run_here: Run, tmp_path: Path
) -> None:
    config = {**two, "table.name.format": f"delta.`{tmp_path}/both`"}
    first, second = two["topics"].split(",")
    send(first, range(10))
    send(second, range(10, 20))
    run_here(config)
    assert ids(spark, config) == list(range(20))


def offsets_of(config: dict[str, str], worker_props: dict[str, str]) -> SinkOffsets:
    worker = WorkerConfig.from_props(worker_props)
    return SinkOffsets(validate_connector(config, worker=worker), worker)


@pytest.mark.exhaustive  # what Iceberg's tables do then; which plans it has says the table in `test_table`
def test_a_table_that_was_restored_ends_the_run_until_offsets_are_altered(
    spark: SparkSession, config: dict[str, str], send: Send, run_here: Run, worker_props: dict[str, str]
) -> None:
    topic = config["topics"]
    for start in (0, 10):
        send(topic, range(start, start + 10))
        run_here(config)
    spark.sql(f"RESTORE TABLE {name_of(config)} TO VERSION AS OF 1")
    send(topic, range(20, 30))
    with pytest.raises(DataError, match="plan 1 is the last that it has, and it took plan 2"):
        run_here(config)
    place = {"kafka_topic": topic, "kafka_partition": 0}
    offsets_of(config, worker_props).alter({"offsets": [{"partition": place, "offset": {"kafka_offset": 10}}]})
    run_here(config)
    assert ids(spark, config) == list(range(30))


def test_a_plan_that_was_restored_away_is_written_again_by_the_command_of_the_error(
    spark: SparkSession, config: dict[str, str], send: Send, run_here: Run, worker_props: dict[str, str]
) -> None:
    topic = config["topics"]
    send(topic, range(10))
    with ending_at("after-visible"):
        run_here(config)
    spark.sql(f"RESTORE TABLE {name_of(config)} TO VERSION AS OF 0")
    with pytest.raises(DataError, match="cannot be told") as error:
        run_here(config)
    at = f"--at {topic}:0=0"
    assert f"{at} && kconnect resume {config['name']}` has it written again" in str(error.value)
    offsets_of(config, worker_props).alter(positions_request(positions_of([at.removeprefix("--at ")])))
    run_here(config)
    assert ids(spark, config) == list(range(10))


def lake_conf(tmp_path: Path) -> dict[str, str]:
    return lakes_conf(tmp_path / "warehouse", small=False)


def test_runs_append_what_is_new_and_a_run_that_ends_after_its_write_is_not_repeated(
    spark: SparkSession, config: dict[str, str], send: Send, run_here: Run
) -> None:
    send(config["topics"], range(100))
    with ending_at("after-last-write"):
        run_here(config)
    assert ids(spark, config) == list(range(100))
    send(config["topics"], range(100, 110))
    report = run_here(config)
    assert (report.guarantee, report.records["written"], report.notes["completed_plans"]) == ("exactly_once", 10, 1)
    assert (report.notes["files"], report.notes["snapshots"]) == (1, 1)
    assert run_here(config).records["read"] == 0
    assert ids(spark, config) == list(range(110))


@pytest.mark.spark_submit
@pytest.mark.exhaustive  # the run before has ended there without being killed
@pytest.mark.parametrize(("point", "visible"), _KILL_POINTS)
def test_a_killed_run_leaves_every_record_once(
    point: str,
    visible: bool,
    spark: SparkSession,
    config: dict[str, str],
    send: Send,
    worker_props: dict[str, str],
    run_here: Run,
    tmp_path: Path,
) -> None:
    send(config["topics"], range(100))
    kill_job_at(point, config, worker_props, tmp_path, conf=lake_conf(tmp_path))
    assert bool(ids(spark, config)) is visible
    send(config["topics"], range(100, 110))
    run_here(config)
    assert ids(spark, config) == list(range(110))


def test_an_older_run_writes_nothing_that_a_newer_one_has_written(
    spark: SparkSession, config: dict[str, str], send: Send, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleeps_meanwhile(step: str) -> None:
        if step == "announced":
            monkeypatch.undo()
            send(config["topics"], range(100, 110))
            run_here(config)

    send(config["topics"], range(100))
    monkeypatch.setattr(planned, "failpoint", sleeps_meanwhile)
    with pytest.raises(FencedError):
        run_here(config)
    assert ids(spark, config) == list(range(110))


@pytest.mark.exhaustive
@pytest.mark.spark_submit
def test_a_table_in_a_metastore_keeps_its_name_and_its_plans(
    config: dict[str, str], worker_props: dict[str, str], send: Send, tmp_path: Path
) -> None:
    (tmp_path / "hive").mkdir()
    metastore = HiveMetastore(tmp_path / "hive")
    config |= {"table.name.format": "shop.orders"}
    conf = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore.uri,
        "spark.sql.warehouse.dir": str(metastore.warehouse),
    }
    try:
        for numbers in (range(10), range(10, 15)):
            send(config["topics"], numbers)
            job = start_job(config, worker_props, tmp_path / "jobs", conf=conf)
            assert job.wait() == 0, job.text()[-3000:]
    finally:
        metastore.remove()
    assert sorted(row["id"] for row in rows_by_another_engine(metastore.warehouse / "shop.db/orders")) == list(
        range(15)
    )
