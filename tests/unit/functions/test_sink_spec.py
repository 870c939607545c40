"""What the first parameter of a sink function gets, by its annotation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.functions.sink import sink


def decorated(annotation: str, before: str = "", more: str = "") -> Any:
    """The class of a function whose first parameter has this annotation, in a module of its own."""
    text = f"from __future__ import annotations\n{before}\ndef write(rows: {annotation}{more}) -> None: ..."
    module: dict[str, Any] = {"__name__": "own"}
    exec(text, module)  # noqa: S102 - a module of the test
    function: Callable[..., None] = module["write"]
    return sink(function).plugin_class


@pytest.mark.parametrize(
    ("annotation", "before", "takes"),
    [
        ("DataFrame", "", "frame"),
        ("DataFrame", "from pyspark.sql import DataFrame", "frame"),
        ("sql.DataFrame", "from pyspark import sql", "frame"),
        ("pa.Table", "import pyarrow as pa", "table"),
        ("list[SinkRecord]", "from airflow_kconnect.sdk import SinkRecord", "records"),
        ("list[dict]", "", "dicts"),
    ],
    ids=[
        "for type checkers only",
        "of Spark",
        "by its module",
        "a table",
        "records",
        "dicts",
    ],
)
def test_the_annotation_says_what_it_gets(annotation: str, before: str, takes: str) -> None:
    assert decorated(annotation, before).spec.takes == takes


def test_a_frame_of_another_library_is_refused_and_the_cure_is_named() -> None:
    with pytest.raises(TypeError, match=r"write: `rows` is a DataFrame of pandas; take a pyarrow\.Table") as caught:
        decorated("pd.DataFrame", "import pandas as pd")
    assert "to_pandas()" in str(caught.value)


def test_a_function_of_a_frame_is_a_sink_that_plans() -> None:
    assert (
        issubclass(decorated("DataFrame"), PlannedSinkConnector),
        issubclass(decorated("list[dict]"), PlannedSinkConnector),
    ) == (True, False)


def keys(annotation: str) -> ConfigDef:
    found: ConfigDef = decorated(annotation, more=", batch_id: str, folder: str").config()
    return found


@pytest.mark.parametrize(("annotation", "is_key"), [("DataFrame", False), ("list[dict]", True)])
def test_the_identity_of_a_batch_is_given_with_frames_and_a_key_elsewhere(annotation: str, is_key: bool) -> None:
    assert ("batch_id" in keys(annotation).keys, "folder" in keys(annotation).keys) == (is_key, True)


@pytest.mark.parametrize(("annotation", "size"), [("DataFrame", 1_000_000), ("list[dict]", 500)])
def test_batches_of_frames_are_larger(annotation: str, size: int) -> None:
    assert keys(annotation).keys["batch.size"].default == size


def test_a_function_that_knows_batches_by_their_identity_refuses_replays() -> None:
    function = decorated("DataFrame", more=", batch_id: str")
    assert "those of a replay are others" in function.replay_problem({})
