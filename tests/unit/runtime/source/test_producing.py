"""What a producer is told of columns of records."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from tests.support.connectors.split_writing import FullProducer, Writing, lines


class TestRecords:
    def told(self, **columns: Any) -> Any:
        changed: dict[str, Any] = {"constant_topic": None} if "topic" in columns else {}
        return Writing(**changed).write(lines(1, **columns)).producer.told[1]

    @pytest.mark.parametrize(
        ("columns", "expected"),
        [
            pytest.param({}, ("t", b"line-1"), id="value alone"),
            pytest.param({"key": [b"k"]}, ("t", b"line-1", b"k"), id="key"),
            pytest.param({"key": [None]}, ("t", b"line-1", None), id="no key"),
            pytest.param({"topic": ["x"]}, ("x", b"line-1", None, -1, None, None, 0, None), id="topic"),
            pytest.param({"partition": [3]}, ("t", b"line-1", None, 3, None, None, 0, None), id="partition"),
            pytest.param({"partition": [0]}, ("t", b"line-1", None, 0, None, None, 0, None), id="partition 0"),
            pytest.param({"partition": [None]}, ("t", b"line-1", None, -1, None, None, 0, None), id="Kafka chooses"),
            pytest.param({"timestamp": [123]}, ("t", b"line-1", None, -1, None, None, 123, None), id="timestamp"),
            pytest.param({"timestamp": [None]}, ("t", b"line-1", None, -1, None, None, 0, None), id="now"),
            pytest.param(
                {"headers": [[{"key": "h", "value": b"1"}, {"key": "h", "value": None}]]},
                ("t", b"line-1", None, -1, None, None, 0, [("h", b"1"), ("h", None)]),
                id="headers",
            ),
            pytest.param({"headers": [[]]}, ("t", b"line-1", None, -1, None, None, 0, None), id="no headers"),
        ],
    )
    def test_is_produced_with(self, columns: dict[str, list[Any]], expected: tuple[Any, ...]) -> None:
        assert self.told(**columns) == expected

    @pytest.mark.parametrize(
        "columns", [{}, {"key": [b"1", b"2"]}, {"partition": [0, 0]}], ids=["plain", "key", "full"]
    )
    def test_a_full_queue_is_waited_for(self, columns: dict[str, Any]) -> None:
        writing = Writing(producer=FullProducer()).write(lines(1, 2, **columns))
        assert writing.values == [b"line-1", b"line-2"]

    def test_a_record_for_an_internal_topic_ends_the_run(self) -> None:
        with pytest.raises(DataError, match="internal topic connect-offsets"):
            Writing(constant_topic=None).write(lines(1, topic=["connect-offsets"]))
