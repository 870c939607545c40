"""The package as a zip file: what executors get."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from airflow_kconnect.submit import package_archive as module
from airflow_kconnect.submit.package_archive import NAME, package_archive, package_for, with_archive

_LOOK = """
import airflow_kconnect, airflow_kconnect.plugins.registry as plugins
print(airflow_kconnect.__file__)
print(*plugins.registry().names(plugins.CONNECTORS))
"""


def test_a_python_without_this_package_runs_it_from_there(tmp_path: Path) -> None:
    with package_archive() as archive:
        target = tmp_path / NAME
        target.write_bytes(archive.read_bytes())

    # As on an executor: the archive is in the working folder. Without `site` nothing else is installed.
    environment = {**os.environ, "PYTHONPATH": with_archive({})["spark.executorEnv.PYTHONPATH"]}
    command = [sys.executable, "-S", "-c", _LOOK]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    where, connectors = result.stdout.splitlines()
    assert NAME in where
    assert "org.apache.kafka.connect.file.FileStreamSourceConnector" in connectors.split()


def test_is_removed_afterwards() -> None:
    with package_for("spark://m:7077") as archive:
        assert archive is not None
        assert archive.is_file()

    assert not archive.parent.exists()


def test_executors_on_this_machine_need_none() -> None:
    with package_for("local[4]") as archive:
        assert archive is None


def test_goes_before_a_path_of_the_user() -> None:
    conf = with_archive({"a": "b", "spark.executorEnv.PYTHONPATH": "/opt/mine"})

    assert conf == {"a": "b", "spark.executorEnv.PYTHONPATH": f"{NAME}:/opt/mine"}


def test_the_archive_of_an_installation_is_always_the_same() -> None:
    assert module._contents.__wrapped__() == module._contents()
