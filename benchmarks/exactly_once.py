"""``python -m benchmarks.exactly_once``: what exactly-once costs our runs of PostgreSQL -> Kafka -> PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from airflow_kconnect.runs.report import RunReport
from benchmarks import environment
from benchmarks.database_tables import TABLE, fill
from benchmarks.measure import OURS, Contender, Pass, Row, alternate, number
from benchmarks.ours import OurSide
from benchmarks.settings import PARTITIONS
from benchmarks.tables import MODES, sink_config, source_config
from benchmarks.topics import Topics
from tests.support.databases.postgres import PostgresDatabase

app = typer.Typer(add_completion=False)

_GUARANTEES = {"exactly once": True, "at least once": False}


@app.command()
def main(
    rows: Annotated[int, typer.Option(help="Rows of ten columns to move.")] = 2_000_000,
    passes: Annotated[int, typer.Option(help="Passes with each guarantee, after one that does not count.")] = 3,
) -> None:
    """Print records/s exactly once and at least once, the passes in turns."""
    say = environment.console()
    found: list[Row] = []
    with environment.broker(say) as place, environment.database() as database:
        size = fill(database, rows)
        with OurSide("local[2]", place.folder, place.bootstrap) as side:
            runs = _Runs(side, place.bootstrap, database, rows)
            for path, run in (("PostgreSQL to Kafka", runs.source), ("Kafka to PostgreSQL", runs.sink)):
                contenders = [
                    Contender(OURS, name, PARTITIONS, partial(run, sure)) for name, sure in _GUARANTEES.items()
                ]
                found += alternate(path, contenders, size, passes, say)
    for sure, unsure in zip(found[::2], found[1::2], strict=True):
        middle, lowest, highest = sure.ratios(unsure)
        rates = f"{number(sure.median)} exactly once, {number(unsure.median)} at least once"
        say(f"{sure.path}, records/s: {rates}, ratio {middle:.2f} ({lowest:.2f} to {highest:.2f})")


class _Runs:
    def __init__(self, side: OurSide, bootstrap: str, database: PostgresDatabase, rows: int) -> None:
        self._side, self._database, self._rows = side, database, rows
        self._topics = Topics(bootstrap)
        self._read = self._topics.create(f"read-{TABLE}")
        side.run(source_config("read", database, "read-", MODES["bulk"], schemas=True))

    def source(self, exactly_once: bool, name: str) -> Pass:
        with self._topics.temporary(f"{name}-{TABLE}"):
            config = source_config(name, self._database, f"{name}-", MODES["incrementing"], schemas=False)
            support = "enabled" if exactly_once else "disabled"
            return self._moved(self._side.run(config, {"exactly.once.source.support": support}))

    def sink(self, exactly_once: bool, name: str) -> Pass:
        table = name.replace("-", "_")
        config = sink_config(name, self._database, self._read, table)
        found = self._moved(self._side.run(config | ({} if exactly_once else {"offsets.table": ""})))
        self._database.execute(f"drop table {table}")
        return found

    def _moved(self, report: RunReport) -> Pass:
        took = report.durations_s
        assert report.records["written"] == self._rows, report
        return Pass(self._rows, took["moving records"] + took["committing offsets"], whole_s=took["total"])


if __name__ == "__main__":
    app()
