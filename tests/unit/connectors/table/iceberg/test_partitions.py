"""The syntax of partitions."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.iceberg.definition import partitions
from airflow_kconnect.connectors.table.formats.iceberg.partitions import Transform, transform_of


@pytest.mark.parametrize(
    "text, transform",
    [
        ("region", Transform("identity", "region")),
        ("identity(region)", Transform("identity", "region")),
        ("customer.region", Transform("identity", "customer.region")),
        ("day(ts)", Transform("day", "ts")),
        ("days(ts)", Transform("day", "ts")),
        ("HOURS( ts )", Transform("hour", "ts")),
        ("month(ts)", Transform("month", "ts")),
        ("years(ts)", Transform("year", "ts")),
        ("bucket(id, 16)", Transform("bucket", "id", 16)),
        ("bucket(16, id)", Transform("bucket", "id", 16)),
        ("truncate(s,4)", Transform("truncate", "s", 4)),
        ("days(`order time`)", Transform("day", "order time")),
    ],
)
def test_transforms_of_icebergs_connector_and_of_spark_are_understood(text: str, transform: Transform) -> None:
    assert transform_of(text) == transform


@pytest.mark.parametrize(
    "text, problem",
    [
        ("week(ts)", "week is not a transform"),
        ("bucket(id)", "takes a column and a number"),
        ("bucket(16, 4)", "takes a column and a number"),
        ("truncate(s, 0)", "takes a column and a number"),
        ("day(a, b)", "has 2 arguments"),
        ("day()", "a column is missing"),
        ("", "a column is missing"),
    ],
)
def test_what_is_no_transform_is_named(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("(", r"\(")):
        transform_of(text)


def test_all_wrong_partitions_are_named_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        partitions(["day(ts)", "week(ts)", "bucket(id)"])
    assert len(error.value.errors["table.partition.by"]) == 2
