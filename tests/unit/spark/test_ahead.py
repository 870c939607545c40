"""Which schema a DataFrame has: declared, or found in the first records of the source."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.spark.ahead import Schemas, schemas_of
from airflow_kconnect.spark.opened import opened
from airflow_kconnect.spark.plugins import GivenClass, Registered
from tests.support.connectors import read_by_spark
from tests.support.connectors.read_by_spark import POINT


def found(name: str, /, **options: Any) -> Schemas:
    plugin = getattr(read_by_spark, name)
    given = Registered({name: GivenClass(name, getattr(plugin, "plugin_class", plugin))})
    texts = {key.replace("_", "."): str(text) for key, text in options.items()}
    return schemas_of(opened({"connector.class": name, **texts}, given))


def fields(schema: ConnectSchema | None) -> list[str]:
    assert schema is not None
    return [field.name for field in schema.fields]


def problem(name: str, /, **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        found(name, **options)
    return str(caught.value)


def test_a_declared_schema_needs_no_records() -> None:
    assert found("OneShape", prefix="p.", readahead=1) == Schemas((), POINT, None)


def test_a_schema_is_found_in_records() -> None:
    assert fields(found("orders").value) == ["id", "at", "items", "by"]


def test_it_is_found_in_the_records_of_all_tasks() -> None:
    assert len(found("sales", shops="a,b", tasks_max=2).known) == 1


def test_later_fields_are_found_if_enough_records_are_read() -> None:
    assert fields(found("growing").value) == ["n", "text"]


def test_where_a_read_begins_does_not_change_the_schema() -> None:
    offsets = '[{"partition": {"source": "orders"}, "offset": {"id": 4}}]'
    assert found("orders", startingoffsets=offsets) == found("orders")


def test_a_source_without_schemas_has_none() -> None:
    assert found("anything").value is None


def test_a_source_without_records_has_no_schema_to_find() -> None:
    assert "no records yet" in problem("nothing")


def test_several_schemas_are_refused_with_their_topics() -> None:
    text = problem("SeveralShapes", prefix="p.")
    assert "topic p.points: a Point (x)" in text
    assert "topic p.notes: a Note (text)" in text


def test_a_topic_has_its_own_schema() -> None:
    assert found("SeveralShapes", prefix="p.", subscribe="p.points").value == POINT


def test_a_topic_that_is_not_seen_is_an_error() -> None:
    assert "its first records show none of those topics" in problem("SeveralShapes", prefix="p.", subscribe="other")


def test_a_transaction_is_not_read_to_its_end_for_a_schema() -> None:
    assert found("OneTransaction", prefix="p.", readahead=10).value == POINT


def test_keys_have_a_schema_where_they_are_wanted() -> None:
    key = found("orders", includemetadata="true").key
    assert (found("orders").key, key and key.type.value) == (None, "int64")


def test_a_topic_without_keys_needs_no_schema_of_keys() -> None:
    assert found("SeveralKeys", prefix="p.", subscribe="p.points", includemetadata="true").key is None
