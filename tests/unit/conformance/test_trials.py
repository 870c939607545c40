"""Trials: what a connector is configured with when it is tried, and that nothing live is touched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.conformance.harness import ConfigOnly, Harness
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.topics import Topics
from airflow_kconnect.connect.connector.base import Connector
from tests.support.connectors.rows import Rows


class NoTopics(Topics):
    """Of a cluster in which there are none."""

    def __init__(self) -> None:
        """There is nothing to connect to."""

    def create(self, topic: str) -> None:
        """Nothing happens."""

    def ends(self) -> dict[Any, int]:
        return {}


class OwnLab(Lab):
    """A lab without a cluster, for a configuration alone."""

    def __init__(self, connector: type[Connector], config: Mapping[str, Any], folder: Path) -> None:
        def harness(own: Path, topic: str) -> Harness:
            return ConfigOnly(own, topic, config)

        super().__init__(Subject(connector, "own"), harness, {}, folder)
        self.topics = NoTopics()


@pytest.mark.parametrize(
    "key", ["consumer.override.group.id", "topics.regex", "topics", "errors.deadletterqueue.topic.name"]
)
def test_a_sink_is_tried_without_the_group_and_the_topics_of_live_runs(key: str, tmp_path: Path) -> None:
    with OwnLab(Rows, {key: "live"}, tmp_path).trial(0, counted=False) as trial:
        assert "live" not in trial.config.values()
