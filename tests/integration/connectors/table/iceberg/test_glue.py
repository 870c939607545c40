"""Tables in Glue, with their files in a store: whatever happens to a change of a table, it takes each plan once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError
from tests.integration.connectors.table.iceberg.conftest import MakeTable, files_in, keys_of
from tests.support.catalogs.glue import GlueServer
from tests.support.s3 import S3Server
from tests.support.spark.iceberg import append, as_other, check, found, merge, plan, rows, twin, use

pytestmark = pytest.mark.exhaustive  # Amazon's classes have 69 MB


@pytest.fixture
def glue(spark: SparkSession, amazon: None) -> Iterator[GlueServer]:
    """The client takes its key from Java's properties, as it would from the environment or a role."""
    server = GlueServer()
    server.start()
    assert spark._jvm is not None
    java = spark._jvm.java.lang.System
    keys = {"aws.accessKeyId": server.key, "aws.secretAccessKey": "secret"}
    for name, text in keys.items():
        java.setProperty(name, text)
    yield server
    for name in keys:
        java.clearProperty(name)
    server.stop()


@pytest.fixture
def catalog(spark: SparkSession, glue: GlueServer, store: S3Server) -> str:
    conf = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "glue",
        "warehouse": f"s3://{store.create_bucket()}/warehouse",
        "glue.endpoint": glue.url,
        "glue.skip-name-validation": "true",
        **files_in(store),
        **keys_of(store),
    }
    return use(spark, conf)


def test_a_table_does_all_that_a_connector_needs(catalog: str, make_table: MakeTable) -> None:
    check(make_table(catalog=catalog, keys=("id",)))


def test_a_change_that_arrives_after_another_one_is_refused_and_repeated(
    catalog: str, make_table: MakeTable, glue: GlueServer
) -> None:
    table = make_table(catalog=catalog, keys=("id",))
    append(table, 1, (1, "a"))

    def once() -> None:
        glue.before_update = lambda: None
        as_other(table, "INSERT INTO {t} VALUES (9, 'z')")

    glue.before_update = once
    merge(table, 2, (1, "b", False), (2, "c", False))
    assert found(table) == [(1, "b"), (2, "c"), (9, "z")]


def test_of_two_runs_that_publish_a_plan_at_once_one_does(
    catalog: str, make_table: MakeTable, glue: GlueServer
) -> None:
    table = make_table(catalog=catalog)
    late = twin(table)
    for each in (table, late):
        each.append(plan(1), rows(each, [(1, "a")]))

    def other() -> None:
        glue.before_update = lambda: None
        late.publish(plan(1))

    glue.before_update = other
    table.publish(plan(1))
    assert found(table) == [(1, "a")]


def test_a_change_whose_answer_was_lost_is_found(catalog: str, make_table: MakeTable, glue: GlueServer) -> None:
    table = make_table(catalog=catalog)
    table.append(plan(1), rows(table, [(1, "a")]))
    glue.loses_answers = True
    assert table.publish(plan(1))["records"] == 1
    glue.loses_answers = False
    assert found(table) == [(1, "a")]


def test_a_key_that_is_refused_is_an_error_of_the_configuration(
    catalog: str, make_table: MakeTable, glue: GlueServer
) -> None:
    table = make_table(catalog=catalog)
    key, glue.key = glue.key, "another"
    with pytest.raises(ConfigError, match="access is refused"):
        append(table, 1, (1, "a"))
    glue.key = key


def test_a_name_that_glue_does_not_have_is_an_error_of_the_configuration(
    glue: GlueServer, store: S3Server, make_table: MakeTable, spark: SparkSession
) -> None:
    conf = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "glue",
        "warehouse": "s3://any/where",
        "glue.endpoint": glue.url,
        **files_in(store),
    }
    with pytest.raises(ConfigError, match="cannot be created: Invalid table identifier"):
        make_table(catalog=use(spark, conf))  # its name has a dash
