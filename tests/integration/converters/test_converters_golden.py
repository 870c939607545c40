"""Converters against the answers of Kafka Connect itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.base import Converter, Role, new_converter
from airflow_kconnect.converters.header_codecs import header_codec
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.worker_config.keys import SIMPLE_HEADER_CONVERTER
from tests.golden.deviations import CONVERTERS as DEVIATIONS

Line = dict[str, Any]

# A plan with a column for each of fifty shapes takes a minute to compile; topics have a few.
SHAPES_MAX = 8
GOLDEN = Path(__file__).parents[2] / "golden" / "converters.jsonl"


def _writer(line: Line) -> Line:
    writer: Line = line.get("to", line)
    return writer


def _configuration(line: Line) -> str:
    writer = _writer(line)
    return json.dumps([line["converter"], line["config"], writer["converter"], writer["config"]])


def _batches(lines: list[Line]) -> Iterator[list[Line]]:
    """Those of a configuration, as many at once as a plan has columns for."""
    for _, group in groupby(sorted(lines, key=_configuration), key=_configuration):
        batch: list[Line] = []
        shapes: set[Any] = set()
        for own, line in sorted(((_shapes(line), line) for line in group), key=lambda pair: str(pair[0])):
            if len(shapes.union(own)) > SHAPES_MAX:
                yield batch
                batch, shapes = [], set()
            batch.append(line)
            shapes.update(own)
        yield batch


def _shapes(line: Line) -> tuple[Any, ...]:
    return tuple(_converter(line).shapes_of([_message(line)]))


def _message(line: Line) -> bytes | None:
    return None if line["input"] is None else line["input"].encode()


def _converter(line: Line, role: Role = "value") -> Converter:
    props = {f"{role}.converter.{key}": value for key, value in line["config"].items()}
    return new_converter(line["converter"], props, {}, role=role)


def _parsed(line: Line, output: str | None) -> Any:
    return json.loads(output) if output is not None and "Json" in _writer(line)["converter"] else output


LINES: list[Line] = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def answers(through: Any) -> dict[str, Any]:
    """The answer to each case."""
    found: dict[str, Any] = {}
    for batch in _batches(LINES):
        results = through(_converter(batch[0]), _converter(_writer(batch[0])), [*map(_message, batch)])
        found |= {json.dumps(line): answer for line, answer in zip(batch, results, strict=True)}
    return found


def test_there_are_cases_for_all_converters_of_kafka_itself() -> None:
    """But for headers: see test_values."""
    known = {name for name in registry().names("airflow_kconnect.converters") if name.startswith("org.apache.kafka.")}
    assert {line["converter"] for line in LINES} == known - {SIMPLE_HEADER_CONVERTER}


EACH = pytest.mark.parametrize("line", [pytest.param(line, id=f"{n} {line['case']}") for n, line in enumerate(LINES)])


@EACH
def test_columns_have_the_answers_of_kafka_connect(line: Line, answers: dict[str, Any]) -> None:
    answer = answers[json.dumps(line)]
    assert (answer.error is not None) == ("error" in line)
    assert _is_as_recorded(line, answer.output)


@EACH
def test_single_headers_have_the_answers_of_kafka_connect(line: Line) -> None:
    reader, writer = (header_codec(_converter(of, "header")) for of in (line, _writer(line)))
    with pytest.raises(DataError) if "error" in line else nullcontext():
        assert _is_as_recorded(line, writer.encode(*reader.decode(_message(line))))


def _is_as_recorded(line: Line, written: bytes | None) -> bool:
    output = None if written is None else written.decode()
    return "error" in line or (_parsed(line, output) == _parsed(line, line["output"])) != (line["case"] in DEVIATIONS)
