"""``python -m benchmarks.avro``: Avro messages of ten fields, by Kafka Connect, airflow_kconnect and plain loops."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import environment, results
from benchmarks.avro_paths import AvroBench
from benchmarks.database_tables import fill, server_pid
from benchmarks.debezium import DEBEZIUM
from benchmarks.measure import CpuMeter
from benchmarks.report import table
from benchmarks.settings import APICURIO_VERSION

app = typer.Typer(add_completion=False)


@app.command()
def main(
    rows: Annotated[int, typer.Option(help="Rows of ten columns to move.")] = 400_000,
    passes: Annotated[int, typer.Option(help="Passes of each contender, after one that does not count.")] = 3,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "avro.json",
) -> None:
    """Print records/s of all sides and their ratios; write them to build/benchmarks/avro.json."""
    say = environment.console()
    with (
        environment.broker(say) as place,
        environment.database() as database,
        environment.registry(place.folder, say) as registry_url,
    ):
        row_bytes = fill(database, rows)
        meter = CpuMeter([place.broker_pid, server_pid(database)])
        bench = AvroBench(place.bootstrap, registry_url, place.folder, database, meter, rows, row_bytes, say)
        found = bench.run(passes)
    facts = {"rows": f"{rows:,}", "row": f"{row_bytes:.0f} bytes", "passes": str(passes)}
    facts |= {"Debezium": DEBEZIUM, "Apicurio's converter": APICURIO_VERSION}
    results.write(output, found, facts=facts)
    say(table(found))
    say(f"Results: {output}")


if __name__ == "__main__":
    app()
