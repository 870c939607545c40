"""``python -m benchmarks.databases``: PostgreSQL -> Kafka -> PostgreSQL, by Debezium and by airflow_kconnect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import environment, results
from benchmarks.database_tables import fill, server_pid
from benchmarks.measure import CpuMeter
from benchmarks.report import table
from benchmarks.tables import DEBEZIUM, TableBench

app = typer.Typer(add_completion=False)


@app.command()
def main(
    rows: Annotated[int, typer.Option(help="Rows of ten columns to move.")] = 1_000_000,
    passes: Annotated[int, typer.Option(help="Passes of each contender, after one that does not count.")] = 3,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "databases.json",
) -> None:
    """Print records/s of both sides and their ratios; write them to build/benchmarks/databases.json."""
    say = environment.console()
    with environment.broker(say) as place, environment.database() as database:
        row_bytes = fill(database, rows)
        meter = CpuMeter([place.broker_pid, server_pid(database)])
        found = TableBench(place.bootstrap, place.folder, database, meter, rows, row_bytes, say).run(passes)
        server = str(database.execute("show server_version")[0][0])
    facts = {"rows": f"{rows:,}", "row": f"{row_bytes:.0f} bytes", "passes": str(passes)}
    facts |= {"PostgreSQL": server.split()[0], "Debezium": DEBEZIUM}
    results.write(output, found, facts=facts)
    say(table(found))
    say(f"Results: {output}")


if __name__ == "__main__":
    app()
