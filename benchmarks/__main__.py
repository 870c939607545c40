"""``python -m benchmarks``: file -> Kafka and Kafka -> files, by Kafka Connect and by airflow_kconnect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import environment, results
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
    connect: Annotated[bool, typer.Option(help="Against Kafka Connect; without: only what our records cost.")] = True,
    output: Annotated[Path | None, typer.Option(help="Results go to this JSON file.")] = None,
) -> None:
    """Print records/s of both sides and their ratios; write them to build/benchmarks/files.json."""
    say = environment.console()
    with environment.broker(say) as found:
        options = {"schemas": schemas, "transforms": transforms}
        bench = FileBench(found.bootstrap, found.folder, CpuMeter([found.broker_pid]), lines, say, **options)
        rows = bench.run(passes) if connect else bench.run_ours(passes)
    facts = {"lines": f"{lines:,}", "line": f"{LINE_BYTES} bytes", "passes": str(passes), "schemas": str(schemas)}
    output = output or results.FOLDER / ("transforms.json" if transforms else "files.json")
    results.write(output, rows, facts=facts)
    if connect:
        say(table(rows))
    say(f"Results: {output}")


if __name__ == "__main__":
    app()
