"""SIGKILL to runs of Iceberg's sink, before, between and after its two commits: no row is missing, none is there twice.

Its tasks commit to their consumer group what they have read; its coordinator commits the files to the table later.
Dear, so exhaustive: each case is a run, a job, and a run to the end.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from airflow_kconnect.connectors.jdbc.facts.postgresql import POSTGRESQL
from tests.support import unique
from tests.support.connect.hosted import hosted_jvms
from tests.support.connect.iceberg import iceberg_folder, ids
from tests.support.connect.tried import example
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.kafka import create_topic, produce
from tests.support.spark.jobs import Job, kill_all, start_job, wait_gone

FIRST, MORE = 100, 4_000
CURRENT = "select metadata_location from iceberg_tables where table_name = %s"

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(900)]
each_victim = pytest.mark.parametrize("victim", ["job", "JVM"])


@dataclass
class Table:
    """A table that has the first rows, and a job that is to add more.

    :param config: of the sink. :param worker: of its jobs.
    """

    bootstrap: str
    database: PostgresDatabase
    config: dict[str, str]
    worker: dict[str, str]
    folder: Path
    name: str = "orders"

    def job(self, **how: Any) -> Job:
        return start_job(self.config, self.worker, self.folder / unique("job"), direct=True, **how)

    def rows(self) -> Counter[int]:
        return ids(Path(self.version().removeprefix("file:")))

    def version(self) -> str:
        """Its metadata: another file after each commit."""
        return str(self.database.execute(CURRENT, [self.name])[0][0])

    @contextmanager
    def no_commits(self) -> Iterator[None]:
        """Nothing is committed to the table before the block ends; it can be read."""
        with self.database.connect() as connection, connection.transaction():
            connection.execute("lock table iceberg_tables in exclusive mode")
            yield

    def committed_by_tasks(self) -> int:
        """How many records the tasks' consumer group has behind it."""
        group = f"connect-{self.config['name']}"
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group})
        try:
            found = consumer.committed([TopicPartition(self.config["topics"], p) for p in (0, 1)], timeout=20)
            return sum(max(each.offset, 0) for each in found)
        finally:
            consumer.close()


@pytest.fixture
def table(
    bootstrap: str,
    topic: Callable[..., str],
    run_hosted: Callable[..., Any],
    hosting_worker: dict[str, str],
    postgres: PostgresServer,
    tmp_path: Path,
) -> Table:
    database = postgres.create_database()
    places = {
        "topics": topic(2),
        "iceberg.catalog.type": "jdbc",
        "iceberg.catalog.warehouse": f"file://{tmp_path}/warehouse",
        "iceberg.control.topic": create_topic(bootstrap, unique("control")),
        "iceberg.control.commit.interval-ms": "1000",
        "iceberg.kafka.bootstrap.servers": bootstrap,
    }
    catalog = {"uri": database.url, "jdbc.user": str(database.user), "jdbc.password": str(database.password)}
    config = example("orders-to-iceberg", places) | {f"iceberg.catalog.{key}": text for key, text in catalog.items()}
    worker = {**hosting_worker, "plugin.path": str(iceberg_folder(tmp_path / "plugins", *POSTGRESQL.coordinates))}
    produce(bootstrap, config["topics"], [json.dumps({"id": n}) for n in range(FIRST)])
    assert run_hosted(config, **worker).complete
    produce(bootstrap, config["topics"], [json.dumps({"id": n}) for n in range(FIRST, FIRST + MORE)])
    return Table(bootstrap, database, config, worker, tmp_path)


@each_victim
def test_a_first_run_that_is_killed_when_its_tasks_have_committed(
    table: Table, victim: str, run_hosted: Callable[..., Any]
) -> None:
    # Of a connector of another name nothing is known, nor of its control topic.
    control = create_topic(table.bootstrap, unique("control"))
    first = {"name": unique("orders-again"), "iceberg.tables": "shop.again", "iceberg.control.topic": control}
    again = replace(table, config={**table.config, **first}, name="again")
    job = again.job()
    wait_for(lambda: again.committed_by_tasks() > 0, job)
    kill(job, victims(job, victim))
    check_completed(again, FIRST + MORE, run_hosted)


@each_victim
def test_runs_that_are_killed_while_they_move_records(
    table: Table, victim: str, bootstrap: str, run_hosted: Callable[..., Any]
) -> None:
    total = FIRST + MORE
    for later_s in (0.0, 0.7, 1.5):
        job = table.job(failpoint="while-moving")
        job.wait_for_failpoint()
        time.sleep(later_s)
        kill(job, victims(job, victim))
        produce(bootstrap, table.config["topics"], [json.dumps({"id": n}) for n in range(total, total + 500)])
        total += 500
    check_completed(table, total, run_hosted)


@each_victim
def test_a_run_that_is_killed_when_its_tasks_have_committed_and_the_table_has_not(
    table: Table, victim: str, run_hosted: Callable[..., Any]
) -> None:
    with table.no_commits():
        job = table.job()
        wait_for(lambda: table.committed_by_tasks() > FIRST, job)
        kill(job, victims(job, victim))
    assert table.rows() == Counter(range(FIRST))
    check_completed(table, FIRST + MORE, run_hosted)


@each_victim
def test_a_run_that_is_killed_when_the_table_has_been_committed_and_the_control_topic_not_yet(
    table: Table, victim: str, run_hosted: Callable[..., Any]
) -> None:
    with table.database.connect() as connection:
        before = connection.execute(CURRENT, [table.name]).fetchone()
        job = table.job()
        targets = wait_for(lambda: victims(job, victim) if hosted_jvms(job) else [], job)
        while connection.execute(CURRENT, [table.name]).fetchone() == before:
            assert job.process.poll() is None, job.text()
        kill(job, targets)
    check_completed(table, FIRST + MORE, run_hosted)


def check_completed(table: Table, total: int, run_hosted: Callable[..., Any]) -> None:
    """The next run completes the table."""
    report = run_hosted(table.config, **table.worker)
    assert (report.complete, report.lag_max) == (True, 0)
    rows = table.rows()
    assert set(range(total)) - rows.keys() == set()
    assert {n: count for n, count in rows.items() if count > 1} == {}
    assert len(rows) == total


def kill(job: Job, targets: list[psutil.Process]) -> None:
    """SIGKILL to a part of a job; nothing of it remains."""
    tree = job.tree()
    kill_all(targets)
    job.reached.unlink(missing_ok=True)
    assert job.wait(120) != 0, job.text()
    assert wait_gone(tree) == []


def victims(job: Job, victim: str) -> list[psutil.Process]:
    return hosted_jvms(job) if victim == "JVM" else job.tree()


def wait_for(ask: Callable[[], Any], job: Job) -> Any:
    """The first answer that is true."""
    deadline = time.monotonic() + 120
    while not (answer := ask()):
        assert time.monotonic() < deadline and job.process.poll() is None, job.text()
        time.sleep(0.02)
    return answer
