"""Requests to alter offsets: what they mean, and Connect's texts for what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.stores.offset_changes.requests import sink_request, source_request

FILE = {"filename": "/a"}
PLACE = {"kafka_topic": "t", "kafka_partition": 0}


def _entry(partition: Any, offset: Any) -> dict[str, Any]:
    return {"offsets": [{"partition": partition, "offset": offset}]}


class TestSource:
    def test_pairs(self) -> None:
        assert source_request(_entry(FILE, {"position": 7}), "c") == [(FILE, {"position": 7})]

    def test_the_list_alone_will_do(self) -> None:
        assert source_request([{"partition": FILE, "offset": None}], "c") == [(FILE, None)]

    def test_of_several_entries_for_a_partition_the_last_counts(self) -> None:
        first = {"partition": {"a": 1, "b": 2}, "offset": {"n": 1}}
        last = {"partition": {"b": 2, "a": 1}, "offset": {"n": 2}}
        assert source_request([first, last], "c") == [({"b": 2, "a": 1}, {"n": 2})]

    @pytest.mark.parametrize(
        ("request_", "text"),
        [
            (_entry(None, {"position": 1}), "Partition objects cannot be null"),
            (_entry(FILE, {"position": [1]}), "may only contain primitive types as values, but field position"),
            (
                _entry({"filename": {}}, {"position": 1}),
                "may only contain primitive types as values, but field filename",
            ),
            (_entry(FILE, {"position": float("nan")}), "field position contains nan"),
        ],
    )
    def test_what_is_wrong(self, request_: Any, text: str) -> None:
        with pytest.raises(ConfigError, match=text):
            source_request(request_, "c")


class TestSink:
    def test_offsets_by_topic_partition(self) -> None:
        assert sink_request(_entry(PLACE, {"kafka_offset": 5}), "c") == {TopicPartition("t", 0): 5}

    def test_numbers_may_be_texts(self) -> None:
        request = _entry({"kafka_topic": "t", "kafka_partition": "1"}, {"kafka_offset": "5"})
        assert sink_request(request, "c") == {TopicPartition("t", 1): 5}

    def test_null_resets(self) -> None:
        assert sink_request(_entry(PLACE, None), "c") == {TopicPartition("t", 0): None}

    @pytest.mark.parametrize(
        ("partition", "offset", "text"),
        [
            (None, None, "The partition for a sink connector offset cannot be null or missing"),
            (
                {"topic": "t"},
                None,
                "The partition for a sink connector offset must contain the keys 'kafka_topic' and 'kafka_partition'",
            ),
            (PLACE | {"kafka_topic": None}, None, "Kafka topic names must be valid strings and may not be null"),
            (PLACE | {"kafka_partition": None}, None, "Kafka partitions must be valid numbers and may not be null"),
            (
                PLACE | {"kafka_partition": "x"},
                None,
                "Failed to parse the following Kafka partition value in the provided offsets: 'x'."
                " Partition values for sink connectors need to be integers.",
            ),
            (PLACE, {}, "The offset for a sink connector should either be null or contain the key 'kafka_offset'"),
            (
                PLACE,
                {"kafka_offset": True},
                "Failed to parse the following Kafka offset value in the provided offsets: 'True'."
                " Offset values for sink connectors need to be integers.",
            ),
        ],
    )
    def test_what_is_wrong(self, partition: Any, offset: Any, text: str) -> None:
        with pytest.raises(ConfigError) as caught:
            sink_request(_entry(partition, offset), "c")
        assert caught.value.errors == {"offsets": [text]}

    def test_all_errors_are_shown_at_once(self) -> None:
        request = [{"partition": None, "offset": None}, {"partition": PLACE, "offset": {}}]
        with pytest.raises(ConfigError) as caught:
            sink_request(request, "c")
        assert len(caught.value.errors["offsets"]) == 2


class TestShape:
    @pytest.mark.parametrize("request_", [{}, {"offsets": []}, {"offsets": None}, [], None])
    def test_no_offsets(self, request_: Any) -> None:
        with pytest.raises(ConfigError, match="Partitions / offsets need to be provided for an alter offsets request"):
            source_request(request_, "c")

    @pytest.mark.parametrize(
        ("request_", "text"),
        [
            ("text", "str is not a list"),
            ({"offsets": {}}, "dict is not a list"),
            ([1], "entry 1 is not a JSON object"),
            ([{"partition": FILE, "offset": {"position": 1}, "x": 1}], 'entry 1 has the unknown field "x"'),
            ([{"partition": FILE}], "entry 1 has no offset"),
            ([{"partition": "a", "offset": None}], "entry 1 has a value of `partition` that is not a JSON object"),
            ([{"partition": FILE, "offset": 7}], "entry 1 has a value of `offset` that is not a JSON object"),
        ],
    )
    def test_what_is_wrong(self, request_: Any, text: str) -> None:
        with pytest.raises(ConfigError, match=text):
            source_request(request_, "c")

    def test_the_error_names_the_connector(self) -> None:
        with pytest.raises(ConfigError, match="Configuration of connector c is invalid: `offsets`"):
            source_request([], "c")
