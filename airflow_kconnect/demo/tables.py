"""What the demo shows: its plan, counts of the runs, offsets as Kafka has them, rows of the output, what is next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.demo.pipelines import Pipeline
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord

if TYPE_CHECKING:
    from airflow_kconnect.demo.demo import Run

_OFFSET_TOPIC = "connect-offsets"
_DOCS = "https://github.com/airflow-kconnect/airflow_kconnect/tree/main/docs"


def show_plan(console: Console, pipelines: Sequence[Pipeline], folder: DemoFolder, *, first: bool) -> None:
    """What is going to happen.

    :param first: Kafka is still to be downloaded.
    """
    _line(console, "Kafka Connect without a Connect cluster: a demo on this machine", "bold")
    _line(console, "Kafka starts, and Airflow runs two DAGs. Each of their tasks is one Spark job:")
    for pipeline in pipelines:
        _line(console, f"  {pipeline.dag_id:<23} {pipeline.route}")
    _line(console, "Each DAG runs twice. Before its second run records are added, and it moves only these.")
    _line(console, "In the end the output is compared with the input.")
    facts = Table(show_header=False, box=None, pad_edge=False)
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    sizes = " and ".join(f"{len(pipeline):,} {pipeline.unit}" for pipeline in pipelines)
    facts.add_row("Data", f"generated: {sizes}, of weather and of stock prices")
    facts.add_row("Downloads", "Kafka and SQLite's JDBC driver, 60 MB, once" if first else "none, or a JDBC driver")
    facts.add_row("Time", "about three minutes" if first else "about two minutes")
    facts.add_row("Folder", Text(str(folder.path)))
    console.print(facts)
    console.print()


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


def show_runs(console: Console, runs: Sequence[Run]) -> None:
    """Counts per run and task, as the tasks returned them to Airflow."""
    guarantees = {report["guarantee"] for run in runs for report in run.reports.values()}
    words = ", ".join(sorted(guarantees)).replace("_", " ")
    table = Table(title=f"Runs of the DAGs (every one {words})", title_justify="left", title_style="bold")
    for column in ("New in the input", "Task"):
        table.add_column(column, no_wrap=True)
    for column in ("Read", "Written", "Job s", "Run s"):
        table.add_column(column, justify="right", no_wrap=True)
    for run in runs:
        added, seconds = run.added, f"{run.seconds:.1f}"
        for task, report in run.reports.items():
            records = report["records"]
            counts = (f"{records['read']:,}", f"{records['written']:,}", f"{report['durations_s']['total']:.1f}")
            table.add_row(added, task, *counts, seconds)
            added = seconds = ""
        table.add_section()
    console.print()
    console.print(table)


def show_offsets(console: Console, offsets: Sequence[Offsets]) -> None:
    """The committed offsets."""
    table = Table(title="Offsets in Kafka, where a Connect cluster has them too", title_justify="left")
    table.title_style = "bold"
    for column in ("Where", "Partition", "Offset"):
        table.add_column(column, overflow="fold")
    for row in (row for each in offsets for row in each.rows):
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    console.print(table)


def show_output(console: Console, pipeline: Pipeline, folder: DemoFolder) -> None:
    """The files of a pipeline and the last rows in them."""
    files, rows = pipeline.files(), pipeline.written()
    title = f"Output of {pipeline.dag_id}: {len(rows):,} {pipeline.unit} in {len(files)} files"
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    for file in files:
        table.add_row(Text(str(file.relative_to(folder.path)), overflow="fold"))
    table.add_section()
    for row in rows[-3:]:
        table.add_row(Text(str(row), overflow="fold"))
    console.print(table)


def show_next(
    console: Console, folder: DemoFolder, pipelines: Sequence[Pipeline], bootstrap: str, *, running: bool
) -> None:
    """Where to look next; commands and paths in lines of their own, to be copied.

    :param running: whether the broker still runs.
    """
    _line(console, "The DAGs, with Kafka Connect's JSON in them; what they read and wrote; Airflow's log:")
    for path in (folder.dags, folder.data, folder.log):
        _line(console, f"  {path}", "cyan")
    data = shlex.quote(str(folder.broker))
    topic = pipelines[0].topic
    if running:
        _line(console, f"Kafka still runs at {bootstrap}. To look into a topic, and to stop Kafka:")
        commands = [f"kconnect topic tail {topic} --bootstrap-servers {bootstrap}"]
        commands += [f"kconnect broker stop --data {data}"]
    else:
        _line(console, "Kafka has stopped; its topics are kept. To look into one:")
        commands = [f"kconnect broker start --data {data}", f"kconnect topic tail {topic}"]
        commands += [f"kconnect broker stop --data {data}"]
    for command in commands:
        _line(console, f"  {command}", "cyan")
    _line(console, "Your own connector, from a file, without Airflow and in a DAG:")
    _line(console, f"  {_DOCS}/quickstart.md", "cyan")


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style), soft_wrap=True)
