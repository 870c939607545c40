"""Records keep their order in chains with predicates: 8 000 of them, of several shapes, into and out of Kafka."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from airflow_kconnect.runtime.sink import plan as sink_plan
from tests.integration.runtime.conftest import STRING, NumberedFile, Run, Source
from tests.integration.runtime.test_directory_pipeline import JSON, SCHEMALESS
from tests.support import unique
from tests.support.kafka import read_all

RECORDS, PARTITIONS, KEYS = 8_000, 3, 50
TEXT, INT32, INT64 = ({"type": type_, "optional": False} for type_ in ("string", "int32", "int64"))

Line = dict[str, Any]
Expected = dict[tuple[str, int], list[Line]]
Encode = Callable[[int, Line], str]


def _schema(**fields: Mapping[str, Any]) -> Mapping[str, Any]:
    members = [{**schema, "field": name} for name, schema in fields.items()]
    return {"type": "struct", "optional": False, "fields": members}


SCHEMAS = (_schema(k=TEXT, n=INT32), _schema(k=TEXT, n=INT64, more=TEXT))


def _envelope(shape: int, value: Line) -> str:
    return json.dumps({"schema": SCHEMAS[shape], "payload": value})


def _plain(shape: int, value: Line) -> str:
    return json.dumps(value)


SINK_CHAIN = {
    "transforms": "hoist,mark,rename,place",
    # What a tombstone is changed to shows where it was.
    "transforms.hoist.type": "HoistField$Value",
    "transforms.hoist.field": "nothing",
    "transforms.hoist.predicate": "tombstone",
    "transforms.mark.type": "InsertField$Value",
    "transforms.mark.static.field": "plain",
    "transforms.mark.static.value": "yes",
    "transforms.mark.predicate": "special",
    "transforms.mark.negate": "true",
    "transforms.rename.type": "ReplaceField$Value",
    "transforms.rename.renames": "n:number",
    "transforms.rename.predicate": "left",
    "transforms.place.type": "InsertField$Value",
    "transforms.place.offset.field": "offset",
    "predicates": "tombstone,special,left",
    "predicates.tombstone.type": "RecordIsTombstone",
    "predicates.special.type": "HasHeaderKey",
    "predicates.special.name": "special",
    "predicates.left.type": "TopicNameMatches",
    "predicates.left.pattern": "left-.*",
}


def _fill(bootstrap: str, topics: list[str], encode: Encode) -> Expected:
    """Write records of two shapes and tombstones; returns what the sink has to write, per topic and partition."""
    chance = random.Random(7)
    settings = {"enable.idempotence": True, "linger.ms": 50, "queue.buffering.max.messages": RECORDS}  # keeps the order
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    expected: Expected = defaultdict(list)
    for number in range(RECORDS):
        topic, key, shape = chance.choice(topics), chance.randrange(KEYS), chance.randrange(3)
        special, place = chance.random() < 0.3, (topic, key % PARTITIONS)
        value = {"k": f"key-{key}", "n": number} | ({"more": "x"} if shape == 1 else {})
        producer.produce(
            topic,
            None if shape == 2 else encode(shape, value),
            f"key-{key}",
            place[1],
            headers=[("special", b"1")] if special else [],
        )
        producer.poll(0)
        expected[place].append(_changed(None if shape == 2 else value, topic, special, len(expected[place])))
    assert producer.flush(60) == 0
    return expected


def _changed(value: Line | None, topic: str, special: bool, offset: int) -> Line:
    """A record behind `SINK_CHAIN`."""
    line = {"nothing": None} if value is None else dict(value)
    if "n" in line and topic.startswith("left-"):
        line["number"] = line.pop("n")
    return line | ({} if special else {"plain": "yes"}) | {"offset": offset}


def _written(directory: Path, topic: str, partition: int) -> list[Line]:
    """The lines of a partition; its files say in their names where they begin."""
    files = sorted(Path(directory, topic, f"partition={partition}").glob("*.json"))
    assert len(files) > 1
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.parametrize(
    ("converter", "encode"),
    [
        pytest.param(JSON, _envelope, id="two schemas"),
        pytest.param(SCHEMALESS, _plain, id="schemaless", marks=pytest.mark.exhaustive),
    ],
)
def test_a_sink_writes_each_partition_in_its_order(
    topic: Callable[..., str],
    bootstrap: str,
    run_here: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    converter: dict[str, str],
    encode: Encode,
) -> None:
    monkeypatch.setattr(sink_plan, "SMALLEST", 560)
    topics = [topic(PARTITIONS, prefix="left"), topic(PARTITIONS, prefix="right")]
    expected = _fill(bootstrap, topics, encode)
    config = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path / "out")}
    report = run_here(
        {**config, "key.converter": STRING, "topics": ",".join(topics), "flush.size": "240", **converter, **SINK_CHAIN}
    )
    assert report.records == {"read": RECORDS, "written": RECORDS, "filtered": 0, "dead_lettered": 0}
    assert report.splits > len(expected)
    for (name, partition), lines in expected.items():
        assert _written(tmp_path / "out", name, partition) == lines


SOURCE_CHAIN = {
    "transforms": "parse,header,drop,mark",
    "transforms.parse.type": "airflow_kconnect.transforms.SQL",
    "transforms.parse.key": "split_part(value, ' ', 1)",
    "transforms.parse.value": "split_part(value, ' ', 2)::int AS n",
    "transforms.header.type": "InsertHeader",
    "transforms.header.header": "third",
    "transforms.header.value.literal": "1",
    "transforms.header.predicate": "third",
    "transforms.drop.type": "Filter",
    "transforms.drop.predicate": "tenth",
    "transforms.mark.type": "InsertField$Value",
    "transforms.mark.static.field": "marked",
    "transforms.mark.static.value": "yes",
    "transforms.mark.predicate": "has-header",
    "transforms.mark.negate": "true",
    "predicates": "third,tenth,has-header",
    "predicates.third.type": "airflow_kconnect.transforms.predicates.SQL",
    "predicates.third.condition": "value.n % 3 = 0",
    "predicates.tenth.type": "airflow_kconnect.transforms.predicates.SQL",
    "predicates.tenth.condition": "value.n % 10 = 0",
    "predicates.has-header.type": "HasHeaderKey",
    "predicates.has-header.name": "third",
}


@pytest.mark.exhaustive
def test_a_source_writes_each_key_in_its_order(
    topic: Callable[..., str], bootstrap: str, run_here: Run, numbered: NumberedFile, file_source: Source
) -> None:
    keys = [f"key-{random.Random(n).randrange(KEYS)}" for n in range(RECORDS)]
    numbered.path.write_text("".join(f"{key} {n}\n" for n, key in enumerate(keys)))
    name = topic(PARTITIONS)
    config = file_source(topic=name, **{"kconnect.splits.max": "1", "key.converter": "StringConverter"})
    report = run_here({**config, **SCHEMALESS, **SOURCE_CHAIN})
    dropped = RECORDS // 10
    assert (report.records["written"], report.records["filtered"]) == (RECORDS - dropped, dropped)
    expected, found = defaultdict(list), defaultdict(list)
    for n, key in enumerate(keys):
        if n % 10:
            expected[key].append({"n": n} if n % 3 == 0 else {"n": n, "marked": "yes"})
    for record in read_all(bootstrap, name):
        found[(record.key or b"").decode()].append(json.loads(record.value or b""))
    assert found == expected
