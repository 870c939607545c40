"""``python -m tests.torture``: play random schedules of faults and say what they have shown."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.local.ports import LOOPBACK
from tests.support.databases.postgres import PostgresServer
from tests.support.spark.lakes import lakes_conf
from tests.torture.cluster import Cluster
from tests.torture.connectors import PostgresSource
from tests.torture.in_stores import InStore, Stores
from tests.torture.kinds import ALL
from tests.torture.others import start_session
from tests.torture.player import Outcome, Player
from tests.torture.table_source import DeltaSource
from tests.torture.tables import TableSink

app = typer.Typer(add_completion=False)

RESULTS = Path(__file__).parents[2] / "build" / "torture" / "results.jsonl"


@app.command()
def main(
    kind: Annotated[list[str] | None, typer.Option(help=f"One of: {', '.join(ALL)}. Default: each.")] = None,
    schedules: Annotated[int, typer.Option(help="Schedules of each kind and guarantee.")] = 1,
    seed: Annotated[int | None, typer.Option(help="Of the first schedule; the next ones count on from it.")] = None,
    nodes: Annotated[int, typer.Option(help="Brokers: 1 or 3.")] = 1,
    at_least_once: Annotated[bool, typer.Option(help="Sources with a worker that allows no exactly once.")] = False,
    keep: Annotated[bool, typer.Option(help="Keep the folders of schedules that went well.")] = False,
) -> None:
    """Play random schedules of kills, zombies, concurrent runs and broker faults, and count what has arrived.

    Each schedule is one line of build/torture/results.jsonl; ends with 1 if a promise was broken.
    """
    first = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="kconnect-torture-"))
    cluster = Cluster(work, nodes)
    servers: list[PostgresServer] = []
    stores = ExitStack()

    @cache
    def server() -> PostgresServer:
        servers.append(PostgresServer())
        servers[-1].start()
        return servers[-1]

    PostgresSource.server = staticmethod(server)
    InStore.stores = Stores(stores, work)
    TableSink.session = staticmethod(cache(start_session))
    broken = 0
    try:
        cluster.start()
        print(f"Seeds from {first}; {nodes} broker(s) at {LOOPBACK}; folders in {work}")
        for number in range(first, first + schedules):
            for name in kind or playable():
                if at_least_once and ALL[name].sink:
                    continue
                outcome = play(name, number, cluster, work, exactly_once=not at_least_once, keep=keep)
                broken += bool(outcome.problems)
    finally:
        cluster.stop()
        for each in servers:
            each.stop()
        stores.close()
        if not broken and not keep:
            shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if broken else 0)


def playable() -> list[str]:
    """All kinds; those of lake tables only if there are such formats for this Spark."""
    lakes = bool(lakes_conf(Path("unused")))
    return [name for name, kind in ALL.items() if lakes or not issubclass(kind, TableSink | DeltaSource)]


def play(name: str, seed: int, cluster: Cluster, work: Path, *, exactly_once: bool, keep: bool) -> Outcome:
    """Play one schedule, print it and write its result down."""
    print(f"{name}, seed {seed}", flush=True)
    folder = work / f"{seed}-{name.replace(' ', '-').replace(',', '')}"
    player = Player(
        ALL[name], seed, cluster, folder, exactly_once=exactly_once, say=lambda line: print(f"  {line}", flush=True)
    )
    outcome = player.play()
    verdict = "; ".join(outcome.problems) or "as promised"
    print(
        f"  {outcome.expected} records, {outcome.missing} missing, {outcome.doubled} doubled, "
        f"struck by {', '.join(f'{kind} {count}' for kind, count in outcome.struck.items()) or 'nothing'}, "
        f"{outcome.seconds:.0f} s: {verdict}",
        flush=True,
    )
    with RESULTS.open("a") as out:
        out.write(json.dumps(asdict(outcome)) + "\n")
    if not outcome.problems and not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


if __name__ == "__main__":
    app()
