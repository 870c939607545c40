"""Singer taps pass the kit: they commit only where a state says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import SourceHarness
from airflow_kconnect.conformance.source_checks import SOURCE_CHECKS
from airflow_kconnect.conformance.task_checks import TASK_CHECKS
from tests.integration.conformance.conftest import Find
from tests.support.connectors.taps import Tap

JSON = "org.apache.kafka.connect.json.JsonConverter"
WITHOUT_RUNS = ("offsets", "same-again")
NEEDS_MORE = ("errors",)


class NumbersOfATap(SourceHarness):
    """Numbers, two at a time: after each second one there is a state."""

    def config(self) -> Mapping[str, Any]:
        self._count, self._tap = 0, Tap(self.folder)
        return {
            **self._tap.props(stream=self.topic, size=2),
            "singer.streams": "*,!other",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
        }

    def add(self, count: int) -> None:
        self._count += count
        self._tap.grow(self._count)


@pytest.fixture
def worker_props(worker_props: dict[str, str]) -> dict[str, str]:
    """Taps are allowed."""
    return {**worker_props, "kconnect.singer.taps.allowed": "*"}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check.name, marks=() if check.name in WITHOUT_RUNS else pytest.mark.exhaustive)
        for check in (*TASK_CHECKS, *SOURCE_CHECKS)
        if check.name not in NEEDS_MORE
    ],
)
def test_a_tap_passes(check: str, find: Find) -> None:
    finding = find("SingerSource", NumbersOfATap, check)
    assert finding.status is Status.PASSED, finding
