"""What the demo shows: its plan, counts of the runs, offsets as stored in Kafka, rows of the output, next steps."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.demo.pipelines import Answer, Pipeline, Run

_DOCS = "https://github.com/airflow-kconnect/airflow_kconnect/tree/main/docs"


def show_plan(console: Console, pipelines: Sequence[Pipeline], folder: DemoFolder, *, first: bool) -> None:
    """What is going to happen.

    :param first: Kafka has yet to be downloaded.
    """
    _line(console, "Kafka Connect without a Connect cluster: a demo on this machine", "bold")
    count = "two DAGs" if len(pipelines) == 2 else "a DAG"
    _line(console, f"Kafka starts, and Airflow runs {count}. Each task is one job:")
    for pipeline in pipelines:
        _line(console, f"  {pipeline.dag_id:<23} {pipeline.route}")
    _line(console, f"It runs twice. Before the second run {pipelines[0].news}, and it moves only these.")
    _line(console, "In the end the output is compared with the input.")
    facts = Table(show_header=False, box=None, pad_edge=False)
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    sizes = " and ".join(f"{len(pipeline):,} {pipeline.unit}" for pipeline in pipelines)
    subjects = " and of ".join(pipeline.subject for pipeline in pipelines)
    facts.add_row("Data", f"generated: {sizes}, of {subjects}")
    more = "".join(f", {pipeline.downloads[0]}" for pipeline in pipelines if pipeline.downloads[1])
    size = 60 + sum(pipeline.downloads[1] for pipeline in pipelines)
    known = f"none, or a JDBC driver{more}"
    facts.add_row("Downloads", f"Kafka, SQLite's JDBC driver{more}: {size} MB, once" if first else known)
    facts.add_row("Time", "two to four minutes" if first else "two to three minutes")
    facts.add_row("Folder", Text(str(folder.path)))
    console.print(facts)
    console.print()


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


def show_offsets(console: Console, offsets: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """The committed offsets.

    :param offsets: connector -> its offsets, in the format of Connect's REST API.
    """
    table = Table(title="Offsets in Kafka, kept as Kafka Connect keeps them", title_justify="left")
    table.title_style = "bold"
    for column in ("Connector", "Partition", "Offset"):
        table.add_column(column, overflow="fold")
    for connector, rows in offsets.items():
        for row in rows:
            table.add_row(connector, Text(json.dumps(row["partition"])), Text(json.dumps(row["offset"])))
    console.print(table)


def show_output(console: Console, pipeline: Pipeline, folder: DemoFolder) -> None:
    """The files of a pipeline and the last rows in them."""
    files, rows = pipeline.files(), pipeline.written()
    title = f"Output of {pipeline.dag_id}: {len(rows):,} {pipeline.output_unit or pipeline.unit} in {len(files)} files"
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    for file in files:
        table.add_row(Text(str(file.relative_to(folder.path)), overflow="fold"))
    table.add_section()
    for row in rows[-3:]:
        table.add_row(Text(str(row), overflow="fold"))
    console.print(table)


def show_answer(console: Console, answer: Answer) -> None:
    """What each program answers to one query, side by side."""
    table = Table(title=f"Asked: {answer.query}", title_justify="left", title_style="bold")
    key, *others = answer.columns
    table.add_column(key)
    for program in answer.rows:
        for column in others:
            table.add_column(f"{program}: {column}", justify="right")
    for rows in zip_longest(*answer.rows.values(), fillvalue={}):
        cells = (row.get(column, "") for row in rows for column in others)
        table.add_row(str(rows[0].get(key, "")), *map(str, cells))
    console.print(table)
    if answer.hint:
        _line(console, answer.hint)


def show_next(
    console: Console, folder: DemoFolder, pipelines: Sequence[Pipeline], bootstrap: str, *, running: bool
) -> None:
    """Next steps for the user; commands and paths are on separate lines, to be copied.

    :param running: whether the broker is still running.
    """
    _line(console, "The DAGs, with Kafka Connect's JSON in them; what they read and wrote; Airflow's log:")
    for path in (folder.dags, folder.data, folder.log):
        _line(console, f"  {path}", "cyan")
    kconnect, topic = _program(), pipelines[0].topic
    data = shlex.quote(str(folder.broker))
    if running:
        _line(console, f"Kafka still runs at {bootstrap}. To look into a topic, and to stop Kafka:")
        commands = [f"topic tail {topic} --bootstrap-servers {bootstrap}"]
    else:
        _line(console, "Kafka has stopped; its topics are kept. To look into one:")
        worker = shlex.quote(str(folder.broker / "worker.properties"))
        commands = [f"broker start --data {data} --port {bootstrap.rpartition(':')[2]}"]
        commands += [f"topic tail {topic} --worker {worker}"]
    for command in (*commands, f"broker stop --data {data}"):
        _line(console, f"  {kconnect} {command}", "cyan")
    _line(console, "Your own connector, from a file, without Airflow and in a DAG:")
    _line(console, f"  {_DOCS}/quickstart.md", "cyan")


def _program() -> str:
    """What to type for `kconnect`: its path if its virtual environment is not active, relative if it is below here."""
    script = Path(sys.executable).with_name("kconnect")
    if shutil.which("kconnect") == str(script) or not script.is_file():
        return "kconnect"
    return shlex.quote(str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script))


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style), soft_wrap=True)
