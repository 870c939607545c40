"""``python -m benchmarks.startup``: cold starts, from the start of a process to its first and its last record."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import environment, results
from benchmarks.connect import worker
from benchmarks.files import SOURCE, write_lines
from benchmarks.measure import Say
from benchmarks.report import startup_table
from benchmarks.settings import TUNED_FILE_SOURCE, converters, our_source, our_worker, tuned_source
from benchmarks.topics import Topics

app = typer.Typer(add_completion=False)

_FEW = 10


@app.command()
def main(
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes of a full load.")] = 1_000_000,
    passes: Annotated[int, typer.Option(help="Passes of each.")] = 3,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "startup.json",
) -> None:
    """Print seconds of cold starts; write them to build/benchmarks/startup.json."""
    say = environment.console()
    with environment.broker(say) as place:
        seconds = _Startups(place.bootstrap, place.folder, lines, say).run(passes)
    found = {"seconds": seconds}
    results.write(output, [], facts={"lines": f"{lines:,}", "passes": str(passes)}, **found)
    say(startup_table(found))
    say(f"Results: {output}")


class _Startups:
    """File -> Kafka, each time by processes that have just been started."""

    def __init__(self, bootstrap: str, folder: Path, lines: int, say: Say) -> None:
        self._bootstrap, self._folder, self._say = bootstrap, folder, say
        self._inputs = {count: write_lines(folder / f"input-{count}.txt", count) for count in (_FEW, lines)}
        self._topics = Topics(bootstrap)
        self._worker = folder / "worker.properties"
        self._worker.write_text("".join(f"{key}={value}\n" for key, value in our_worker(bootstrap).items()))

    def run(self, passes: int) -> dict[str, list[float]]:
        """Seconds by what was done, of each pass."""
        seconds: dict[str, list[float]] = {}
        for number in range(passes):
            for count, path in self._inputs.items():
                for found in (self._kconnect_run(f"ours-{count}-{number}", path, count), self._connect(number, count)):
                    for what, took in found.items():
                        self._say(f"{what}: {took:.1f} s")
                        seconds.setdefault(what, []).append(took)
        return seconds

    def _kconnect_run(self, name: str, path: Path, count: int) -> dict[str, float]:
        """`kconnect run`, from its start to its exit."""
        self._topics.create(name)
        config = {"name": name, "connector.class": SOURCE, "file": str(path), "topic": name}
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(config | converters(schemas=True) | our_source()))
        command = [str(Path(sys.executable).with_name("kconnect")), "run", str(file), "--worker", str(self._worker)]
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.monotonic() - began
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return {f"`kconnect run`, {count:,} records: exit": took}

    def _connect(self, number: int, count: int) -> dict[str, float]:
        """A worker of a group of its own, from its start until the records are in the topic."""
        name = f"connect-{count}-{number}"
        self._topics.create(name)
        config = {"connector.class": SOURCE, "file": str(self._inputs[count]), "topic": name}
        config |= converters(schemas=True) | tuned_source() | TUNED_FILE_SOURCE
        began = time.monotonic()
        with worker(self._folder, self._bootstrap, tuned=True, group=name) as connect:
            answers = time.monotonic() - began
            connect.create(name, config)
            first = self._seconds_until(name, 1, began)
            last = self._seconds_until(name, count, began)
        if count == _FEW:
            return {"Kafka Connect worker: answers": answers, "Kafka Connect worker: first record": first}
        return {f"Kafka Connect worker, {count:,} records: last record": last}

    def _seconds_until(self, topic: str, records: int, began: float) -> float:
        while self._topics.ends(topic) < records:
            if time.monotonic() - began > 300:
                raise RuntimeError(f"{topic} has not got {records} records")
            time.sleep(0.02)
        return time.monotonic() - began


if __name__ == "__main__":
    app()
