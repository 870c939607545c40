"""PySpark and pyspark-client in one folder, in the order that breaks PySpark's installed files; and neither."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest

from airflow_kconnect.machine.spark_home import spark_home
from tests.support import unique
from tests.support.kafka import read_all

pytestmark = [pytest.mark.newcomer, pytest.mark.timeout(900)]

REPOSITORY = Path(__file__).parents[2]
HOIST = {
    "transforms": "h",
    "transforms.h.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.h.field": "line",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which pip has installed pyspark-client, in the version that goes with Airflow's Spark provider."""
    folder = tmp_path_factory.mktemp("client")
    package = f"pyspark-client=={version('pyspark-client')}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), package]
    subprocess.run(pip, check=True)
    return folder


@pytest.fixture(scope="module")
def overwritten(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with PySpark, over which pyspark-client was installed."""
    home = spark_home()
    assert home is not None
    folder = tmp_path_factory.mktemp("overwritten")

    def copy(source: str, target: str) -> None:
        (os.link if source.endswith(".jar") else shutil.copy2)(source, target)

    shutil.copytree(home, folder / "pyspark", copy_function=copy)
    shutil.copytree(client / "pyspark", folder / "pyspark", dirs_exist_ok=True)
    return folder


def _kconnect(
    *arguments: str, site: Path, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `kconnect` in a Python that finds `pyspark` in a folder before anything else."""
    unset = ("SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(
        [sys.executable, "-P", "-m", "airflow_kconnect.cli", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": os.pathsep.join(map(str, (site, REPOSITORY))), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def _connector(folder: Path) -> str:
    """A connector file in that folder; returns the topic, which is its name."""
    (folder / "lines.txt").write_text("one\ntwo\n")
    name = unique("lines")
    config = {"connector.class": "FileStreamSource", "file": str(folder / "lines.txt"), "topic": name, **HOIST}
    (folder / "connector.json").write_text(json.dumps({"name": name, "config": config}))
    return name


def _preview(
    site: Path, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Transform a record, by Spark."""
    _connector(folder)
    (folder / "records.jsonl").write_text('{"topic": "t", "value": "1"}\n')
    words = ("preview", "--config", "connector.json", "--input", "records.jsonl")
    return _kconnect(*words, site=site, folder=folder, environment=environment)


def _value(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return str(json.loads(done.stdout)["value"])


@pytest.mark.exhaustive  # what the next two begin with
def test_the_client_has_overwritten_files(overwritten: Path) -> None:
    assert version("pyspark-client") in (overwritten / "pyspark" / "version.py").read_text()
    assert list(overwritten.glob("pyspark/jars/spark-core_*"))


@pytest.mark.exhaustive
def test_a_connector_runs_after_the_client_was_installed_last(
    overwritten: Path, tmp_path: Path, worker_file: Path, bootstrap: str
) -> None:
    topic = _connector(tmp_path)

    done = _kconnect("run", "connector.json", "--worker", str(worker_file), site=overwritten, folder=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    values = sorted(record.value or b"" for record in read_all(bootstrap, topic))
    assert values == [b'{"line":"one"}', b'{"line":"two"}']


@pytest.mark.exhaustive  # like the connector above
def test_a_preview_works_after_the_client_was_installed_last(overwritten: Path, tmp_path: Path) -> None:
    assert _value(_preview(overwritten, tmp_path)) == '{"line":1}'


def test_spark_is_installed_into_the_cache_and_found_there(client: Path, tmp_path: Path) -> None:
    environment = {"KCONNECT_CACHE": str(tmp_path / "cache")}
    installed = _kconnect("spark", "install", site=client, folder=tmp_path, environment=environment)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    assert _value(_preview(client, tmp_path, environment)) == '{"line":1}'
    shutil.rmtree(tmp_path / "cache")


def test_without_spark_the_error_says_how_to_install_it(client: Path, tmp_path: Path) -> None:
    done = _preview(client, tmp_path, {"KCONNECT_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"})
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
    assert "(pip install 'airflow-kconnect[spark]', or `kconnect spark install` " in told
