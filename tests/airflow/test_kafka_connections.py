"""Connections that Airflow's command line stores for `--conn-type kafka`, with and without the Kafka provider."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from airflow_kconnect.hooks.kconnect import KafkaConnectHook
from airflow_kconnect.submit.worker_defaults import WORKER_DEFAULTS

# Stands for an environment without apache-airflow-providers-apache-kafka: no metadata of it, and nothing to import.
_WITHOUT_PROVIDER = """
import importlib
import sys

# Airflow has its choice by the version of Python.
for name in ("importlib.metadata", "importlib_metadata"):
    metadata = importlib.import_module(name)
    metadata.distributions = lambda found=metadata.distributions, **search: (
        package for package in found(**search) if package.metadata["Name"] != "apache-airflow-providers-apache-kafka"
    )

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("airflow.providers.apache.kafka"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""
# In one process: each would import Airflow for seconds.
_TYPED = """
import sys
from airflow.__main__ import main

for words in {}:
    sys.argv = ["airflow", "connections", *words]
    main()
"""


def add(conn_id: str, *options: str, blocked: bool) -> str:
    """`airflow connections add`, and `get`; returns the type that was stored."""
    typed = [("add", conn_id, "--conn-type", "kafka", *options), ("get", conn_id, "--output", "json")]
    code = (_WITHOUT_PROVIDER if blocked else "") + _TYPED.format(typed)
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    found = json.loads(shown[shown.index("[{") :])
    return str(found[0]["conn_type"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("blocked", "stored"),
    [
        pytest.param(False, "kafka", id="with", marks=pytest.mark.exhaustive),
        pytest.param(True, "generic", id="without"),
    ],
)
def test_are_read_whether_the_provider_is_installed_or_not(
    airflow_database: Path, monkeypatch: pytest.MonkeyPatch, blocked: bool, stored: str
) -> None:
    extra = {"bootstrap.servers": "broker:9092"}

    conn_type = add(f"kafka_{stored}", "--conn-extra", json.dumps(extra), blocked=blocked)

    assert conn_type == stored
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_STORED", json.dumps({"conn_type": conn_type, "extra": extra}))
    assert KafkaConnectHook("kafka_stored").worker_config() == WORKER_DEFAULTS | extra
    assert os.environ["AIRFLOW_HOME"] == str(airflow_database)
