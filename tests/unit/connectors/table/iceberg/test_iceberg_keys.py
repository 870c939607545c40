"""Iceberg's sink: its keys and defaults, and what they mean for a table sink."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.iceberg.sink import IcebergSinkConnector
from airflow_kconnect.connectors.table.settings import APPEND, UPSERT, TableSettings
from airflow_kconnect.runs.warnings import Kind, kind_of
from airflow_kconnect.validation.connector import inspect_connector, validate_connector

CONFIG = {
    "name": "orders",
    "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
    "topics": "orders",
    "iceberg.tables": "shop.orders",
    "iceberg.catalog.type": "hadoop",
    "iceberg.catalog.warehouse": "file:///var/lib/warehouse",
}


def without(*keys: str, **more: str) -> dict[str, str]:
    return {**{key: text for key, text in CONFIG.items() if key not in keys}, **more}


def settings(config: dict[str, str] | None = None, /, **more: str) -> TableSettings:
    return IcebergSinkConnector.settings({**(config or CONFIG), **more})


def errors(config: dict[str, str] | None = None, /, **more: str) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as raised:
        validate_connector({**(config or CONFIG), **more})
    return raised.value.errors


def warnings(config: dict[str, str] | None = None, /, **more: str) -> list[str]:
    return validate_connector({**(config or CONFIG), **more}).warnings


class TestConfiguration:
    def test_the_defaults_are_icebergs(self) -> None:
        inspection = inspect_connector(CONFIG)
        values = inspection.parsed(inspection.own)
        expected = {
            "iceberg.tables": ["shop.orders"],
            "iceberg.tables.dynamic-enabled": False,
            "iceberg.tables.route-field": None,
            "iceberg.tables.default-commit-branch": None,
            "iceberg.tables.default-id-columns": None,
            "iceberg.tables.default-partition-by": None,
            "iceberg.tables.auto-create-enabled": False,
            "iceberg.tables.evolve-schema-enabled": False,
            "iceberg.tables.schema-force-optional": False,
            "iceberg.tables.schema-case-insensitive": False,
            "iceberg.catalog": "iceberg",
            "iceberg.control.topic": "control-iceberg",
            "iceberg.control.commit.interval-ms": 300_000,
            "iceberg.hadoop-conf-dir": None,
        }
        assert {key: values[key] for key in expected} == expected

    def test_the_simple_name_is_enough(self) -> None:
        assert inspect_connector(without("connector.class") | {"connector.class": "IcebergSink"}).errors == {}

    def test_a_plain_configuration_has_neither_errors_nor_warnings(self) -> None:
        assert warnings() == []


class TestSettings:
    def test_the_catalog_has_all_that_is_said_of_it(self) -> None:
        catalog = settings(**{"iceberg.catalog": "lake", "iceberg.hadoop.fs.s3a.endpoint": "http://s3"}).catalog
        assert catalog is not None
        assert catalog.name == "lake"
        assert catalog.conf == {
            "": "org.apache.iceberg.spark.SparkCatalog",
            "type": "hadoop",
            "warehouse": "file:///var/lib/warehouse",
            "hadoop.fs.s3a.endpoint": "http://s3",
        }

    def test_without_settings_the_catalog_is_sparks(self) -> None:
        catalog = settings(without("iceberg.catalog.type", "iceberg.catalog.warehouse")).catalog
        assert catalog is not None
        assert catalog.conf == {}

    def test_settings_of_a_catalog_are_not_in_its_repr(self) -> None:
        assert "hunter2" not in repr(settings(**{"iceberg.catalog.credential": "me:hunter2"}))

    def test_one_table_gets_all_records(self) -> None:
        routing = settings().routing
        assert (routing.name_format, routing.prefix, routing.value_field) == ("shop.orders", ("iceberg",), None)

    def test_each_of_several_tables_gets_all_records(self) -> None:
        routing = settings(**{"iceberg.tables": "shop.a, shop.b"}).routing
        assert (routing.value_field, routing.patterns) == (None, {"shop.a": "", "shop.b": ""})

    def test_records_find_their_tables_by_regular_expressions(self) -> None:
        more = {
            "iceberg.tables": "shop.list,shop.create",
            "iceberg.tables.route-field": "meta.type",
            "iceberg.table.shop.list.route-regex": "list",
            "iceberg.table.shop.create.route-regex": "creat.*",
        }
        routing = settings(**more).routing
        assert routing.value_field == "meta.type"
        assert routing.patterns == {"shop.list": "list", "shop.create": "creat.*"}

    def test_records_name_their_tables_in_any_case(self) -> None:
        more = {"iceberg.tables.dynamic-enabled": "true", "iceberg.tables.route-field": "target"}
        routing = settings(without("iceberg.tables"), **more).routing
        assert (routing.value_field, routing.lower_case, routing.patterns) == ("target", True, {})

    def test_a_table_may_have_a_partition_of_its_own(self) -> None:
        found = settings(
            **{
                "iceberg.tables.default-partition-by": "day(ts), bucket(id, 16)",
                "iceberg.table.shop.orders.partition-by": "truncate(name,4),hours(ts),kind",
            }
        )
        assert found.partition_of("shop.others") == ("days(ts)", "bucket(16, id)")
        assert found.partition_of("shop.orders") == ("truncate(4, name)", "hours(ts)", "kind")

    def test_rows_are_appended_whatever_identifies_them(self) -> None:
        found = settings(**{"iceberg.tables.default-id-columns": "id"})
        assert (found.mode, found.keys) == (APPEND, ())

    def test_upserts_are_asked_for(self) -> None:
        found = settings(
            **{
                "iceberg.tables.upsert-mode-enabled": "true",
                "iceberg.tables.default-id-columns": "id, region",
                "iceberg.table.shop.orders.id-columns": "number",
            }
        )
        assert found.mode == UPSERT
        assert found.keys_of("shop.others") == ("id", "region")
        assert found.keys_of("shop.orders") == ("number",)
        assert not found.deletes

    def test_a_field_says_which_rows_are_deleted(self) -> None:
        keys = {"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-id-columns": "id"}
        found = settings(**keys, **{"iceberg.tables.cdc-field": "_cdc.op"})
        assert (found.deletes, found.cdc_field) == (True, "_cdc.op")

    @pytest.mark.parametrize(
        ("evolves", "expected"),
        [
            ("true", {"add": "evolve", "widen": "evolve", "optional": "evolve"}),
            ("false", {"add": "ignore", "widen": "fail", "optional": "fail"}),
        ],
    )
    def test_fields_without_a_column_are_left_out_unless_tables_evolve(
        self, evolves: str, expected: dict[str, str]
    ) -> None:
        assert settings(**{"iceberg.tables.evolve-schema-enabled": evolves}).evolution == expected

    def test_properties_of_tables_and_of_writing_reach_spark(self) -> None:
        found = settings(
            **{
                "iceberg.tables.auto-create-props.format-version": "3",
                "iceberg.tables.write-props.write.format.default": "orc",
                "iceberg.tables.write-props.write.parquet.compression-codec": "zstd",
            }
        )
        assert found.properties == {"format-version": "3"}
        assert found.write_options == {"write-format": "orc", "compression-codec": "zstd"}


class TestErrors:
    def test_tables_are_named_by_the_configuration_or_by_records(self) -> None:
        assert "is missing" in errors(without("iceberg.tables"))["iceberg.tables"][0]
        both = errors(**{"iceberg.tables.dynamic-enabled": "true", "iceberg.tables.route-field": "t"})
        assert "and so is `iceberg.tables.dynamic-enabled`" in both["iceberg.tables"][0]
        none = errors(without("iceberg.tables"), **{"iceberg.tables.dynamic-enabled": "true"})
        assert list(none) == ["iceberg.tables.route-field"]

    @pytest.mark.parametrize("key", ["iceberg.tables.default-commit-branch", "iceberg.table.shop.orders.commit-branch"])
    def test_branches_are_for_the_java_class(self, key: str) -> None:
        [text] = errors(**{key: "audit"})[key]
        assert "is audit" in text
        assert "`kconnect.hosted=true`" in text

    def test_the_main_branch_is_none(self) -> None:
        assert warnings(**{"iceberg.tables.default-commit-branch": "main"}) == []

    def test_a_table_has_a_namespace(self) -> None:
        assert "has orders: write a namespace" in errors(**{"iceberg.tables": "orders"})["iceberg.tables"][0]

    def test_a_transform_that_does_not_exist_is_no_reason_to_leave_the_partition_out(self) -> None:
        key = "iceberg.tables.default-partition-by"
        assert "has week(ts), expected" in errors(**{key: "week(ts)"})[key][0]

    def test_deletions_need_columns(self) -> None:
        found = errors(**{"iceberg.tables.cdc-field": "_cdc.op"})
        assert "needs `iceberg.tables.upsert-mode-enabled`" in found["iceberg.tables.cdc-field"][0]

    def test_upserts_need_columns(self) -> None:
        found = errors(**{"iceberg.tables.upsert-mode-enabled": "true"})
        assert "for shop.orders" in found["iceberg.tables.upsert-mode-enabled"][0]

    def test_a_driver_of_a_catalog_loads_no_code(self) -> None:
        found = errors(
            **{
                "iceberg.catalog.type": "jdbc",
                "iceberg.catalog.uri": "jdbc:postgresql://db/catalog?socketFactory=Evil",
                "iceberg.catalog.jdbc.sslfactory": "Evil",
            }
        )
        assert set(found) == {"iceberg.catalog.uri", "iceberg.catalog.jdbc.sslfactory"}

    def test_a_type_of_catalog_is_known(self) -> None:
        assert "is hive2, expected one of" in errors(**{"iceberg.catalog.type": "hive2"})["iceberg.catalog.type"][0]
        both = errors(**{"iceberg.catalog.catalog-impl": "x.Y"})["iceberg.catalog.type"][0]
        assert "and so is `iceberg.catalog.catalog-impl`" in both


class TestWarnings:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("iceberg.control.topic", "control-orders"),
            ("iceberg.control.commit.interval-ms", "60000"),
            ("iceberg.coordinator.transactional.prefix", "x"),
            ("iceberg.connect.group-id", "other"),
            ("iceberg.kafka.bootstrap.servers", "kafka:9092"),
            ("iceberg.tables.write-props.write.metadata.metrics.default", "full"),
            ("iceberg.table.shop.other.partition-by", "day(ts)"),
            ("iceberg.tables.default-id-columns", "id"),
        ],
    )
    def test_what_has_no_effect_is_said(self, key: str, value: str) -> None:
        [text] = warnings(**{key: value})
        assert "no effect" in text
        assert kind_of(text) == Kind.CONFIGURATION

    def test_a_table_that_no_record_can_reach_is_named(self) -> None:
        [text] = warnings(**{"iceberg.tables.route-field": "type"})
        assert "table shop.orders gets no records" in text


class TestSparkNeeds:
    def test_it_is_the_formats_jar_and_nothing_else(self) -> None:
        needs = IcebergSinkConnector.spark_needs(CONFIG, "4.1.4")
        assert needs.coordinates == ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",)

    def test_a_store_in_a_cloud_needs_its_bundle(self) -> None:
        config = {**CONFIG, "iceberg.catalog.type": "rest", "iceberg.catalog.s3.endpoint": "http://s3"}
        assert any("iceberg-aws-bundle" in one for one in IcebergSinkConnector.spark_needs(config, "4.1.4").coordinates)

    def test_bundles_that_spark_has_are_not_added(self) -> None:
        config = {**CONFIG, "iceberg.catalog.type": "glue", "kconnect.iceberg.bundles": ""}
        assert len(IcebergSinkConnector.spark_needs(config, "4.1.4").coordinates) == 1


def test_connections_of_airflow_need_airflow() -> None:
    sink = IcebergSinkConnector({**CONFIG, "kconnect.catalog.conn_ids": "lake"})
    with pytest.raises(ConfigError, match="needs Airflow"):
        sink.check()
