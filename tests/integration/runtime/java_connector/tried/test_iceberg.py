"""Apache Iceberg's sink into a catalog in a folder, and into a store with the interface of S3."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connectors.jdbc.facts.postgresql import POSTGRESQL
from airflow_kconnect.hosting.keys import hosted_group
from tests.support import unique
from tests.support.connect.iceberg import AWS, answers, current_metadata, iceberg_folder, ids
from tests.support.connect.tried import example
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import create_topic, produce, read_all
from tests.support.s3 import S3Server

Run = Callable[..., Any]

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    yield server
    server.remove()


@pytest.fixture
def places(bootstrap: str, topic: Callable[..., str]) -> dict[str, str]:
    """Where a sink reads, and where its tasks and its coordinator talk to each other."""
    return {
        "topics": topic(2),
        "iceberg.control.topic": create_topic(bootstrap, unique("control")),
        "iceberg.kafka.bootstrap.servers": bootstrap,
    }


def test_each_run_adds_what_is_new_to_the_table_and_only_once(
    bootstrap: str, places: dict[str, str], run_hosted: Run, tmp_path: Path
) -> None:
    places["iceberg.catalog.warehouse"] = f"file://{tmp_path}/warehouse"
    folder = iceberg_folder(tmp_path / "plugins")
    check_two_runs(
        bootstrap,
        lambda sink: run_hosted(sink, **{"plugin.path": str(folder)}),
        example("orders-to-iceberg", places),
        lambda: ids(current_metadata(tmp_path / "warehouse/shop/orders")),
    )


def test_a_store_with_the_interface_of_s3_gets_the_same_and_its_keys_are_shown_nowhere(
    bootstrap: str,
    places: dict[str, str],
    run_hosted: Run,
    s3: S3Server,
    postgres: PostgresServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    database = postgres.create_database()
    secrets = tmp_path / "secrets.properties"
    secrets.write_text(f"access={s3.access_key}\nsecret={s3.secret_key}\npassword={database.password}\n")
    places |= {
        "iceberg.catalog.uri": database.url,
        "iceberg.catalog.jdbc.user": str(database.user),
        "iceberg.catalog.jdbc.password": f"${{file:{secrets}:password}}",
        "iceberg.catalog.warehouse": f"s3://{s3.create_bucket()}/warehouse",
        "iceberg.catalog.s3.endpoint": s3.url,
        "iceberg.catalog.s3.access-key-id": f"${{file:{secrets}:access}}",
        "iceberg.catalog.s3.secret-access-key": f"${{file:{secrets}:secret}}",
    }
    worker = {
        "plugin.path": str(iceberg_folder(tmp_path / "plugins", *AWS, *POSTGRESQL.coordinates)),
        "group.id": unique("s3"),
    }
    reports = []

    def run(sink: dict[str, str]) -> Any:
        reports.append(run_hosted(sink, **worker))
        return reports[-1]

    def rows() -> Counter[int]:
        [(metadata,)] = database.execute("select metadata_location from iceberg_tables where table_name = 'orders'")
        return ids(s3.file_of(metadata), s3.file_of)

    sink = example("orders-to-s3", places)
    with caplog.at_level(logging.DEBUG, logger="kconnect"):
        check_two_runs(bootstrap, run, sink, rows)
    stored = read_all(bootstrap, f"{hosted_group(sink, worker['group.id'])}-configs")
    shown = f"{caplog.text} {reports} {[record.value for record in stored]}"
    assert "iceberg.catalog.s3.secret-access-key" in shown
    assert not [secret for secret in (s3.secret_key, database.password) if str(secret) in shown]


def check_two_runs(
    bootstrap: str, run: Callable[[dict[str, str]], Any], sink: dict[str, str], rows: Callable[[], Counter[int]]
) -> None:
    """A first run writes everything, a second one only what has been added."""
    produce(bootstrap, sink["topics"], [json.dumps({"id": n}) for n in range(200)])
    first = run(sink)
    assert (first.complete, first.lag_max) == (True, 0)
    assert rows() == Counter(range(200))
    produce(bootstrap, sink["topics"], [json.dumps({"id": n}) for n in range(200, 250)])
    second = run(sink)
    assert second.records["written"] == 50
    assert rows() == Counter(range(250))
    # A run does not answer what former ones were asked.
    answered = answers(record.value or b"" for record in read_all(bootstrap, sink["iceberg.control.topic"]))
    assert answered
    assert set(answered.values()) == {1}
