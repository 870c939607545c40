"""``python -m benchmarks.groups``: many small connectors from a cold start: a group, one by one, a Connect worker."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import psutil
import typer
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from airflow_kconnect.kafka.admin import KafkaAdmin
from benchmarks import environment, results
from benchmarks.connect import worker
from benchmarks.files import SINK, SOURCE, chain, write_lines
from benchmarks.measure import Say, cpu_seconds
from benchmarks.settings import STRING, our_worker

app = typer.Typer(add_completion=False)

_HOIST = chain({"hoist": {"type": "HoistField$Value", "field": "line"}})
_LONGEST_S = 1800
_IDLE_S = 30


@dataclass(frozen=True)
class Spent:
    """:param cpu_s: CPU seconds of all processes but the broker."""

    seconds: float
    cpu_s: float


@app.command()
def main(
    connectors: Annotated[int, typer.Option(help="Half of them file sources, half file sinks.")] = 100,
    lines: Annotated[int, typer.Option(help="New records of each, of 200 bytes.")] = 1000,
    idle: Annotated[int, typer.Option(help="Connectors of the group that has nothing new.")] = 1000,
    singles: Annotated[int, typer.Option(help="How many of the connectors are also run one by one.")] = 100,
    passes: Annotated[int, typer.Option(help="Passes of each.")] = 3,
    transforms: Annotated[bool, typer.Option(help="With a transformation each, so that Spark is needed.")] = False,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "groups.json",
) -> None:
    """Print seconds and CPU seconds; write them to build/benchmarks/groups.json."""
    say = environment.console()
    found: dict[str, list[Spent]] = {}

    def keep(what: str, spent: Spent) -> None:
        say(f"{what}: {spent.seconds:.1f} s, {spent.cpu_s:.1f} s of CPU")
        found.setdefault(what, []).append(spent)

    with environment.broker(say) as place:
        fleet = _Fleet(place.bootstrap, place.folder, lines, _HOIST if transforms else {}, say)
        for number in range(passes):
            whole, idling = fleet.connect(f"connect{number}", connectors)
            keep(f"{connectors} connectors, a Connect worker", whole)
            keep(f"{connectors} connectors with nothing new, {_IDLE_S} s of that Connect worker", idling)
            keep(f"{connectors} connectors, a group", fleet.group(f"group{number}", connectors))
        if singles:
            keep(f"{singles} connectors, one by one", fleet.one_by_one("single", singles))
        if idle:
            fleet.group("idle", idle, lines=1)
            for _ in range(passes):
                keep(f"{idle:,} connectors with nothing new, a group", fleet.again("idle", idle))
    facts = {"records of each": str(lines), "passes": str(passes), "transformation": str(transforms)}
    spent = {what: [[each.seconds, each.cpu_s] for each in every] for what, every in found.items()}
    results.write(output, [], facts=facts, spent=spent)
    say(f"Results: {output}")


class _Fleet:
    """Connectors with names, files and topics of their own."""

    def __init__(self, bootstrap: str, folder: Path, lines: int, more: Mapping[str, str], say: Say) -> None:
        self._bootstrap, self._folder, self._lines, self._more, self._say = bootstrap, folder, lines, more, say
        self._client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
        self._admin = KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2})
        self._worker = folder / "worker.properties"
        self._worker.write_text("".join(f"{key}={value}\n" for key, value in our_worker(bootstrap).items()))

    def group(self, name: str, connectors: int, *, lines: int | None = None) -> Spent:
        """`kconnect run --folder`, from its start to its exit."""
        self._made(name, connectors, lines or self._lines)
        return self.again(name, connectors)

    def again(self, name: str, connectors: int) -> Spent:
        """The same again: nothing is new."""
        return _timed(lambda: self._kconnect_run(f"{connectors} connectors", "--folder", str(self._folder / name)))

    def one_by_one(self, name: str, connectors: int) -> Spent:
        """`kconnect run` for each."""
        self._made(name, connectors, self._lines)
        files = sorted((self._folder / name).glob("*.json"))
        return _timed(lambda: [self._kconnect_run(file.name, str(file)) for file in files])

    def connect(self, name: str, connectors: int) -> tuple[Spent, Spent]:
        """A worker, from its start until all records have arrived; then for a while with nothing new."""
        configs = self._made(name, connectors, self._lines)
        topics = {config["topic"] for config in configs.values() if "topic" in config}
        outputs = [Path(config["file"]) for config in configs.values() if "topics" in config]
        began = time.monotonic()
        with worker(self._folder, self._bootstrap, tuned=True, group=name) as connect:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda each: connect.create(each, configs[each]), configs))
            while self._arrived(topics) < len(topics) * self._lines or any(map(self._is_short, outputs)):
                if time.monotonic() - began > _LONGEST_S:
                    raise RuntimeError("not all records have arrived")
                time.sleep(0.05)
            whole = Spent(time.monotonic() - began, cpu_seconds([connect.pid]))
            time.sleep(_IDLE_S)
            self._say(f"memory of the worker: {psutil.Process(connect.pid).memory_info().rss >> 20} MB")
            return whole, Spent(_IDLE_S, cpu_seconds([connect.pid]) - whole.cpu_s)

    def _kconnect_run(self, what: str, *arguments: str) -> None:
        program = str(Path(sys.executable).with_name("kconnect"))
        done = subprocess.run(
            [program, "run", *arguments, "--worker", str(self._worker)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{what}: {done.stdout}{done.stderr}")

    def _made(self, name: str, connectors: int, lines: int) -> dict[str, dict[str, str]]:
        """Configurations by name, also as files, with what they read."""
        folder = self._folder / name
        folder.mkdir()
        half = connectors // 2
        topics = [f"{name}-{n}" for n in range(connectors)]
        for future in self._client.create_topics([NewTopic(topic, 1, 1) for topic in topics]).values():
            future.result()
        text = write_lines(folder / "lines.txt", lines)
        configs = {}
        for n, topic in enumerate(topics):
            if n < half:
                file = folder / f"{topic}.txt"
                shutil.copy(text, file)
                own = {"connector.class": SOURCE, "file": str(file), "topic": topic}
            else:
                own = {"connector.class": SINK, "file": str(folder / f"{topic}.out"), "topics": topic}
            configs[topic] = {"name": topic, "value.converter": STRING, "key.converter": STRING, **own, **self._more}
            (folder / f"{topic}.json").write_text(json.dumps(configs[topic]))
        self._filled(topics[half:], text)
        return configs

    def _filled(self, topics: list[str], text: Path) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "queue.buffering.max.messages": 1_000_000})
        values = text.read_text().splitlines()
        for topic in topics:
            for value in values:
                producer.produce(topic, value.encode())
            producer.poll(0)
        producer.flush()

    def _arrived(self, topics: set[str]) -> int:
        """Records of the sources' topics, at most as many of each as there are: markers of transactions count."""
        ends = (self._admin.end_offsets(topic, range(1), committed=False)[0] for topic in topics)
        return sum(min(end, self._lines) for end in ends)

    def _is_short(self, file: Path) -> bool:
        return not file.exists() or file.read_bytes().count(b"\n") < self._lines


def _timed(work: Callable[[], object]) -> Spent:
    """Seconds, and CPU seconds of the processes that it starts and that end meanwhile, with all of theirs."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.monotonic() - began, cpu)


if __name__ == "__main__":
    app()
