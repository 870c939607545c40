"""``python -m benchmarks``: file -> Kafka and Kafka -> files, by Kafka Connect and by airflow_kconnect."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from airflow_kconnect.local.broker import EmbeddedBroker
from benchmarks import results
from benchmarks.files import LINE_BYTES, FileBench
from benchmarks.measure import CpuMeter
from benchmarks.report import table

app = typer.Typer(add_completion=False)


@app.command()
def main(
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes to move.")] = 1_000_000,
    passes: Annotated[int, typer.Option(help="Passes of each contender, after one that does not count.")] = 5,
    schemas: Annotated[bool, typer.Option(help="JsonConverter with the envelope (Connect's default).")] = True,
    transforms: Annotated[bool, typer.Option(help="With transformations on both ways.")] = False,
    output: Annotated[Path | None, typer.Option(help="Results go to this JSON file.")] = None,
) -> None:
    """Print records/s of both sides and their ratios; write them to build/benchmarks/files.json."""
    console = Console()
    say = partial(console.print, soft_wrap=True, highlight=False)
    with tempfile.TemporaryDirectory(prefix="kconnect-bench-") as folder:
        broker = EmbeddedBroker(Path(folder) / "broker", heap_mb=1024, progress=say)
        pid = broker.start().pid
        assert pid is not None
        try:
            options = {"schemas": schemas, "transforms": transforms}
            bench = FileBench(broker.bootstrap, Path(folder), CpuMeter([pid]), lines, say, **options)
            rows = bench.run(passes)
        finally:
            broker.stop()
    facts = {"lines": f"{lines:,}", "line": f"{LINE_BYTES} bytes", "passes": str(passes), "schemas": str(schemas)}
    output = output or results.FOLDER / ("transforms.json" if transforms else "files.json")
    results.write(output, rows, facts=facts)
    say(table(rows))
    say(f"Results: {output}")


if __name__ == "__main__":
    app()
