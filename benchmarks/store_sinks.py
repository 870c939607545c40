"""``python -m benchmarks.store_sinks``: Kafka to Parquet on S3, against the same into a local folder.

The store is S3Proxy in a process of its own, on this machine: the fastest of the servers that the tests have. A run has
the first core, Kafka and the store have the others: elsewhere they would be other machines.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from benchmarks import environment
from benchmarks.settings import our_worker
from tests.support.kafka import create_topic, produce
from tests.support.stores import s3_store

app = typer.Typer(add_completion=False)

_SCHEMA = '{"type":"struct","fields":[{"type":"int64","field":"id"},{"type":"string","field":"name"}]}'


@dataclass(frozen=True)
class _Took:
    clock_s: float
    cpu_s: float


@app.command()
def main(
    records: Annotated[int, typer.Option(help="Records of a run, 200 bytes each.")] = 1_000_000,
    passes: Annotated[int, typer.Option(help="Passes of each, in turns.")] = 3,
    partitions: Annotated[int, typer.Option(help="Partitions of the topic.")] = 2,
    format: Annotated[str, typer.Option(help="Format of the files.")] = "parquet",
) -> None:
    """Print seconds by the clock and of CPU for both, and the share that S3 reaches of the folder's speed."""
    say = environment.console()
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or [first])
    with environment.broker(say) as place, ExitStack() as stack:
        (own := place.folder / "s3").mkdir()
        store = stack.enter_context(s3_store(own))
        create_topic(place.bootstrap, "records", partitions)
        produce(place.bootstrap, "records", map(_message, range(records)))
        targets = {
            "folder": {"directory": str(place.folder / "out")},
            "S3": {"directory": f"{store.address}/out", **store.settings},
        }
        took: dict[str, list[_Took]] = {name: [] for name in targets}
        for number in range(passes + 1):
            for name, target in targets.items():
                one = _run(place, f"{name.lower()}-{number}", {**target, "format": format}, first)
                say(f"{name}: {one.clock_s:.2f} s, {one.cpu_s:.2f} CPU s{'' if number else ' (to warm up)'}")
                took[name] += [one] if number else []
    clock = {name: median(each.clock_s for each in runs) for name, runs in took.items()}
    cpu = {name: median(each.cpu_s for each in runs) for name, runs in took.items()}
    say(f"S3 reaches {clock['folder'] / clock['S3']:.0%} by the clock, {cpu['folder'] / cpu['S3']:.0%} by CPU")


def _message(number: int) -> str:
    return f'{{"schema":{_SCHEMA},"payload":{{"id":{number},"name":"record {number:>72}"}}}}'


def _run(place: environment.Environment, name: str, target: dict[str, str], core: int) -> _Took:
    folder = place.folder / name
    folder.mkdir()
    worker, config = folder / "worker.properties", folder / "sink.json"
    worker.write_text("".join(f"{key}={value}\n" for key, value in our_worker(place.bootstrap).items()))
    target = {**target, "directory": f"{target['directory']}/{name}"}
    settings = {"connector.class": "DirectorySink", "topics": "records", **target}
    config.write_text(
        json.dumps({"name": name, **settings, "value.converter": "org.apache.kafka.connect.json.JsonConverter"})
    )
    command = [str(Path(sys.executable).with_name("kconnect")), "run", str(config), "--worker", str(worker)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    on_core = partial(os.sched_setaffinity, 0, [core])
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False, preexec_fn=on_core)
    clock, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return _Took(clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


if __name__ == "__main__":
    app()
