"""File -> Kafka and Kafka -> files: the contenders on both paths, and the lines that they move."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import limits
from benchmarks.connect import ConnectWorker, Moved, measure, worker
from benchmarks.limits import Crew
from benchmarks.measure import CONNECT, LIMIT, OURS, Contender, CpuMeter, Pass, Row, Say, alternate
from benchmarks.ours import OurSide
from benchmarks.settings import (
    CORES,
    PARTITIONS,
    TUNED_FILE_SOURCE,
    converters,
    our_source,
    tuned_sink,
    tuned_source,
)
from benchmarks.topics import Topics

LINE_BYTES = 200
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
_ROUTED = "-routed"
_SOURCE_CHAIN = {
    "hoist": {"type": "HoistField$Value", "field": "line"},
    "insert": {"type": "InsertField$Value", "static.field": "source", "static.value": "benchmark"},
    "mask": {"type": "MaskField$Value", "fields": "source"},
    "cast": {"type": "Cast$Value", "spec": "source:string"},
    "route": {"type": "RegexRouter", "regex": "(.*)", "replacement": f"$1{_ROUTED}"},
}
_SINK_CHAIN = {
    "insert": {"type": "InsertField$Value", "static.field": "sink", "static.value": "benchmark"},
    "rename": {"type": "ReplaceField$Value", "renames": "line:text"},
}


def write_lines(path: Path, count: int) -> Path:
    """A text file of `count` lines of 200 bytes, the line feed included: like those of a web server's log."""
    known = random.Random(7)
    with path.open("w") as out:
        for n in range(count):
            host = f"10.{known.randrange(256)}.{known.randrange(256)}.{known.randrange(256)}"
            page = f"/shop/articles/{known.randrange(100_000)}?session={known.getrandbits(128):032x}"
            line = f'{host} - - [{n:010d}] "GET {page} HTTP/1.1" {known.choice((200, 200, 304, 404))} '
            line += f'{known.randrange(90_000)} "https://shop.example.org/" "Mozilla/5.0 (X11; Linux x86_64)"'
            out.write(line.ljust(LINE_BYTES)[: LINE_BYTES - 1] + "\n")
    return path


def chain(links: dict[str, dict[str, str]]) -> dict[str, str]:
    """The keys of a chain of transformations, with Java's full names, so that both sides take them."""
    keys = {"transforms": ",".join(links)}
    for alias, own in links.items():
        keys |= {f"transforms.{alias}.{key}": value for key, value in own.items()}
        keys[f"transforms.{alias}.type"] = f"org.apache.kafka.connect.transforms.{own['type']}"
    return keys


