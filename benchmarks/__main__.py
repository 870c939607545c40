"""``python -m benchmarks``: file -> Kafka and Kafka -> files, by Kafka Connect and by airflow_kconnect."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from airflow_kconnect.local.broker import EmbeddedBroker
from benchmarks.memory import memory_of_runs
from benchmarks.pipelines import Bench, Measured

app = typer.Typer(add_completion=False)


@app.command()
def main(
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes to move.")] = 1_000_000,
    schemas: Annotated[bool, typer.Option(help="JsonConverter with the envelope (Connect's default).")] = True,
    transforms: Annotated[bool, typer.Option(help="With transformations on both ways.")] = False,
    memory: Annotated[bool, typer.Option(help="Also compare the memory of 1x and 10x the lines.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file too.")] = None,
) -> None:
    """Print records/s of both sides and their ratio; both are warm, Connect runs exactly-once."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="kconnect-bench-") as folder:
        broker = EmbeddedBroker(Path(folder) / "broker", heap_mb=1024, progress=console.print)
        broker.start()
        try:
            bench = Bench(broker.bootstrap, Path(folder), lines, schemas, console.print, transforms=transforms)
            measured = bench.run()
            figures = memory_of_runs(broker.bootstrap, Path(folder), lines, console.print) if memory else {}
        finally:
            broker.stop()
    console.print(_table(measured))
    for name, value in figures.items():
        console.print(f"{name}: {value}")
    if output:
        output.write_text(json.dumps({"measured": [vars(m) for m in measured], "memory": figures}, indent=2))


def _table(measured: list[Measured]) -> Table:
    table = Table("path", "Kafka Connect, records/s", "airflow_kconnect, records/s", "ratio", "of a whole run")
    for row in measured:
        ratios = f"{row.ours / row.connect:.2f}", f"{row.whole_run:,.0f} ({row.whole_run / row.connect:.2f})"
        table.add_row(row.path, f"{row.connect:,.0f}", f"{row.ours:,.0f}", *ratios)
    return table


if __name__ == "__main__":
    app()
