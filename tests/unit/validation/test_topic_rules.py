"""Rules for the topics of a configuration."""

from __future__ import annotations

import pytest

from airflow_kconnect.validation.connector import (
    validate_connector,
)
from tests.support.connectors.fake_plugins import SINK, SOURCE, errors_of, worker

pytestmark = pytest.mark.usefixtures("fake_plugins")


class TestTopic:
    @pytest.mark.parametrize(
        "topic",
        [
            *(".", "..", "a b", "a/b", "é", "x" * 250),
            *("connect-offsets", "connect-configs", "connect-status", "__consumer_offsets", "__transaction_state"),
        ],
    )
    @pytest.mark.parametrize("key", ["topic", "errors.deadletterqueue.topic.name"])
    def test_illegal_or_internal_topic_is_refused(self, key: str, topic: str) -> None:
        assert set(errors_of({**SOURCE, key: topic})) == {key}

    @pytest.mark.parametrize("topic", ["x" * 249, "A.b_c-9", "..."])
    def test_legal_topic(self, topic: str) -> None:
        assert validate_connector({**SOURCE, "topic": topic}).props["topic"] == topic

    def test_internal_topics_are_those_of_the_worker(self) -> None:
        options = {"worker": worker(offset_storage_topic="mine")}
        assert set(errors_of({**SOURCE, "topic": "mine"}, **options)) == {"topic"}

    def test_offsets_topic_of_the_connector_is_internal(self) -> None:
        assert set(errors_of({**SOURCE, "topic": "o", "offsets.storage.topic": "o"})) == {"topic"}

    def test_empty_topic_is_the_connectors_error(self) -> None:
        assert errors_of({**SOURCE, "topic": ""}) == {
            "topic": ["Invalid value  for configuration topic: String must be non-empty"]
        }


class TestSink:
    @pytest.mark.parametrize(
        ("topics", "message"),
        [
            (
                {"topics": "t1", "topics.regex": "a.*"},
                "topics and topics.regex are mutually exclusive options, but both are set.",
            ),
            ({}, "Must configure one of topics or topics.regex"),
            ({"topics": " ", "topics.regex": ""}, "Must configure one of topics or topics.regex"),
        ],
    )
    def test_topics_and_regex_exclude_each_other(self, topics: dict[str, str], message: str) -> None:
        config = {"name": "k", "connector.class": "FakeSink", **topics}
        assert errors_of(config) == {"topics": [message], "topics.regex": [message]}

    def test_dead_letters_may_not_be_read(self) -> None:
        assert errors_of({**SINK, "errors.deadletterqueue.topic.name": "t1"}) == {
            "topics": [
                "The DLQ topic 't1' may not be included in the list of topics ('topics=[t1, t2]') consumed by the "
                "connector"
            ]
        }

    def test_dead_letters_may_not_match(self) -> None:
        config = {"name": "k", "connector.class": "FakeSink", "topics.regex": "t.*"}
        assert errors_of({**config, "errors.deadletterqueue.topic.name": "t1"}) == {
            "topics.regex": [
                "The DLQ topic 't1' may not be matched by the regex for the topics ('topics.regex=t.*') consumed by "
                "the connector"
            ]
        }

    def test_regex_matches_whole_names(self) -> None:
        config = {"name": "k", "connector.class": "FakeSink", "topics.regex": "t"}
        assert validate_connector({**config, "errors.deadletterqueue.topic.name": "t1"})

    def test_wrong_regex(self) -> None:
        config = {"name": "k", "connector.class": "FakeSink", "topics.regex": "t("}
        assert set(errors_of({**config, "errors.deadletterqueue.topic.name": "t1"})) == {"topics.regex"}

    def test_group_of_the_sink_may_not_be_the_workers(self) -> None:
        assert errors_of(SINK, worker=worker(group_id="connect-k")) == {
            "name": ["Consumer group for sink connector named k conflicts with Connect worker group connect-k"]
        }

    def test_overridden_group_may_not_be_the_workers(self) -> None:
        assert errors_of({**SINK, "consumer.override.group.id": "kconnect"}) == {
            "consumer.override.group.id": ["Consumer group kconnect conflicts with Connect worker group kconnect"]
        }

    @pytest.mark.parametrize(
        ("config", "key"),
        [({"name": "straße"}, "name"), ({"consumer.override.group.id": "lager\u00e4"}, "consumer.override.group.id")],
    )
    def test_a_group_that_librdkafka_does_not_take_into_transactions(self, config: dict[str, str], key: str) -> None:
        assert [*errors_of({**SINK, **config})] == [key]

    def test_a_connector_with_any_name_can_have_another_group(self) -> None:
        assert validate_connector({**SINK, "name": "straße", "consumer.override.group.id": "strasse"})

    def test_overridden_group_avoids_the_conflict(self) -> None:
        config = {**SINK, "consumer.override.group.id": "mine"}
        assert validate_connector(config, worker=worker(group_id="connect-k"))
