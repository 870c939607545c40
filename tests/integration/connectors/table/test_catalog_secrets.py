"""A catalog in PostgreSQL, tables in a store with the interface of S3: they work, and show their keys nowhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import unique
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import produce
from tests.support.s3 import S3Server

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3Server]:
    (tmp_path / "s3").mkdir()
    server = S3Server(tmp_path / "s3")
    yield server
    server.remove()


def test_neither_pages_nor_event_log_nor_report_have_secrets(
    bootstrap: str,
    worker_props: dict[str, str],
    topic: Callable[..., str],
    postgres: PostgresServer,
    s3: S3Server,
    tmp_path: Path,
) -> None:
    database, events = postgres.create_database(), tmp_path / "events"
    events.mkdir()
    config = {
        "name": unique("secretive"),
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "topics": topic(),
        "iceberg.tables": "shop.orders",
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.catalog.type": "jdbc",
        "iceberg.catalog.uri": database.url,
        "iceberg.catalog.jdbc.user": str(database.user),
        "iceberg.catalog.jdbc.password": str(database.password),
        "iceberg.catalog.warehouse": f"s3://{s3.create_bucket()}/warehouse",
        "iceberg.catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "iceberg.catalog.client.region": "us-east-1",
        "iceberg.catalog.s3.endpoint": s3.url,
        "iceberg.catalog.s3.path-style-access": "true",
        "iceberg.catalog.s3.access-key-id": s3.access_key,
        "iceberg.catalog.s3.secret-access-key": s3.secret_key,
        # A name that no pattern of secrets matches.
        "iceberg.catalog.harmless": "hunter2-hunter2",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    schema = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}
    produce(bootstrap, config["topics"], [json.dumps({"schema": schema, "payload": {"id": n}}) for n in range(20)])
    file = tmp_path / "task.json"
    file.write_text(json.dumps({"config": config, "worker": worker_props, "events": f"file://{events}"}))
    command = [sys.executable, "-m", "tests.support.spark.watched_run", str(file)]
    # The server does not know the checksums with which new clients end uploads.
    env = {**os.environ, "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=env)
    assert "the pages are whole" in done.stdout, done.stderr[-3000:]
    [(metadata,)] = database.execute("select metadata_location from iceberg_tables where table_name = 'orders'")
    assert s3.file_of(metadata).exists()
    log = "".join(path.read_text(errors="replace") for path in events.rglob("*") if path.is_file())
    assert "SparkListenerSQLExecutionStart" in log
    shown = f"{done.stdout}{done.stderr}{log}"
    secrets = (str(database.password), s3.secret_key, "hunter2-hunter2")
    assert [secret for secret in secrets if secret in shown] == []
