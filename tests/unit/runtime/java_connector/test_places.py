"""What a run needs of the JVM that it shares."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.runtime.java_connector.places import tenant_of
from airflow_kconnect.validation.connector import ValidatedConfig

POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
COMMON = {"kconnect.hosted.memory": "1g", "kconnect.hosted.own.jvm": False}


def config(of: str = "com.example.Source", props: dict[str, str] | None = None, **common: object) -> ValidatedConfig:
    keys = {**COMMON, **{key.replace("_", "."): value for key, value in common.items()}}
    folder = Path("/plugins/example")
    plugin = JavaPlugin(of, "source", "1.0", folder, True, folder / "a.jar")
    return ValidatedConfig(
        name="orders", connector_class=of, kind="source", props=props or {}, common=keys, hosted=plugin
    )


def test_it_takes_its_memory_of_the_heap() -> None:
    assert tenant_of(config()).memory_mb == 1024


@pytest.mark.parametrize(("own", "must"), [(True, False), (False, True)])
def test_it_is_alone_if_it_wants_to_or_must(own: bool, must: bool) -> None:
    assert tenant_of(config(kconnect_hosted_own_jvm=own), alone=must).alone


def test_a_debezium_source_shares_with_those_of_another_prefix() -> None:
    tenant = tenant_of(config(POSTGRES, {"topic.prefix": "shop"}))
    assert (tenant.alone, tenant.names) == (False, frozenset({"server shop"}))


def test_a_debezium_source_whose_prefix_only_java_knows_is_alone() -> None:
    assert tenant_of(config(POSTGRES, {"topic.prefix": "${vault:a:b}"})).alone
