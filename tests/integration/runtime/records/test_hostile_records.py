"""Whatever is in a record, it is moved or becomes a dead letter: no bytes end a preview or a tolerant sink."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from airflow_kconnect import preview
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.runtime.conversion import decoding
from airflow_kconnect.runtime.sink import jobs as sink_jobs
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.databases.servers import SqliteDatabase
from tests.support.hostile import enveloped, messages, names, nested
from tests.support.kafka import create_topic, produce, read_all
from tests.support.raw_headers import produce_with_header

JSON = "org.apache.kafka.connect.json.JsonConverter"
GOOD = enveloped({"type": "int32"}, 1)
_FEW = settings(
    max_examples=2,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_MANY = settings(_FEW, max_examples=60, derandomize=False, print_blob=True)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


batches = st.lists(messages, min_size=15, max_size=25)
header = st.fixed_dictionaries(
    {
        "key": names.map(lambda name: name.encode(errors="replace").decode()),
        "value": messages.map(_text),
    }
)
headers = st.lists(header, max_size=3)
chains = st.sampled_from(
    [
        {},
        {"transforms": "t", "transforms.t.type": "Flatten$Value"},
        {"transforms": "t", "transforms.t.type": "ValueToKey", "transforms.t.fields": "a"},
        {"transforms": "t", "transforms.t.type": "Cast$Value", "transforms.t.spec": "a:int32"},
        {"transforms": "t", "transforms.t.type": "HeaderFrom$Value", "transforms.t.fields": "a",
         "transforms.t.headers": "h", "transforms.t.operation": "move"},
        {"transforms": "t", "transforms.t.type": "ReplaceField$Value", "transforms.t.renames": "a:b"},
        {"transforms": "t", "transforms.t.type": "MaskField$Value", "transforms.t.fields": "a"},
        {"transforms": "t", "transforms.t.type": "TimestampConverter$Value", "transforms.t.field": "a",
         "transforms.t.target.type": "Timestamp"},
        {"transforms": "t", "transforms.t.type": "InsertField$Value", "transforms.t.static.field": "a",
         "transforms.t.static.value": "v"},
        {"transforms": "t", "transforms.t.type": "ExtractField$Value", "transforms.t.field": "a"},
        {"transforms": "t", "transforms.t.type": "HoistField$Value", "transforms.t.field": "a"},
    ]
)  # fmt: skip
converters = st.sampled_from(
    [
        {"header.converter": JSON},
        {"preview.output.value.converter": "StringConverter"},
        {"value.converter.schemas.enable": "false"},
        {"preview.output.header.converter": JSON},
    ]
)


def _is_answered(batch: list[bytes], sent: list[dict[str, Any]], config: dict[str, str]) -> None:
    records = [{"value": _text(message), "headers": own} for message, own in zip(batch, sent, strict=False)]
    answers = preview({"value.converter": JSON, **config}, records)
    assert len(answers) == len(records)
    assert all({"value", "dropped", "error"} & set(answer) for answer in answers)


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@_MANY
@given(batch=batches, sent=st.lists(headers, min_size=25, max_size=25), chain=chains, converter=converters)
def test_many_previews_answer_each_record(
    spark: SparkSession, batch: list[bytes], sent: Any, chain: dict[str, str], converter: dict[str, str]
) -> None:
    _is_answered(batch, sent, chain | converter)


def _is_moved(bootstrap: str, run_here: Run, folder: Path, batch: list[bytes], config: dict[str, str]) -> None:
    topic = create_topic(bootstrap, unique("hostile"))
    produce(bootstrap, topic, [GOOD, *batch, GOOD])
    counts = _counts(bootstrap, run_here, folder, topic, config)
    assert counts["read"] == len(batch) + 2


def _counts(bootstrap: str, run_here: Run, folder: Path, topic: str, config: dict[str, str]) -> dict[str, int]:
    dead = unique("dead")
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    own = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(folder / unique("out"))}
    counts = run_here({**own, "topics": topic, "value.converter": JSON, **tolerant, **config}).records
    assert counts["written"] + counts["filtered"] + counts["dead_lettered"] == counts["read"]
    assert len(read_all(bootstrap, dead)) == counts["dead_lettered"]
    return counts


@pytest.mark.timeout(120)
@pytest.mark.parametrize("class_name", ["DirectorySink", "VerifiableSink"])
def test_a_header_whose_name_is_not_text(bootstrap: str, run_here: Run, tmp_path: Path, class_name: str) -> None:
    topic = create_topic(bootstrap, unique("hostile"))
    before = 200  # as many as it takes until Python has specialised what reads the headers
    produce(bootstrap, topic, [GOOD] * before)
    produce_with_header(bootstrap, topic, GOOD, b"\xff\xfe")
    produce(bootstrap, topic, [GOOD])
    counts = _counts(bootstrap, run_here, tmp_path, topic, {"connector.class": class_name})
    assert (counts["written"], counts["dead_lettered"]) == (before + 1, 1)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("target", ["parquet", "sqlite"])
@_FEW
@given(batch=batches)
@pytest.mark.exhaustive
def test_a_target_with_types_gets_or_refuses_each_record(
    bootstrap: str, run_here: Run, tmp_path: Path, target: str, batch: list[bytes]
) -> None:
    config = {"format": "parquet"}
    if target == "sqlite":
        table = {"connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector", "auto.create": "true"}
        config = table | {"auto.evolve": "true"} | SqliteDatabase.create(tmp_path).config
    with suppress(DataError):  # types that do not fit one column, for example: it names what to do
        _is_moved(bootstrap, run_here, tmp_path, batch, config)


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@settings(_MANY, max_examples=30)
@given(batch=batches, chain=chains)
def test_many_tolerant_sinks_move_each_record(
    bootstrap: str, run_here: Run, tmp_path: Path, batch: list[bytes], chain: dict[str, str]
) -> None:
    _is_moved(bootstrap, run_here, tmp_path, batch, chain)


@pytest.mark.exhaustive
@pytest.mark.timeout(120)
def test_what_a_plan_can_just_hold(bootstrap: str, run_here: Run, tmp_path: Path) -> None:
    kinds = [enveloped(nested(15, kind), None) for kind in ("array", "map", "struct")]
    _is_moved(bootstrap, run_here, tmp_path, kinds, {})


@pytest.mark.timeout(120)
def test_more_schemas_than_a_plan_has_room_for(
    bootstrap: str, run_here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_SHAPES_MAX", 4)
    monkeypatch.setattr(sink_jobs, "_LEARNT_MAX", 2)
    names = [f"f{n}" for n in (*range(6), *range(6))]
    batch = [enveloped({"type": "struct", "fields": [{"type": "int8", "field": name}]}, {name: 1}) for name in names]
    _is_moved(bootstrap, run_here, tmp_path, batch, {})
