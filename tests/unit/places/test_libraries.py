"""Libraries of stores that a job imports before it forks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from airflow_kconnect.places.libraries import STORES, stores_hint

_PATH = os.pathsep.join(sys.path)
# Prints whether it is imported.
_IMPORTING = """
import sys
from airflow_kconnect.places.libraries import import_libraries
import_libraries()
print("botocore.session" in sys.modules)
"""


@pytest.mark.parametrize(
    "config",
    [
        {"connector.class": "DirectorySink", "directory": "s3://lake/raw"},
        {"connector.class": "FilesSource", "directory": "s3a://lake/raw"},
        {"connector.class": "SpoolDirCsvSourceConnector", "input.path": "s3://lake/raw"},
        {"connector.class": "io.confluent.connect.s3.S3SinkConnector", "s3.bucket.name": "${env:BUCKET}"},
    ],
    ids=lambda config: config["connector.class"],
)
def test_a_connector_that_uses_s3_is_announced(config: dict[str, str]) -> None:
    assert stores_hint([{"connector.class": "FileStreamSink"}, config]) == {STORES: "s3"}


@pytest.mark.parametrize(
    "config",
    [
        {"directory": "/data/out"},
        {"directory": "gs://lake/raw"},
        {"directory": "${env:PLACE}"},
        {"directory": None},
        {"iceberg.catalog.warehouse": "s3://lake/tables"},  # Spark's own library reads and writes it
    ],
    ids=str,
)
def test_what_needs_no_large_library_is_not_announced(config: dict[str, str]) -> None:
    assert stores_hint([config]) == {}


@pytest.mark.parametrize(("hint", "expected"), [("s3", "True"), ("", "False"), ("nonsense", "False")])
def test_the_library_that_is_announced_is_imported(hint: str, expected: str) -> None:
    command = [sys.executable, "-c", _IMPORTING]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={STORES: hint, "PYTHONPATH": _PATH})
    assert done.stdout.strip() == expected


@pytest.mark.parametrize("error", ["ImportError", "AttributeError"])
def test_a_library_that_is_missing_or_broken_is_for_the_run_to_report(error: str) -> None:
    code = (
        f"import sys\nclass Broken:\n    def find_spec(self, name, *_):\n        if name == 'botocore': raise {error}\n"
    )
    code += "sys.meta_path.insert(0, Broken())\n" + _IMPORTING
    env = {STORES: "s3", "PYTHONPATH": _PATH}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "False"
