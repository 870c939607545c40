"""Whether both sides have moved all records, with equal values."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from benchmarks.database_tables import TABLE
from benchmarks.serializer_loops import partition
from benchmarks.settings import PARTITIONS
from tests.support.databases.postgres import PostgresDatabase

_PATIENCE_S = 120


def table_rows(database: PostgresDatabase) -> dict[int, tuple[Any, ...]]:
    """The rows of the benchmark's table by id, as Avro's values: a timestamp is one of UTC."""
    names = [
        row[0]
        for row in database.execute(
            f"select column_name from information_schema.columns where table_name = '{TABLE}' order by ordinal_position"
        )
    ]
    at = names.index("created_at")
    rows = database.execute(f"select * from {TABLE}")
    return {row[0]: (*row[:at], row[at].replace(tzinfo=UTC), *row[at + 1 :]) for row in rows}


def check_topic(bootstrap: str, registry_url: str, topic: str, expected: dict[int, tuple[Any, ...]]) -> None:
    """:raises AssertionError: the Avro messages of a topic are not the expected rows, each once."""
    read = AvroDeserializer(SchemaRegistryClient({"url": registry_url}))
    context = SerializationContext(topic, MessageField.VALUE)
    found: dict[int, tuple[Any, ...]] = {}
    count = 0
    for number in range(PARTITIONS):
        with partition(bootstrap, topic, number) as values:
            for value in values:
                row = read(value, context)
                found[row["id"]] = tuple(row.values())
                count += 1
    assert count == len(expected), f"{topic} has {count} records of {len(expected)}"
    assert found == expected, f"{topic} has other values: {_first_difference(found, expected)}"


def _first_difference(found: dict[int, Any], expected: dict[int, Any]) -> str:
    key = next(key for key in expected if found.get(key) != expected[key])
    return f"{found.get(key)} instead of {expected[key]}"


def digest(path: Path) -> tuple[int, str]:
    """How many lines a file has, and a digest of them that does not depend on their order."""
    with path.open("rb") as lines:
        ordered = sorted(lines)
    return len(ordered), hashlib.sha256(b"".join(ordered)).hexdigest()


def wait_for(what: str, seen: Callable[[], int], expected: int) -> None:
    """Wait until a pass has moved everything: its clock may have stopped before.

    :raises AssertionError: it does not within two minutes.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while (found := seen()) < expected:
        assert time.monotonic() < deadline, f"{what}: {found} of {expected} within {_PATIENCE_S} s"
        time.sleep(0.2)
