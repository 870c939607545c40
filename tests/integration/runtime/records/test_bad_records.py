"""Records that cannot be read, changed or written: which are dead letters, which end the run, and what is said."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.conftest import NumberedFile, Run, Source
from tests.integration.runtime.test_directory_pipeline import JSON, envelope, lines
from tests.support import unique
from tests.support.kafka import Headers, Record, create_topic, produce, read_all, read_values

TOLERANT = {
    "errors.tolerance": "all",
    "errors.deadletterqueue.topic.replication.factor": "1",
    "errors.deadletterqueue.context.headers.enable": "true",
}
HEADERS: Headers = [("twice", b"1"), ("twice", None), ("binary", b"\xff\x00"), ("", b""), ("ümlaut", "ß".encode())]


def _type(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "optional": False, **more}


def _struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return _type("struct", fields=list(fields))


_ARRAYS = '{"type":"array","items":'


def _map(keys: dict[str, Any]) -> dict[str, Any]:
    return _type("map", keys=keys, values=_type("int8"))


_DECIMAL = _type("bytes", name="org.apache.kafka.connect.data.Decimal", version=1, parameters={"scale": "2"})
_DATE = _type("int32", name="org.apache.kafka.connect.data.Date", version=1)
_NO_SCALE = {key: value for key, value in _DECIMAL.items() if key != "parameters"}
_INT = _type("int32", field="a")

BAD: dict[str, bytes | str] = {
    "no schema": '{"payload":1}',
    "no payload": '{"schema":null}',
    "further member": '{"schema":null,"payload":1,"x":1}',
    "no object": "[1]",
    "empty": "",
    "JSON null": "null",
    "unknown type": envelope(_type("nope"), 1),
    "no type": envelope({"optional": False}, 1),
    "no fields": envelope(_type("struct"), {}),
    "field without name": envelope(_struct(_type("int32")), {}),
    "no items": envelope(_type("array"), []),
    "required null": envelope(_type("int32"), None),
    "required member null": envelope(_struct(_INT), {"a": None}),
    "required member missing": envelope(_struct(_INT), {}),
    "too large": envelope(_type("int64"), 2**63),
    "text for a number": envelope(_type("int32"), "1"),
    "bad base64": envelope(_type("bytes"), "%%%"),
    "decimal without scale": envelope(_NO_SCALE, "AQ=="),
    "decimal of 50 digits": envelope(_DECIMAL, "fwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="),
    "list for a struct": envelope(_struct(_INT), [1]),
    "1 200 levels": '{"schema":null,"payload":' + "[" * 1_200 + "]" * 1_200 + "}",
    "half a character": '{"schema":null,"payload":"\\ud800"}',
    "no UTF-8": b'{"schema":{"type":"string","optional":false,"doc":"\xff"},"payload":"x"}',
    "half a character in a schema": '{"schema":{"type":"string","optional":false,"doc":"\\ud800"},"payload":"x"}',
    "400 arrays in a schema": envelope(json.loads(_ARRAYS * 400 + "1" + "}" * 400), []),
    "20 000 fields": envelope(_struct(*(_type("int8", field=f"f{n}") for n in range(20_000))), {}),
    "two fields of one name": envelope(_struct(_INT, _INT), {"a": 1}),
    "a map as key of a map": envelope(_map(_map(_type("int8"))), []),
    "default beyond a decimal": envelope(_struct({**_DECIMAL, "field": "a", "default": 10**50}), {}),
    "default that is not a date": envelope(_struct({**_DATE, "field": "a", "default": 2**40}), {}),
    "default that is NaN": envelope(_struct(_type("double", field="a", default=float("nan"))), {}),
    "default of a required text": envelope(_struct(_type("string", field="a", default=5)), {}),
    "UTF-16": '{"schema":null,"payload":1}'.encode("utf-16"),
    "cut off": envelope(_struct(_INT), {"a": 1})[:-3],
}
GOOD = {
    "int": (envelope(_type("int32"), 1), 1),
    "NaN": ('{"schema":{"type":"double","optional":false},"payload":NaN}', "NaN"),
    "unknown member": (envelope(_struct(_INT), {"a": 1, "b": 2}), {"a": 1}),
    "default of another type": (envelope(_struct(_type("int32", field="a", default="x")), {}), {"a": 0}),
    "default that is too large": (envelope(_struct(_type("int8", field="a", default=300)), {}), {"a": 44}),
    "default of a boolean": (envelope(_struct(_type("boolean", field="a", default="x")), {}), {"a": False}),
    "15 arrays": (envelope(json.loads(_ARRAYS * 15 + '{"type":"int8"}' + "}" * 15), []), []),
    "same key twice": ('{"schema":null,"payload":{"a":1,"a":2}}', {"a": 2}),
    "800 levels": ('{"schema":null,"payload":' + "[" * 800 + "]" * 800 + "}", json.loads("[" * 800 + "]" * 800)),
}


@dataclass
class Outcome:
    """What a tolerant sink has made of all bad and some good messages, each good one behind a bad one."""

    topic: str
    places: dict[str, int]
    report: RunReport
    dead_letters: list[Record]
    written: list[Any]

    def headers(self, name: str) -> Headers:
        """The headers of a dead letter."""
        offset = str(self.places[name]).encode()
        return next(r.headers for r in self.dead_letters if ("__connect.errors.offset", offset) in r.headers)


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, bootstrap: str, worker_topics: str, tmp_path_factory: Any) -> Outcome:
    topic, dead = create_topic(bootstrap, unique("bad")), unique("dead")
    goods = list(GOOD.values())
    places: dict[str, int] = {}
    producer, offset = Producer({"bootstrap.servers": bootstrap}), 0
    for n, (name, message) in enumerate(BAD.items()):
        places[name] = offset
        producer.produce(topic, message, b"\xff key", headers=HEADERS)
        producer.produce(topic, goods[n % len(goods)][0])
        offset += 2
    assert producer.flush(30) == 0
    config = {"name": unique("sink"), "connector.class": "DirectorySink", "topics": topic, **JSON, **TOLERANT}
    config["key.converter"] = "ByteArrayConverter"
    config |= {"directory": str(tmp_path_factory.mktemp("out")), "errors.deadletterqueue.topic.name": dead}
    report = run(RunSpec(config, worker_config(bootstrap)), spark)
    return Outcome(topic, places, report, read_all(bootstrap, dead), lines(config))


class TestEnvelopes:
    def test_all_are_accounted_for(self, outcome: Outcome) -> None:
        assert outcome.report.records == {
            "read": 2 * len(BAD), "written": len(BAD), "filtered": 0, "dead_lettered": len(BAD)
        }  # fmt: skip

    def test_good_records_pass_in_their_order(self, outcome: Outcome) -> None:
        goods = [value for _, value in GOOD.values()]
        assert outcome.written == [goods[n % len(goods)] for n in range(len(BAD))]

    def test_dead_letters_are_the_messages_byte_for_byte(self, outcome: Outcome) -> None:
        expected = [value if isinstance(value, bytes) else value.encode() for value in BAD.values()]
        assert [record.value for record in outcome.dead_letters] == expected
        assert {record.key for record in outcome.dead_letters} == {b"\xff key"}

    def test_their_own_headers_come_first_unchanged(self, outcome: Outcome) -> None:
        assert all(record.headers[: len(HEADERS)] == HEADERS for record in outcome.dead_letters)

    def test_headers_name_place_stage_and_reason(self, outcome: Outcome) -> None:
        words = (
            *("topic", "partition", "offset", "connector.name", "task.id", "stage", "class.name"),
            *("exception.class.name", "exception.message", "exception.stacktrace"),
        )
        for name in BAD:
            found = dict(outcome.headers(name)[len(HEADERS) :])
            assert list(found) == [f"__connect.errors.{word}" for word in words]
            assert found["__connect.errors.topic"] == outcome.topic.encode()
            assert found["__connect.errors.stage"] == b"VALUE_CONVERTER", name
            exception = found["__connect.errors.exception.class.name"]
            assert exception == b"org.apache.kafka.connect.errors.DataException", name
            message = found["__connect.errors.exception.message"] or b""
            assert message.strip() and not message.rstrip().endswith(b":"), name

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("no UTF-8", "it is not UTF-8: byte 0xff at position 51"),
            ("cut off", "it is not JSON: it ends at line 1, column"),
        ],
    )
    def test_what_is_not_json_says_where(self, outcome: Outcome, name: str, reason: str) -> None:
        message = dict(outcome.headers(name))["__connect.errors.exception.message"] or b""
        assert f"due to serialization error: {reason}" in message.decode()


@pytest.mark.parametrize("format_", ["parquet", pytest.param("json", marks=pytest.mark.exhaustive)])
def test_nothing_but_bad_records_and_tombstones(
    topic: Callable[..., str], bootstrap: str, run_here: Run, tmp_path: Path, format_: str
) -> None:
    name = topic()
    produce(bootstrap, name, ["bad", None, "[]"])
    config = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path), "topics": name}
    records = run_here({**config, "format": format_, **JSON, "errors.tolerance": "all"}).records
    assert records == {"read": 3, "written": 1, "filtered": 0, "dead_lettered": 2}


@pytest.fixture
def strings(numbered: NumberedFile, file_source: Source) -> Callable[..., dict[str, str]]:
    """A file source over three lines, with a transformation `t`."""
    numbered.append(3)

    def config(type_: str, **keys: str) -> dict[str, str]:
        own = {f"transforms.t.{key.replace('_', '.')}": value for key, value in keys.items()}
        return file_source(transforms="t", **{"transforms.t.type": type_}, **own)

    return config


class TestTopics:
    @pytest.mark.parametrize(
        ("replacement", "text"),
        [
            # More names: `tests/unit/validation/test_topic_rules.py`.
            pytest.param("", "the empty string is not allowed", id="empty", marks=pytest.mark.exhaustive),
            pytest.param("connect-offsets", "connect-offsets", id="internal"),
        ],
    )
    def test_that_records_must_not_go_to_end_the_run(
        self, strings: Callable[..., dict[str, str]], run_here: Run, replacement: str, text: str
    ) -> None:
        config = strings("RegexRouter", regex=".*", replacement=replacement)
        with pytest.raises((ConfigError, DataError), match=text):
            run_here(config)

    def test_of_single_records_end_the_run_too(self, strings: Callable[..., dict[str, str]], run_here: Run) -> None:
        config = strings("airflow_kconnect.transforms.SQL", topic="concat(topic, if(value = 'line-1', '!', ''))")
        with pytest.raises((ConfigError, DataError), match="!"):
            run_here(config)


class TestTimestamps:
    def test_that_kafka_refuses_are_errors_of_the_data(
        self, strings: Callable[..., dict[str, str]], run_here: Run
    ) -> None:
        with pytest.raises(DataError, match=r"message\.timestamp\.after\.max\.ms"):
            run_here(strings("airflow_kconnect.transforms.SQL", timestamp="9223372036854775807L"))

    def test_minus_one_is_none(self, strings: Callable[..., dict[str, str]], run_here: Run, bootstrap: str) -> None:
        config = strings("airflow_kconnect.transforms.SQL", timestamp="-1L")
        run_here(config)
        assert all(record.timestamp > 1_700_000_000_000 for record in read_all(bootstrap, config["topic"]))

    def test_before_1970_is_an_error(self, strings: Callable[..., dict[str, str]], run_here: Run) -> None:
        with pytest.raises(DataError, match=r"position \d+: Invalid record timestamp -5"):
            run_here(strings("airflow_kconnect.transforms.SQL", timestamp="-5L"))


@pytest.mark.timeout(120)
@pytest.mark.exhaustive
def test_more_dead_letters_than_the_client_queues(
    topic: Callable[..., str], bootstrap: str, run_here: Run, tmp_path: Path
) -> None:
    source, count = topic(), 120_000
    produce(bootstrap, source, ["no JSON"] * count)
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "topics": source,
        "directory": str(tmp_path),
        "errors.deadletterqueue.topic.name": unique("dead"),
        **JSON,
        **TOLERANT,
    }
    assert run_here(config).records["dead_lettered"] == count


class TestSizes:
    """What the broker refuses: `test_refused_records.py`."""

    LINE = random.Random(7).randbytes(700_000).hex()

    @pytest.fixture
    def large(self, numbered: NumberedFile) -> None:
        """A line of 1.4 MB in the file."""
        numbered.path.write_text(f"{self.LINE}\n")

    @pytest.mark.usefixtures("large")
    def test_what_the_client_refuses_names_the_record(self, file_source: Source, run_here: Run) -> None:
        with pytest.raises(DataError, match=r"position \d+.* too large"):
            run_here(file_source())

    @pytest.mark.usefixtures("large")
    def test_with_both_limits_raised_it_arrives(
        self, file_source: Source, topic: Callable[..., str], run_here: Run, bootstrap: str
    ) -> None:
        own = topic(config={"max.message.bytes": "3000000"})
        run_here(file_source(topic=own, **{"producer.override.max.request.size": "3000000"}))
        assert read_values(bootstrap, own) == [self.LINE.encode()]
