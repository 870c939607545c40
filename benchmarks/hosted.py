"""``python -m benchmarks.hosted``: Java connectors in hosted runs, and in a Connect worker of the same settings."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import psutil
import typer

from airflow_kconnect.hosted.installing.install import install
from benchmarks import environment, results
from benchmarks.connect import worker
from benchmarks.database_tables import TABLE, fill
from benchmarks.debezium import DEBEZIUM, POSTGRES_PLUGIN, forget_snapshot, snapshot_config
from benchmarks.files import SOURCE, write_lines
from benchmarks.measure import Say, cpu_seconds, number
from benchmarks.report import hosted_table
from benchmarks.settings import (
    HEAP_MB,
    TUNED_DEBEZIUM_SOURCE,
    TUNED_FILE_SOURCE,
    converters,
    our_worker,
    tuned_source,
)
from benchmarks.topics import Topics
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.databases.postgres import PostgresDatabase

app = typer.Typer(add_completion=False)

_PATIENCE_S = 600


@dataclass(frozen=True)
class Moved:
    """One pass, from a cold start.

    :param first_s: from the start of the process to the first record in the topic.
    :param rate: records per second from the first that is seen to the last.
    :param cpu_s: CPU seconds of the JVM in that time.
    """

    first_s: float
    rate: float
    cpu_s: float


@dataclass(frozen=True)
class Load:
    """What both sides move.

    :param config: the keys of a connector by its name, with the topic that its records go to, made by then.
    :param plugins: Maven coordinates of what a worker of Connect needs besides.
    :param forget: removes what a connector of that name has left behind.
    """

    name: str
    records: int
    config: Callable[[str], tuple[dict[str, str], str]]
    plugins: tuple[str, ...] = ()
    forget: Callable[[str], None] = lambda name: None


@app.command()
def main(
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes for the file source.")] = 1_000_000,
    rows: Annotated[int, typer.Option(help="Rows of some 150 bytes for Debezium.")] = 300_000,
    passes: Annotated[int, typer.Option(help="Passes of each, in turns.")] = 5,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "hosted.json",
) -> None:
    """Print rates, CPU seconds and seconds to the first record of both; write them to build/benchmarks/hosted.json."""
    say = environment.console()
    with environment.broker(say) as place, environment.database() as database:
        bench = Bench(place.bootstrap, place.folder)
        loads = {
            load.name: measured(bench, load, passes, say)
            for load in (bench.file_source(lines), bench.debezium(database, rows))
        }
        facts = {"lines": f"{lines:,}", "rows": f"{rows:,}", "passes": str(passes), "Debezium": DEBEZIUM}
        facts["PostgreSQL"] = database.execute("show server_version")[0][0].split()[0]
    found = {
        name: {side: [asdict(each) for each in moved] for side, moved in sides.items()} for name, sides in loads.items()
    }
    results.write(output, [], facts=facts, loads=found)
    say(hosted_table({"loads": found}))
    say(f"Results: {output}")


def measured(bench: Bench, load: Load, passes: int, say: Say) -> dict[str, list[Moved]]:
    """The passes of both sides, in turns."""
    found: dict[str, list[Moved]] = {"hosted": [], "worker": []}
    for turn in range(passes):
        sides: Iterable[tuple[str, Callable[[Load, str], Moved]]] = [("hosted", bench.hosted), ("worker", bench.worker)]
        for side, run in list(sides)[:: -1 if turn % 2 else 1]:
            moved = run(load, f"{load.name.split()[0].lower()}-{side}-{turn}")
            found[side].append(moved)
            say(
                f"{load.name}, {side}: first record after {moved.first_s:.1f} s, {number(moved.rate)} records/s,"
                f" {moved.cpu_s:.1f} CPU s"
            )
    return found


class Bench:
    """Both sides, exactly once."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self._bootstrap, self._folder = bootstrap, folder
        self._topics = Topics(bootstrap)
        plugins = plugin_folder(folder / "plugins", FILE)
        install(POSTGRES_PLUGIN, plugins)
        keys = {**our_worker(bootstrap), "plugin.path": str(plugins), "connector.client.config.override.policy": "All"}
        self._worker = folder / "worker.properties"
        self._worker.write_text("".join(f"{key}={value}\n" for key, value in keys.items()))

    def file_source(self, lines: int) -> Load:
        """File -> Kafka by Kafka's own connector."""
        path = write_lines(self._folder / "input.txt", lines)

        def config(name: str) -> tuple[dict[str, str], str]:
            keys = {"connector.class": SOURCE, "file": str(path), "topic": self._topics.create(name)}
            return keys | converters(schemas=True) | tuned_source() | TUNED_FILE_SOURCE, name

        return Load("File source", lines, config)

    def debezium(self, database: PostgresDatabase, rows: int) -> Load:
        """PostgreSQL -> Kafka by Debezium's snapshot."""
        fill(database, rows)

        def config(name: str) -> tuple[dict[str, str], str]:
            keys = snapshot_config(database, name) | converters(schemas=False, keys=True)
            return keys | tuned_source() | TUNED_DEBEZIUM_SOURCE, self._topics.create(f"{name}.public.{TABLE}")

        return Load("Debezium", rows, config, (POSTGRES_PLUGIN,), lambda name: forget_snapshot(database, name))

    def hosted(self, load: Load, name: str) -> Moved:
        """`kconnect run`."""
        own = {"kconnect.hosted": "true", "kconnect.hosted.memory": f"{HEAP_MB}m", "kconnect.hosted.idle.ms": "1000"}
        keys, topic = load.config(name)
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps({"name": name, **keys, **own}))
        command = [sys.executable, "-m", "airflow_kconnect.cli", "run", str(file), "--worker", str(self._worker)]
        log = self._folder / f"{name}.log"
        began = time.monotonic()
        with (
            log.open("w") as out,
            subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process,
        ):
            moved = self._clock(load, topic, began, lambda: _gateway(process.pid))
        load.forget(name)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {log.read_text()[-2000:]}")
        return moved

    def worker(self, load: Load, name: str) -> Moved:
        """A worker that is started for it."""
        keys, topic = load.config(name)
        began = time.monotonic()
        with worker(self._folder, self._bootstrap, tuned=True, group=name, plugins=load.plugins) as connect:
            connect.create(name, keys)
            moved = self._clock(load, topic, began, lambda: connect.pid)
        load.forget(name)
        return moved

    def _clock(self, load: Load, topic: str, began: float, pid: Callable[[], int]) -> Moved:
        first = self._until(topic, 1, began)
        seen, started, java = self._topics.ends(topic), time.monotonic(), pid()
        cpu = cpu_seconds([java])
        self._until(topic, load.records, began)
        took = time.monotonic() - started
        return Moved(first, (load.records - seen) / took, cpu_seconds([java]) - cpu)

    def _until(self, topic: str, records: int, began: float) -> float:
        while self._topics.ends(topic) < records:
            if time.monotonic() - began > _PATIENCE_S:
                raise RuntimeError(f"{topic} has not got {records} records")
            time.sleep(0.02)
        return time.monotonic() - began


def _gateway(root: int) -> int:
    """The JVM of the Connect worker among the descendants of a process."""
    family = psutil.Process(root).children(recursive=True)
    return next(int(process.pid) for process in family if "py4j.GatewayServer" in process.cmdline())


if __name__ == "__main__":
    app()
