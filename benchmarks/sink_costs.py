"""``python -m benchmarks.sink_costs``: CPU time per record of Kafka -> files, by format; Kafka Connect's file sink too.

CPU time says something on a busy machine too, if both sides take turns.
"""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from airflow_kconnect.converters.json.schemas import schema_text
from benchmarks import environment, limits
from benchmarks.connect import ConnectWorker, Moved, measure, worker
from benchmarks.files import SINK, chain, write_lines
from benchmarks.limits import Crew
from benchmarks.measure import CpuMeter, Pass
from benchmarks.ours import OurSide
from benchmarks.registered_batches import SCHEMA, _plain, row
from benchmarks.settings import JSON, PARTITIONS, STRING, tuned_sink
from benchmarks.topics import Topics

_CHAIN = chain(
    {
        "insert": {"type": "InsertField$Value", "static.field": "sink", "static.value": "benchmark"},
        "rename": {"type": "ReplaceField$Value", "renames": "name:title"},
    }
)
_DIRECTORY = {"connector.class": "DirectorySink"}
_PARQUET = _DIRECTORY | {"format": "parquet"}
_FILE = {"connector.class": SINK}
_SCHEMA_TEXT = schema_text(SCHEMA)
_numbers = count()


class Case(NamedTuple):
    """A path.

    :param topic: with its records. :param converter: their own.
    """

    name: str
    topic: str
    converter: dict[str, str]
    sink: dict[str, str]


_STRINGS = {"value.converter": STRING}
_BARE = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
_ENVELOPES = {"value.converter": JSON, "value.converter.schemas.enable": "true"}
CASES = (
    Case("strings, text", "lines", _STRINGS, _FILE),
    Case("strings, JSON lines", "lines", _STRINGS, _DIRECTORY),
    Case("JSON strings with schema, JSON lines", "lines-schema", _ENVELOPES, _DIRECTORY),
    Case("JSON without schema, text", "rows", _BARE, _FILE),
    Case("JSON without schema, JSON lines", "rows", _BARE, _DIRECTORY),
    Case("JSON without schema, Parquet", "rows", _BARE, _PARQUET),
    Case("JSON with schema, text", "rows-schema", _ENVELOPES, _FILE),
    Case("JSON with schema, JSON lines", "rows-schema", _ENVELOPES, _DIRECTORY),
    Case("JSON with schema, Parquet", "rows-schema", _ENVELOPES, _PARQUET),
    Case("JSON with schema, two transformations, text", "rows-schema", _ENVELOPES | _CHAIN, _FILE),
)


def _line(text: str) -> bytes:
    return text.encode()


def _line_with_schema(text: str) -> bytes:
    return _compact({"schema": {"type": "string", "optional": False}, "payload": text})


def _row(_: str) -> bytes:
    """The row of the next number: the lines say only how many there are."""
    return _compact(_plain(row(next(_numbers))))


def _row_with_schema(text: str) -> bytes:
    return b'{"schema":%s,"payload":%s}' % (_SCHEMA_TEXT.encode(), _row(text))


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


TOPICS: dict[str, Callable[[str], bytes]] = {
    "lines": _line,
    "lines-schema": _line_with_schema,
    "rows": _row,
    "rows-schema": _row_with_schema,
}


def main(
    records: Annotated[int, typer.Option(help="Records of each topic.")] = 500_000,
    passes: Annotated[int, typer.Option(help="Passes of each path, after one that does not count.")] = 3,
    connect: Annotated[bool, typer.Option(help="Kafka Connect's file sink, too.")] = True,
) -> None:
    """Print CPU microseconds per record: of our whole runs in a running session, and of a tuned worker's file sink."""
    say = environment.console()
    with environment.broker(say) as found, ExitStack() as stack:
        _fill(found.bootstrap, write_lines(found.folder / "input.txt", records))
        side = stack.enter_context(OurSide("local[1]", found.folder, found.bootstrap))
        contenders = [("ours", partial(_our_pass, side, found.folder))]
        if connect:
            tuned = stack.enter_context(worker(found.folder, found.bootstrap, tuned=True, say=say))
            contenders.append(("Kafka Connect", partial(_connect_pass, tuned, found.folder)))
        meter = CpuMeter([found.broker_pid])
        for case in CASES:
            costs = [(who, _cost(run, case, records, meter, passes)) for who, run in contenders]
            say(f"{case.name}: " + ", ".join(f"{who} {cost:.1f} us" for who, cost in costs))


def _fill(bootstrap: str, lines: Path) -> None:
    topics = Topics(bootstrap)
    with Crew() as crew:
        for topic, encoded in TOPICS.items():
            topics.create(topic)
            crew.all(limits.hold_values, [(lines, share, encoded) for share in range(PARTITIONS)])
            crew.all(limits.produce, [(bootstrap, topic, share) for share in range(PARTITIONS)])


def _cost(
    run: Callable[[Case, str, int, CpuMeter], Pass], case: Case, records: int, meter: CpuMeter, passes: int
) -> float:
    found = [run(case, name, records, meter) for name in _names(case, passes + 1)][1:]
    return statistics.median(each.cpu_s / each.records * 1e6 for each in found)


def _names(case: Case, passes: int) -> Iterator[str]:
    for number in range(passes):
        yield f"{case.name.replace(' ', '-').replace(',', '')}-{number}"


def _our_pass(side: OurSide, folder: Path, case: Case, name: str, records: int, meter: CpuMeter) -> Pass:
    target = folder / f"ours-{name}"
    where = {"file" if case.sink is _FILE else "directory": str(target)}
    config = {"name": f"ours-{name}", "topics": case.topic, "key.converter": STRING, **case.converter, **case.sink}
    found = side.measure(config | where, records, meter)
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    return found


def _connect_pass(tuned: ConnectWorker, folder: Path, case: Case, name: str, records: int, meter: CpuMeter) -> Pass:
    target = folder / f"connect-{name}"
    config = {"topics": case.topic, "key.converter": STRING, "tasks.max": "1", **case.converter, **_FILE}
    moved = Moved(lambda: _size(target), None, lambda: records / _size(target))
    found = measure(tuned, {f"connect-{name}": config | {"file": str(target)} | tuned_sink()}, moved, meter)
    target.unlink()
    return found


def _size(target: Path) -> int:
    return target.stat().st_size if target.exists() else 0


if __name__ == "__main__":
    typer.run(main)
