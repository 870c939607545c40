"""What the demo shows: counts of the runs, offsets as Kafka has them, rows of the output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord

_OFFSET_TOPIC = "connect-offsets"


@dataclass
class Offsets:
    """Committed offsets, read from Kafka itself: (place, key, value)."""

    rows: list[tuple[str, str, str]]

    @classmethod
    def read(cls, bootstrap: str, source: str, sink: str) -> Self:
        """Those of a source, from the offset topic, and of a sink, from its consumer group."""
        rows = [
            (f"topic {_OFFSET_TOPIC}", json.dumps(partition), json.dumps(offset))
            for partition, offset in _source_offsets(bootstrap, source)
        ]
        group = f"connect-{sink}"
        admin = AdminClient({"bootstrap.servers": bootstrap})
        answers = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        for place in answers[group].result(timeout=30).topic_partitions:
            rows.append((f"group {group}", f"{place.topic}-{place.partition}", str(place.offset)))
        return cls(rows)


def _source_offsets(bootstrap: str, source: str) -> list[tuple[Any, Any]]:
    clients = ClientConfigs({"bootstrap.servers": bootstrap})
    admin = KafkaAdmin(clients.admin())
    newest: dict[bytes, bytes] = {}

    def take(record: LogRecord) -> None:
        if record.key is None or json.loads(record.key)[0] != source:
            return
        if record.value is None:
            newest.pop(record.key, None)
        else:
            newest[record.key] = record.value

    log = CompactedLog(admin, clients.consumer("kconnect-demo"), _OFFSET_TOPIC)
    log.read(range(admin.partitions(_OFFSET_TOPIC)), take)
    return [(json.loads(key)[1], json.loads(value)) for key, value in newest.items()]


def show_runs(console: Console, runs: Sequence[dict[str, Any]]) -> None:
    """Counts per run and task, as the tasks returned them to Airflow."""
    table = Table(title="Runs of the DAG", title_justify="left")
    for column in ("Run", "Task", "Read", "Written", "Guarantee", "Job s", "Run s"):
        numeric = column not in ("Run", "Task", "Guarantee")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    for run in runs:
        title, seconds = run["title"], f"{run['seconds']:.1f}"
        for task, report in run["reports"].items():
            records = report["records"]
            counts = (f"{records['read']:,}", f"{records['written']:,}", report["guarantee"].replace("_", " "))
            table.add_row(title, task, *counts, f"{report['durations_s']['total']:.1f}", seconds)
            title = seconds = ""
        table.add_section()
    console.print(table)


def show_offsets(console: Console, offsets: Sequence[Offsets]) -> None:
    """The committed offsets."""
    table = Table("Where", "Partition", "Offset", title="Offsets in Kafka", title_justify="left")
    for row in (row for each in offsets for row in each.rows):
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    console.print(table)


def show_output(console: Console, files: Sequence[Path], rows: Sequence[Any], beside: Path, unit: str) -> None:
    """The files and the last rows in them."""
    table = Table(title=f"Output: {len(rows):,} {unit} in {len(files)} files", title_justify="left", show_header=False)
    for file in files:
        table.add_row(Text(str(file.relative_to(beside)), overflow="fold"))
    table.add_section()
    for row in rows[-3:]:
        table.add_row(Text(str(row)))
    console.print(table)
