"""``python -m benchmarks.airflow_costs``: imports, DAG files, and a task of Airflow compared with `kconnect run`."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import environment
from benchmarks.measure import Say
from benchmarks.settings import our_worker
from tests.support.airflow.home import use_own_airflow_home

app = typer.Typer(add_completion=False)

_IMPORT = """
import time
from airflow.sdk import DAG, BaseOperator
before = time.perf_counter()
{work}
print(time.perf_counter() - before)
"""
_DAG_FILE = """
from datetime import datetime
from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, run_params

for number in range(50):
    with DAG(f"pipeline_{number}", schedule=None, start_date=datetime(2026, 1, 1), params=run_params()):
        source = KafkaSourceOperator(
            task_id="read",
            connector={
                "name": f"source-{number}",
                "config": {"connector.class": "FileStreamSource", "file": "/tmp/x", "topic": f"topic-{number}"},
            },
        )
        sink = KafkaSinkOperator(
            task_id="write",
            connector={
                "name": f"sink-{number}",
                "config": {"connector.class": "DirectorySink", "topics": f"topic-{number}", "directory": "/tmp/y"},
            },
        )
        source >> sink
"""


@app.command()
def main(repeat: Annotated[int, typer.Option(help="Passes; the median counts.")] = 5) -> None:
    """Print seconds; everything is imported and run as often as `--repeat` says."""
    use_own_airflow_home()
    say = environment.console()
    costs = {
        name: statistics.median(_python(_IMPORT.replace("{work}", work)) for _ in range(repeat))
        for name, work in (
            ("the Spark provider's operator", "import airflow.providers.apache.spark.operators.spark_submit"),
            ("our operators", "import airflow_kconnect.operators.kafka_connect"),
            ("a DAG file with 100 connectors", _DAG_FILE),
        )
    }
    provider, ours, dag_file = costs.values()
    say(f"importing the Spark provider's operator, over Airflow: {provider:.2f} s")
    say(f"importing our operators, over that: {ours - provider:.2f} s")
    say(f"a DAG file with 100 connectors, over Airflow: {dag_file:.2f} s")
    with environment.broker(say) as place:
        _compare_runs(place.bootstrap, place.folder, repeat, say)


def _python(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def _compare_runs(bootstrap: str, folder: Path, repeat: int, say: Say) -> None:
    """The same connector, one line a run: by the command line and by an operator, each in a process of its own."""
    seconds: dict[str, list[float]] = {"kconnect run": [], "operator": []}
    for number in range(repeat + 1):
        for how, took in seconds.items():
            name = f"{how.replace(' ', '-')}-{number}"
            (folder / name).write_text("a line\n")
            config = {"name": name, "connector.class": "FileStreamSource", "file": str(folder / name), "topic": "bench"}
            file = folder / f"{name}.json"
            file.write_text(json.dumps(config))
            seconds_of = _command_line if how == "kconnect run" else _operator
            found = seconds_of(file, bootstrap, folder)
            if number:  # the first one of each warms the machine up
                took.append(found)
    middle = {how: statistics.median(took) for how, took in seconds.items()}
    for how, value in middle.items():
        say(f"{how}, one record: {value:.2f} s")
    say(f"operator over kconnect run: {middle['operator'] - middle['kconnect run']:.2f} s")


def _command_line(file: Path, bootstrap: str, folder: Path) -> float:
    worker = folder / "worker.properties"
    worker.write_text("".join(f"{key}={value}\n" for key, value in our_worker(bootstrap).items()))
    command = [str(Path(sys.executable).with_name("kconnect")), "run", str(file), "--worker", str(worker)]
    begin = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - begin


_TASK = """
import time
from types import SimpleNamespace
from airflow.sdk import DAG
begin = time.perf_counter()
from airflow_kconnect import KafkaSourceOperator
ti = SimpleNamespace(
    dag_id="d", task_id="t", run_id="manual__1", map_index=-1, try_number=1, xcom_push=lambda **values: None
)
context = {{"ti": ti, "dag_run": SimpleNamespace(clear_number=0, run_type="manual"), "params": {{}}}}
operator = KafkaSourceOperator(task_id="read", connector={file!r}, worker_config={worker!r})
assert operator.execute(context)["records"]["written"] == 1
print(time.perf_counter() - begin)
"""


def _operator(file: Path, bootstrap: str, folder: Path) -> float:
    os.environ["AIRFLOW_CONN_SPARK_DEFAULT"] = json.dumps({"conn_type": "spark", "host": "local[*]"})
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    os.environ["AIRFLOW_CONN_KAFKA_DEFAULT"] = json.dumps(kafka)
    return _python(_TASK.format(file=str(file), worker=our_worker(bootstrap)))


if __name__ == "__main__":
    app()
