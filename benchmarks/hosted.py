"""``python -m benchmarks.hosted``: a Java connector in a hosted run, and in a Connect worker of the same settings."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import psutil
import typer

from benchmarks import environment, results
from benchmarks.connect import worker
from benchmarks.files import SOURCE, write_lines
from benchmarks.measure import cpu_seconds, number
from benchmarks.settings import HEAP_MB, TUNED_FILE_SOURCE, converters, our_worker, tuned_source
from benchmarks.topics import Topics
from tests.support.hosted import FILE, plugin_folder

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


@app.command()
def main(
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes to move.")] = 1_000_000,
    passes: Annotated[int, typer.Option(help="Passes of each, in turns.")] = 5,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "hosted.json",
) -> None:
    """Print rates, CPU seconds and seconds to the first record of both; write them to build/benchmarks/hosted.json."""
    say = environment.console()
    with environment.broker(say) as place:
        bench = _Bench(place.bootstrap, place.folder, lines)
        found: dict[str, list[Moved]] = {"hosted": [], "worker": []}
        for turn in range(passes):
            sides: list[tuple[str, Callable[[str], Moved]]] = [("hosted", bench.hosted), ("worker", bench.worker)]
            for side, run in sides[:: -1 if turn % 2 else 1]:
                moved = run(f"{side}-{turn}")
                found[side].append(moved)
                say(
                    f"{side}: first record after {moved.first_s:.1f} s, {number(moved.rate)} records/s,"
                    f" {moved.cpu_s:.1f} CPU s"
                )
    rounds = list(zip(found["hosted"], found["worker"], strict=True))
    rates = [mine.rate / its.rate for mine, its in rounds]
    cpu = [mine.cpu_s / its.cpu_s for mine, its in rounds]
    results.write(output, [], facts={"lines": f"{lines:,}", "passes": str(passes)}, rates=rates, cpu=cpu)
    say(f"Rate, hosted to worker: {statistics.median(rates):.2f} ({min(rates):.2f} to {max(rates):.2f})")
    say(f"CPU seconds, hosted to worker: {statistics.median(cpu):.2f} ({min(cpu):.2f} to {max(cpu):.2f})")
    say(f"Results: {output}")


class _Bench:
    """File -> Kafka by Kafka's own Java connector, exactly once."""

    def __init__(self, bootstrap: str, folder: Path, lines: int) -> None:
        self._bootstrap, self._folder, self._lines = bootstrap, folder, lines
        self._input = write_lines(folder / "input.txt", lines)
        self._topics = Topics(bootstrap)
        plugins = plugin_folder(folder / "plugins", FILE)
        keys = {**our_worker(bootstrap), "plugin.path": str(plugins), "connector.client.config.override.policy": "All"}
        self._worker = folder / "worker.properties"
        self._worker.write_text("".join(f"{key}={value}\n" for key, value in keys.items()))

    def hosted(self, name: str) -> Moved:
        """`kconnect run`."""
        own = {"kconnect.hosted": "true", "kconnect.hosted.memory": f"{HEAP_MB}m", "kconnect.hosted.idle.ms": "1000"}
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps({"name": name, **self._config(name), **own}))
        command = [sys.executable, "-m", "airflow_kconnect.cli", "run", str(file), "--worker", str(self._worker)]
        began = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            moved = self._clock(name, began, lambda: _gateway(process.pid))
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
        return moved

    def worker(self, name: str) -> Moved:
        """A worker that is started for it."""
        began = time.monotonic()
        with worker(self._folder, self._bootstrap, tuned=True, group=name) as connect:
            connect.create(name, self._config(name))
            return self._clock(name, began, lambda: connect.pid)

    def _config(self, name: str) -> dict[str, str]:
        self._topics.create(name)
        config = {"connector.class": SOURCE, "file": str(self._input), "topic": name}
        return config | converters(schemas=True) | tuned_source() | TUNED_FILE_SOURCE

    def _clock(self, topic: str, began: float, pid: Callable[[], int]) -> Moved:
        first = self._until(topic, 1, began)
        seen, started, java = self._topics.ends(topic), time.monotonic(), pid()
        cpu = cpu_seconds([java])
        self._until(topic, self._lines, began)
        took = time.monotonic() - started
        return Moved(first, (self._lines - seen) / took, cpu_seconds([java]) - cpu)

    def _until(self, topic: str, records: int, began: float) -> float:
        while self._topics.ends(topic) < records:
            if time.monotonic() - began > _PATIENCE_S:
                raise RuntimeError(f"{topic} has not got {records} records")
            time.sleep(0.02)
        return time.monotonic() - began


def _gateway(root: int) -> int:
    """The JVM of the Connect worker among the descendants of a process."""
    family = psutil.Process(root).children(recursive=True)
    return next(process.pid for process in family if "py4j.GatewayServer" in process.cmdline())


if __name__ == "__main__":
    app()
