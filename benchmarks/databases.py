"""``python -m benchmarks.databases``: PostgreSQL -> Kafka -> PostgreSQL, by Debezium and by airflow_kconnect."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from benchmarks.database_pipelines import (
    MODES,
    PASSES,
    SINK_TOPIC,
    DatabaseBench,
    Measured,
    OurRuns,
    create_topic,
    sink_config,
    source_config,
)
from benchmarks.database_tables import TABLE, fill, start_postgres
from benchmarks.memory import peak_memory
from benchmarks.session import spark_session
from tests.support.postgres import PostgresDatabase

app = typer.Typer(add_completion=False)
Say = Callable[[str], None]


@app.command()
def main(
    rows: Annotated[int, typer.Option(help="Rows of ten columns to move.")] = 2_000_000,
    exactly_once_cost: Annotated[bool, typer.Option(help="Instead: ours, exactly once and at least once.")] = False,
    memory: Annotated[bool, typer.Option(help="Instead: the memory of 1x and 10x the rows.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file too.")] = None,
) -> None:
    """Print records/s of both sides and their ratio, each in its best of three passes; both are exactly once."""
    console = Console()
    say = partial(console.print, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="kconnect-bench-") as folder:
        broker = EmbeddedBroker(Path(folder) / "broker", heap_mb=1024, progress=console.print)
        postgres = start_postgres()
        try:
            broker.start()
            database = postgres.create_database()
            if memory:
                figures: Any = _memory(broker.bootstrap, database, rows, say)
            elif exactly_once_cost:
                fill(database, rows)
                figures = _cost(broker.bootstrap, Path(folder), database, rows, say)
                console.print(_cost_table(figures))
            else:
                fill(database, rows)
                measured = DatabaseBench(broker.bootstrap, Path(folder), database, rows, say).run()
                console.print(_table(measured))
                figures = [vars(row) for row in measured]
        finally:
            broker.stop()
            postgres.remove()
    if output:
        output.write_text(json.dumps(figures, indent=2))


def _table(measured: list[Measured]) -> Table:
    table = Table("path", "Debezium, records/s", "airflow_kconnect, records/s", "ratio", "of a whole run")
    for row in measured:
        ratios = f"{row.ours / row.connect:.2f}", f"{row.whole_run:,.0f} ({row.whole_run / row.connect:.2f})"
        table.add_row(row.path, f"{row.connect:,.0f}", f"{row.ours:,.0f}", *ratios)
    return table


Cost = dict[str, tuple[float, float]]


def _cost(bootstrap: str, folder: Path, database: PostgresDatabase, rows: int, say: Say) -> Cost:
    """Records/s exactly once and at least once, in turns, so that both meet the same machine."""
    spark, runs = spark_session(folder), OurRuns(bootstrap, database, rows, say)
    runs.source(spark, "for-sinks", MODES["bulk"], schemas=True)
    best: dict[str, dict[bool, float]] = {"table -> Kafka": {}, "Kafka -> table": {}}
    for n in range(PASSES):
        # Whoever comes second finds what the first has warmed up.
        for sure in (True, False) if n % 2 else (False, True):
            source = runs.source(spark, f"{sure}-{n}", MODES["incrementing"], exactly_once=sure)[0]
            table = {} if sure else {"offsets.table": ""}
            sink = runs.sink(spark, f"sink-{sure}-{n}".lower(), SINK_TOPIC, **table)[0]
            for path, found in (("table -> Kafka", source), ("Kafka -> table", sink)):
                best[path][sure] = max(best[path].get(sure, 0.0), found)
    spark.stop()
    return {path: (found[True], found[False]) for path, found in best.items()}


def _cost_table(best: Cost) -> Table:
    table = Table("path", "exactly once, records/s", "at least once, records/s", "ratio")
    for path, (exactly, at_least) in best.items():
        table.add_row(path, f"{exactly:,.0f}", f"{at_least:,.0f}", f"{exactly / at_least:.2f}")
    return table


def _memory(bootstrap: str, database: PostgresDatabase, rows: int, say: Say) -> dict[str, Any]:
    """Peak memory in MB by kind of process, for so many rows and ten times as many."""
    figures: dict[str, Any] = {}
    for times in (1, 10):
        fill(database, rows * times)
        source, sink = f"memory-source-{times}", f"memory_sink_{times}"
        topic = create_topic(bootstrap, f"memory-{times}-{TABLE}")
        configs = {
            "source": source_config(source, database, f"memory-{times}-", MODES["incrementing"], schemas=True),
            "sink": sink_config(sink, database, topic, sink),
        }
        for kind, config in configs.items():
            name = f"{kind}, {rows * times:,} rows"
            figures[name] = peak_memory(config, worker_config(bootstrap))
            say(f"peak memory in MB, {name}: {figures[name]}")
        database.execute(f"drop table {sink}")
    return figures


if __name__ == "__main__":
    app()
