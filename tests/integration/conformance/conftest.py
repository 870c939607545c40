"""Checks of a connector against the broker of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from airflow_kconnect.conformance.findings import Finding
from airflow_kconnect.conformance.harness import Harness
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import checks_of, examined
from airflow_kconnect.connect.connector.base import Connector


class Find(Protocol):
    """Makes a check."""

    def __call__(self, connector: type[Connector] | str, harness: type[Harness], check: str) -> Finding: ...


@pytest.fixture
def find(worker_props: dict[str, str], tmp_path: Path) -> Find:
    """What a check finds about a connector."""

    def check(connector: type[Connector] | str, harness: type[Harness], check: str) -> Finding:
        lab = Lab(Subject.of(connector, tmp_path), harness, worker_props, tmp_path)
        (finding,) = examined(lab, checks_of(lab.subject, [check])).findings
        return finding

    return check
