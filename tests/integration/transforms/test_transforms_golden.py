"""Transformations and predicates against the answers of Kafka Connect itself, with what previews consist of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.runtime.preview import Plan, preview
from tests.golden.deviations import TRANSFORMS as DEVIATIONS

Line = dict[str, Any]

Read = Callable[[Line], RecordFrame]

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONVERTERS = {f"{role}.converter": JSON for role in ("key", "value", "header")}
GOLDEN = Path(__file__).parents[2] / "golden" / "smt.jsonl"
LINES: list[Line] = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def name_of(line: Line) -> str:
    return f"{line['type'].rpartition('.')[2]}: {line['case']}"


def config_of(line: Line) -> dict[str, str]:
    config = CONVERTERS | {"transforms": "it", "transforms.it.type": line["type"]}
    config |= {f"transforms.it.{key}": value for key, value in line["config"].items()}
    if predicate := line.get("predicate"):
        negate = str(predicate.get("negate", False)).lower()
        config |= {"predicates": "where", "predicates.where.type": predicate["type"]}
        config |= {"transforms.it.predicate": "where", "transforms.it.negate": negate}
        config |= {f"predicates.where.{key}": value for key, value in predicate["config"].items()}
    return config


def as_in_kafka(record: Line) -> Line:
    headers = [{"key": header["key"], "value": json.dumps(header["value"])} for header in record["headers"]]
    return record | {"headers": headers} | {part: _text(record[part]) for part in ("key", "value")}


def _text(envelope: Any) -> str | None:
    return None if envelope is None else json.dumps(envelope, ensure_ascii=False)


def _parsed(answer: Line) -> Line:
    """The answer as the golden file has it; errors by their class alone."""
    if "error" in answer:
        return {"error": answer["error"]["class"]}
    if "dropped" in answer:
        return answer
    parts = {part: None if answer[part] is None else json.loads(answer[part]) for part in ("key", "value")}
    headers = [{"key": h["key"], "value": json.loads(h["value"] or "null")} for h in answer["headers"]]
    return answer | parts | {"headers": headers}


def _expected(answer: Line) -> Line:
    return {"error": answer["error"].partition(":")[0]} if "error" in answer else answer


CONVERTED = [line for line in LINES if "expected" in line]
# Predicates are tried here, and so is what has no test of its own next to this one.
ONLY_HERE = ("Filter", "HoistField$Value")


def _is_further(line: Line) -> bool:
    """Whether other tests show the same: of a key, which is the same code as for the value; or after the first case of
    a transformation.
    """
    first = next(other for other in CONVERTED if other["type"] == line["type"])
    return line["type"].endswith("$Key") or (line is not first and not line["type"].endswith(ONLY_HERE))


CASES = [pytest.param(line, id=name_of(line), marks=[pytest.mark.exhaustive] * _is_further(line)) for line in CONVERTED]


def _schemas(line: Line) -> str:
    parts = [[record[part] and record[part]["schema"] for record in line["records"]] for part in ("key", "value")]
    return json.dumps([sorted({json.dumps(schema) for schema in part}) for part in parts])


@pytest.fixture(scope="module")
def read(spark: SparkSession) -> Read:
    """The records of a case as the converters read them. Those of all cases with the same schemas are read at once:
    that takes as long as those of one.
    """
    frames: dict[str, tuple[list[Line], RecordFrame]] = {}

    def of_case(line: Line) -> RecordFrame:
        schemas = _schemas(line)
        if schemas not in frames:
            lines = [other for other in CONVERTED if _schemas(other) == schemas]
            (batch,) = Plan(CONVERTERS).batches([as_in_kafka(record) for other in lines for record in other["records"]])
            frame = Plan(CONVERTERS).read(batch)
            frames[schemas] = lines, frame.with_df(frame.df.localCheckpoint())
        lines, frame = frames[schemas]
        first = sum(len(other["records"]) for other in lines[: lines.index(line)])
        own = frame.df["n"].between(first, first + len(line["records"]) - 1)
        return frame.with_df(frame.df.where(own))

    return of_case


@pytest.mark.parametrize("line", CASES)
def test_records(read: Read, line: Line) -> None:
    plan = Plan(config_of(line))
    answers = plan.written(plan.chain.apply(read(line), plan.scope()))
    expected = [_expected(answer) for answer in line["expected"]]
    wrong = {
        n: (got, want) for n, (got, want) in enumerate(zip(map(_parsed, answers), expected, strict=True)) if got != want
    }
    assert set(wrong) == set(DEVIATIONS.get(name_of(line), {}).keys()), wrong


@pytest.mark.parametrize("line", [pytest.param(line, id=name_of(line)) for line in LINES if "config_error" in line])
def test_configuration_errors(line: Line) -> None:
    with pytest.raises(ConfigError) as caught:
        preview(config_of(line), [])
    assert all(key.startswith(("transforms.it", "predicates.where")) for key in caught.value.errors)


def test_deviations_are_few() -> None:
    records = sum(len(line["records"]) for line in LINES)
    assert sum(len(found) for found in DEVIATIONS.values()) <= records * 0.03
