"""The same answers whatever the partitioning: cases of Kafka Connect's, spread over more and fewer Spark tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from airflow_kconnect.runtime import preview
from tests.integration.transforms.test_transforms_golden import LINES, Line, as_in_kafka, config_of, name_of

REPEATS = 5
ALWAYS = 3
CLASSES = (
    *("Cast$Value", "Flatten$Value", "HeaderFrom$Value", "InsertField$Value", "TimestampConverter$Value"),
    *("ValueToKey", "RegexRouter", "Filter"),
)


def _one_per_class() -> list[Line]:
    """For each of these transformations the case with the most records, and one per predicate."""
    cases = [line for line in LINES if "expected" in line and line["type"].endswith(CLASSES)]
    found = {}
    for line in sorted(cases, key=lambda line: len(line["records"])):
        found[line["type"], line.get("predicate", {}).get("type")] = line
    return list(found.values())


class Spread:
    """A session whose rows lie in some number of partitions."""

    def __init__(self, session: SparkSession, partitions: int) -> None:
        self._session, self._partitions = session, partitions

    def createDataFrame(self, rows: Sequence[Any], schema: str) -> DataFrame:
        return self._session.createDataFrame(rows, schema).repartition(self._partitions)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=name_of(line), marks=() if n < ALWAYS else pytest.mark.exhaustive)
        for n, line in enumerate(_one_per_class())
    ],
)
@pytest.mark.exhaustive
def test_answers_do_not_depend_on_partitions(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [as_in_kafka(record) for record in line["records"]] * REPEATS
    session = preview._session()
    answers = []
    for partitions in (1, 5):
        spread = Spread(session, partitions)
        monkeypatch.setattr(preview, "_session", lambda spread=spread: spread)
        answers.append(preview.preview(config_of(line), records))
    assert len(answers[0]) == len(records)
    assert answers[1] == answers[0]
