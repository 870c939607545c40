"""Which topics a sink reads, and as which group."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.sink_topics import chosen_topics, offset_reset, sink_group


class TestChosenTopics:
    EXISTING = ("b", "a", "a.b", "connect-offsets", "__consumer_offsets")
    INTERNAL = frozenset({"connect-offsets"})

    @pytest.mark.parametrize(
        ("props", "expected"),
        [
            pytest.param({"topics": "b, a"}, ["a", "b"], id="list"),
            pytest.param({"topics": "a,"}, ["a"], id="trailing comma"),
            pytest.param({"topics": "connect-offsets"}, ["connect-offsets"], id="an internal topic by its name"),
            pytest.param({"topics.regex": "a.*"}, ["a", "a.b"], id="pattern"),
            pytest.param({"topics.regex": "a"}, ["a"], id="a pattern matches whole names"),
            pytest.param({"topics.regex": ".*"}, ["a", "a.b", "b"], id="internal topics do not match"),
            pytest.param({"topics.regex": "x.*"}, [], id="a pattern without a match"),
        ],
    )
    def test_topics(self, props: dict[str, str], expected: list[str]) -> None:
        assert chosen_topics(props, self.EXISTING, self.INTERNAL) == expected

    def test_all_missing_topics_are_named(self) -> None:
        with pytest.raises(ConfigError) as caught:
            chosen_topics({"topics": "x,a,y"}, self.EXISTING, self.INTERNAL)
        assert caught.value.errors == {"topics": ["topic x does not exist", "topic y does not exist"]}


class TestSinkGroup:
    def test_is_connects(self) -> None:
        assert sink_group({"name": "orders"}) == "connect-orders"

    def test_can_be_overridden(self) -> None:
        assert sink_group({"name": "orders", "consumer.override.group.id": "mine"}) == "mine"


class TestOffsetReset:
    OWN, OF_WORKER = {"consumer.override.auto.offset.reset": "none"}, {"consumer.auto.offset.reset": "latest"}

    @pytest.mark.parametrize(
        ("props", "worker", "expected"),
        [({}, {}, None), (OWN, OF_WORKER, "none"), ({}, OF_WORKER, "latest"), (OWN, {}, "none")],
    )
    def test_is_the_connectors_else_the_workers(
        self, props: dict[str, str], worker: dict[str, str], expected: str | None
    ) -> None:
        assert offset_reset(props, worker) == expected
