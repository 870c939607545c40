"""``python -m benchmarks.memory``: driver, JVM and workers of a real spark-submit, for N and 10 N records."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import psutil
import typer

from airflow_kconnect.runs.events import parse_event
from airflow_kconnect.runs.spec import RunSpec, run_spec_file
from airflow_kconnect.submit.spark import find_spark_submit
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.submit.submit import submit_command
from benchmarks import environment
from benchmarks.database_tables import TABLE, fill
from benchmarks.files import write_lines
from benchmarks.measure import Say
from benchmarks.settings import our_worker
from benchmarks.tables import MODES, sink_config, source_config
from benchmarks.topics import Topics
from tests.support.databases.postgres import PostgresDatabase

app = typer.Typer(add_completion=False)


@app.command()
def main(
    records: Annotated[int, typer.Option(help="Lines or rows; ten times as many follow.")] = 1_000_000,
    tables: Annotated[bool, typer.Option("--tables", help="PostgreSQL in place of files.")] = False,
) -> None:
    """Print the highest resident memory of a process of each kind, in MB; it must not grow with the records."""
    say = environment.console()
    with environment.broker(say) as place:
        if tables:
            with environment.database() as database:
                _of_tables(place.bootstrap, database, records, say)
        else:
            _of_files(place.bootstrap, place.folder, records, say)


def _of_tables(bootstrap: str, database: PostgresDatabase, rows: int, say: Say) -> None:
    topics = Topics(bootstrap)
    for times in (1, 10):
        fill(database, rows * times)
        source, sink = f"memory-source-{times}", f"memory_sink_{times}"
        topic = topics.create(f"memory-{times}-{TABLE}")
        configs = {
            "source": source_config(source, database, f"memory-{times}-", MODES["incrementing"], schemas=True),
            "sink": sink_config(sink, database, topic, sink),
        }
        for kind, config in configs.items():
            say(f"peak memory in MB, {kind}, {rows * times:,} rows: {peak_memory(config, our_worker(bootstrap))}")
        database.execute(f"drop table {sink}")


def _of_files(bootstrap: str, folder: Path, lines: int, say: Say) -> None:
    for times in (1, 10):
        source = write_lines(folder / f"memory-{times}.txt", lines * times)
        topic, target = f"memory-{times}", str(folder / f"memory-{times}")
        configs = {
            "source": {"connector.class": "FileStreamSource", "file": str(source), "topic": topic},
            "sink": {"connector.class": "DirectorySink", "topics": topic, "directory": target},
        }
        for kind, config in configs.items():
            found = peak_memory(config | {"name": f"memory-{kind}-{times}"}, our_worker(bootstrap))
            say(f"peak memory in MB, {kind}, {lines * times:,} lines: {found}")
        source.unlink()


def peak_memory(
    config: Mapping[str, str], worker: Mapping[str, str], conf: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Run a connector by spark-submit; the highest memory of a process of each kind, in MB.

    :param conf: settings of Spark.
    """
    run, spark = RunSpec(config=config, worker=worker), find_spark_submit()
    settings = with_needs(conf or {}, [config], spark)
    with run_spec_file(run) as spec:
        command = submit_command(spark, spec, master="local[*]", conf=settings, name="memory")
        process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        peaks: dict[str, int] = {}
        watch = threading.Thread(target=_watch, args=(process, peaks))
        watch.start()
        output, _ = process.communicate()
        watch.join()
    events = [parse_event(line, run.token) for line in output.splitlines()]
    assert any(event and event["event"] == "report" for event in events), output
    return peaks


def _watch(process: psutil.Popen, peaks: dict[str, int]) -> None:
    while process.poll() is None:
        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            children = process.children(recursive=True)
        for part in (process, *children):
            with contextlib.suppress(psutil.Error):
                kind = _kind(part)
                peaks[kind] = max(peaks.get(kind, 0), part.memory_info().rss >> 20)
        threading.Event().wait(0.2)


def _kind(process: psutil.Process) -> str:
    program, *rest = process.cmdline() or [""]
    # Not by its name: a child of the JVM that is about to be another program has the name of a thread.
    if Path(program).name == "java":
        return "jvm"
    command = " ".join(rest)
    if "connector_job" in command:
        return "driver"
    return "worker" if "pyspark" in command else "other"


if __name__ == "__main__":
    app()
