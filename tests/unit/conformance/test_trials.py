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
from tests.support.connectors.lines import Lines
from tests.support.connectors.rows import Rows


class NoTopics(Topics):
    """Of a cluster in which there are none."""

    def __init__(self) -> None:
        self.removed: list[str] = []

    def create(self, topic: str) -> None:
        """Nothing happens."""

    def ends(self) -> dict[Any, int]:
        return {}

    def remove(self, part: str) -> None:
        self.removed.append(part)


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


@pytest.mark.parametrize("key", ["topic", "topic.prefix"])
def test_a_source_of_which_only_the_configuration_is_known_writes_to_topics_of_its_own(
    key: str, tmp_path: Path
) -> None:
    class Own(Lines):
        @classmethod
        def config(cls) -> Any:
            return super().config().define("topic.prefix", "string")

    with OwnLab(Own, {key: "live"}, tmp_path).trial(0) as trial:
        assert trial.config[key] == trial.harness.topic


def test_the_topics_of_a_trial_are_removed_after_it(tmp_path: Path) -> None:
    lab = OwnLab(Rows, {}, tmp_path)
    with lab.trial(0, counted=False) as trial:
        assert isinstance(lab.topics, NoTopics) and lab.topics.removed == []
    assert lab.topics.removed == [trial.harness.topic]