class FileBench:
    """Both paths, the passes of all contenders in turns.

    :param schemas: whether values have JsonConverter's envelope.
    :param transforms: whether records pass five transformations on their way to Kafka, and two on their way out.
    """

    def __init__(
        self, bootstrap: str, folder: Path, meter: CpuMeter, lines: int, say: Say, *, schemas: bool, transforms: bool
    ) -> None:
        self._bootstrap, self._folder, self._meter, self._lines, self._say = bootstrap, folder, meter, lines, say
        self._source_chain = chain(_SOURCE_CHAIN) if transforms else {}
        self._sink_chain = chain(_SINK_CHAIN) if transforms else {}
        self._suffix = _ROUTED if transforms else ""
        self._schemas, self._converters = schemas, converters(schemas=schemas)
        self._topics = Topics(bootstrap)
        self._input = write_lines(folder / "input.txt", lines)
        self._halves = _halves(self._input)

    def run(self, passes: int) -> list[Row]:
        """Measure both paths."""
        with ExitStack() as stack:
            stock, tuned = (
                stack.enter_context(worker(self._folder, self._bootstrap, tuned=tuned, say=self._say))
                for tuned in (False, True)
            )
            ours = {master: stack.enter_context(OurSide(master, self._folder, self._bootstrap)) for master in CORES}
            crew = stack.enter_context(Crew())
            self._meter.contenders = [stock.pid, tuned.pid, *(side.pid for side in ours.values()), *crew.pids]
            encoded = partial(_encoded, schemas=self._schemas)
            crew.all(limits.hold_values, [(self._input, share, encoded) for share in range(PARTITIONS)])
            sources = self._sources(stock, tuned, ours, crew)
            sinks = self._sinks(stock, tuned, ours, crew)
            return self._rows(sources, sinks, ours, passes)

    def run_ours(self, passes: int) -> list[Row]:
        """Measure both paths without Kafka Connect and without the limit."""
        with ExitStack() as stack:
            ours = {master: stack.enter_context(OurSide(master, self._folder, self._bootstrap)) for master in CORES}
            self._meter.contenders = [side.pid for side in ours.values()]
            return self._rows(self._ours(self._source_pass, ours), self._ours(self._sink_pass, ours), ours, passes)

    def _rows(
        self, sources: list[Contender], sinks: list[Contender], ours: dict[str, OurSide], passes: int
    ) -> list[Row]:
        rows = alternate("File to Kafka", sources, LINE_BYTES, passes, self._say)
        self._read = self._topics.create(f"read{self._suffix}")
        ours["local[2]"].run(self._our_source("read"))
        return rows + alternate("Kafka to files", sinks, LINE_BYTES, passes, self._say)

    @staticmethod
    def _ours(run: Callable[[OurSide, str], Pass], ours: dict[str, OurSide]) -> list[Contender]:
        return [Contender(OURS, side, CORES[side], partial(run, ours[side])) for side in CORES]

    def _sources(
        self, stock: ConnectWorker, tuned: ConnectWorker, ours: dict[str, OurSide], crew: Crew
    ) -> list[Contender]:
        tuning = tuned_source() | TUNED_FILE_SOURCE
        whole = [self._input]
        found = [
            Contender(CONNECT, "as it comes", 1, partial(self._connect_source, stock, whole, {})),
            Contender(CONNECT, "tuned", 1, partial(self._connect_source, tuned, whole, tuning)),
            Contender(CONNECT, "tuned, two connectors", 2, partial(self._connect_source, tuned, self._halves, tuning)),
        ]
        found += self._ours(self._source_pass, ours)
        # What it sends is not transformed, and so of another size.
        limit = Contender(LIMIT, "plain producers", PARTITIONS, partial(self._produce, crew))
        return found if self._source_chain else [*found, limit]

    def _sinks(
        self, stock: ConnectWorker, tuned: ConnectWorker, ours: dict[str, OurSide], crew: Crew
    ) -> list[Contender]:
        found = [
            Contender(CONNECT, "as it comes", 1, partial(self._connect_sink, stock, 1, {})),
            Contender(CONNECT, "tuned", 1, partial(self._connect_sink, tuned, 1, tuned_sink())),
            Contender(CONNECT, "tuned, two tasks", 2, partial(self._connect_sink, tuned, 2, tuned_sink())),
        ]
        found += self._ours(self._sink_pass, ours)
        return [*found, Contender(LIMIT, "plain consumers", PARTITIONS, partial(self._consume, crew))]

    def _connect_source(self, connect: ConnectWorker, inputs: list[Path], tuning: dict[str, str], name: str) -> Pass:
        config = {
            "connector.class": SOURCE,
            "topic": name,
            **self._converters,
            **self._source_chain,
            **tuning,
        }
        links = {f"{name}-{file.stem}": self._folder / f"{name}-{file.name}" for file in inputs}

        def put_input() -> None:
            for link, file in zip(links.values(), inputs, strict=True):
                link.symlink_to(file)

        if len(inputs) == 1:
            put_input()
        with self._topics.temporary(name + self._suffix) as topic:
            moved = Moved(lambda: self._topics.ends(topic), self._lines)
            configs = {each: config | {"file": str(link)} for each, link in links.items()}
            together = put_input if len(inputs) > 1 else None
            return measure(connect, configs, moved, self._meter, put_input=together)

    def _connect_sink(self, connect: ConnectWorker, tasks: int, tuning: dict[str, str], name: str) -> Pass:
        target = self._folder / f"{name}.out"
        config = {
            "connector.class": SINK,
            "tasks.max": str(tasks),
            "file": str(target),
            "topics": self._read,
            **self._converters,
            **self._sink_chain,
            **tuning,
        }
        units = lambda: target.stat().st_size if target.exists() else 0  # noqa: E731
        # With transformations the length of a line is not known before.
        enough = None if self._sink_chain else self._lines * LINE_BYTES
        moved = Moved(units, enough, lambda: 1 / len(_first_line(target)))
        found = measure(connect, {name: config}, moved, self._meter)
        target.unlink()
        return found

    def _our_source(self, name: str) -> dict[str, str]:
        config = {"name": name, "connector.class": SOURCE, "file": str(self._input), "topic": name}
        return config | self._converters | self._source_chain | our_source()

    def _source_pass(self, side: OurSide, name: str) -> Pass:
        with self._topics.temporary(name + self._suffix):
            return side.measure(self._our_source(name), self._lines, self._meter)

    def _sink_pass(self, side: OurSide, name: str) -> Pass:
        target = self._folder / name
        config = {"name": name, "connector.class": "DirectorySink", "directory": str(target), "topics": self._read}
        found = side.measure(config | self._converters | self._sink_chain, self._lines, self._meter)
        shutil.rmtree(target)
        return found

    def _produce(self, crew: Crew, name: str) -> Pass:
        with self._topics.temporary(name) as topic:
            shares = [(self._bootstrap, topic, share) for share in range(PARTITIONS)]
            return crew.measure(limits.produce, shares, self._meter)

    def _consume(self, crew: Crew, name: str) -> Pass:
        target = self._folder / name
        shares = [(self._bootstrap, self._read, share, f"{target}-{share}") for share in range(PARTITIONS)]
        return crew.measure(limits.consume, shares, self._meter)


def _encoded(line: str, *, schemas: bool) -> bytes:
    value = {"schema": {"type": "string", "optional": False}, "payload": line} if schemas else line
    return json.dumps(value, separators=(",", ":")).encode()


def _first_line(path: Path) -> bytes:
    with path.open("rb") as lines:
        return lines.readline()


def _halves(path: Path) -> list[Path]:
    """Two files with half of the lines each, for two connectors."""
    middle = path.stat().st_size // LINE_BYTES // 2 * LINE_BYTES
    halves = [path.with_name(f"{path.stem}-{part}.txt") for part in (1, 2)]
    with path.open("rb") as whole:
        halves[0].write_bytes(whole.read(middle))
        halves[1].write_bytes(whole.read())
    return halves
