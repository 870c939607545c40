"""``python -m benchmarks.functions``: what `@transform` costs a record, by an expression; Spark alone, no Kafka.

Each job transforms the records as runs do, and encodes them as JSON. The difference to the job without a transformation
is what it costs; both cores work.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console

from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runtime.process.plugin_modules import send_plugin_files
from benchmarks.chains import articles, seconds_of
from benchmarks.session import spark_session

_ROWS, _PASSES, _CORES = 1_000_000, 5, 2
_FUNCTIONS = """
from airflow_kconnect.sdk import transform

@transform
def one(record: dict) -> dict:
    return {**record, "name": record["name"].upper()}

@transform
def many(records: list[dict]) -> list[dict]:
    return [{**record, "name": record["name"].upper()} for record in records]
"""
_CHAINS = {
    "nothing": {},
    "an expression": {"mask": {"type": "MaskField$Value", "fields": "name", "replacement": "****"}},
    "a function of a record": {"one": {"type": "measured.one"}},
    "a function of a batch": {"many": {"type": "measured.many"}},
}


def main() -> None:
    """Print what each costs a record, in microseconds of a core."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(Path(folder))
        file = Path(folder) / "measured.py"
        file.write_text(_FUNCTIONS)
        registry().add(PluginFile.read(file))
        send_plugin_files(spark.sparkContext)
        frame = articles(spark, _ROWS)
        seconds = dict.fromkeys(_CHAINS, float("inf"))
        for _ in range(_PASSES + 1):  # the first one warms up
            for name, chain in _CHAINS.items():
                seconds[name] = min(seconds[name], seconds_of(frame, chain))
        spark.stop()
    for name, spent in seconds.items():
        more = (spent - seconds["nothing"]) / _ROWS * _CORES * 1e6
        console.print(f"{name}: {_ROWS / spent:,.0f} records/s, {more:.2f} µs of a core more for each")


if __name__ == "__main__":
    main()
