"""``python -m benchmarks.short_sinks``: CPU seconds of `kconnect run` of a sink, with all processes that it starts."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import environment
from benchmarks.settings import our_worker
from tests.support.kafka import create_topic, produce

app = typer.Typer(add_completion=False)

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_SCHEMA = '{"type":"struct","fields":[{"type":"int64","field":"id"},{"type":"string","field":"name"}]}'


@app.command()
def main(
    records: Annotated[list[int] | None, typer.Option(help="Records of a run.")] = None,
    passes: Annotated[int, typer.Option(help="Passes of each.")] = 3,
    partitions: Annotated[int, typer.Option(help="Partitions of the topic.")] = 1,
    spark: Annotated[bool, typer.Option(help="Have Spark's workers move the splits.")] = False,
    connector: Annotated[str, typer.Option(help="Class of the sink.")] = "FileStreamSink",
) -> None:
    """Print seconds of CPU and of the clock, and what each phase took."""
    say = environment.console()
    with environment.broker(say) as place:
        for count in records or [10, 100_000]:
            for number in range(passes):
                name = f"short-{count}-{number}"
                create_topic(place.bootstrap, name, partitions)
                produce(place.bootstrap, name, map(_message, range(count)))
                say(f"{count:,} records: {_run(place, name, connector, spark=spark)}")


def _message(number: int) -> str:
    return f'{{"schema":{_SCHEMA},"payload":{{"id":{number},"name":"record {number:>72}"}}}}'


def _run(place: environment.Environment, name: str, connector: str, *, spark: bool) -> str:
    folder = place.folder / name
    folder.mkdir()
    worker, config = folder / "worker.properties", folder / "sink.json"
    worker.write_text("".join(f"{key}={value}\n" for key, value in our_worker(place.bootstrap).items()))
    target = {"file": str(folder / "out")} if "File" in connector else {"directory": str(folder / "out")}
    converters = {"key.converter": _STRING, "value.converter": _JSON}
    config.write_text(json.dumps({"name": name, "connector.class": connector, "topics": name, **target, **converters}))
    command = [str(Path(sys.executable).with_name("kconnect")), "run", str(config), "--worker", str(worker)]
    if spark:  # another path of the same Python
        command += ["--conf", f"spark.pyspark.python={Path(sys.executable).with_name('python3')}"]
        command += ["--conf", f"spark.pyspark.driver.python={sys.executable}"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    phases = json.loads(done.stdout.splitlines()[-1]).get("durations_s")
    return f"{cpu:.2f} CPU s, {took:.2f} s, {phases}"


if __name__ == "__main__":
    app()
