"""The plugin registry: names, aliases, and plugins that are broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.registry import CONNECTORS, CONVERTERS, TRANSFORMS, PluginInfo, PluginRegistry, registry


class JdbcSource:
    kind = "source"

    @classmethod
    def version(cls) -> str:
        return "1.2"


class JsonConverter: ...


class Cast: ...


@dataclass
class Entry:
    name: str
    target: Callable[[], Any]
    value: str = "some.module:Class"

    def load(self) -> Any:
        return self.target()


def _broken() -> Any:
    raise ModuleNotFoundError("No module named 'driver'")


@pytest.fixture
def plugins() -> PluginRegistry:
    return PluginRegistry(
        {
            CONNECTORS: [
                Entry("io.acme.JdbcSourceConnector", lambda: JdbcSource),
                Entry("org.one.CopyConnector", lambda: JdbcSource),
                Entry("org.two.CopyConnector", lambda: JdbcSource),
                Entry("org.bad.BrokenConnector", _broken),
                Entry("org.bad.OddConnector", lambda: "no class"),
            ],
            CONVERTERS: [Entry("org.acme.JsonConverter", lambda: JsonConverter)],
            TRANSFORMS: [Entry("org.acme.Cast$Value", lambda: Cast)],
        }
    )


@pytest.mark.parametrize("name", ["io.acme.JdbcSourceConnector", "JdbcSourceConnector", "JdbcSource"])
def test_connector_is_found_by_each_of_its_names(plugins: PluginRegistry, name: str) -> None:
    assert plugins.connector(name) is JdbcSource  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("name", ["org.acme.JsonConverter", "JsonConverter", "Json"])
def test_converter_is_found_by_each_of_its_names(plugins: PluginRegistry, name: str) -> None:
    assert plugins.converter(name, key="key.converter") is JsonConverter


@pytest.mark.parametrize("name", ["org.acme.Cast$Value", "Cast$Value"])
def test_transformation_is_found_by_each_of_its_names(plugins: PluginRegistry, name: str) -> None:
    assert plugins.transform(name, key="transforms.a.type") is Cast


@pytest.mark.parametrize("name", ["os.path", "", "Connector"])
def test_other_names_find_no_connector(plugins: PluginRegistry, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plugins.connector(name)
    assert caught.value.errors == {
        "connector.class": [
            f"Failed to find any class that implements Connector and which name matches {name}, available "
            "connectors are: io.acme.JdbcSourceConnector, org.bad.BrokenConnector, org.bad.OddConnector, "
            "org.one.CopyConnector, org.two.CopyConnector"
        ]
    }


@pytest.mark.parametrize("name", ["jdbcsource", "acme.JdbcSourceConnector", "JdbcSorce"])
def test_a_name_that_is_almost_right_gets_a_hint_after_connects_text(plugins: PluginRegistry, name: str) -> None:
    with pytest.raises(ConfigError, match=r"org\.two\.CopyConnector\. Did you mean io\.acme\.JdbcSourceConnector\?$"):
        plugins.connector(name)


def test_a_class_of_another_kind_is_called_so(plugins: PluginRegistry) -> None:
    with pytest.raises(ConfigError, match=r"Class Cast\$Value could not be found\. It is a transformation\."):
        plugins.predicate("Cast$Value")


def test_unknown_class_has_connects_text(plugins: PluginRegistry) -> None:
    with pytest.raises(ConfigError) as caught:
        plugins.converter("X", key="key.converter")
    assert caught.value.errors == {
        "key.converter": ["Invalid value X for configuration key.converter: Class X could not be found."]
    }


def test_ambiguous_alias_lists_the_candidates(plugins: PluginRegistry) -> None:
    with pytest.raises(ConfigError, match=r"one of: org\.one\.CopyConnector, org\.two\.CopyConnector"):
        plugins.connector("Copy")


@pytest.mark.parametrize("meant", ["airflow_kconnect.connectors.CopyConnector", "io.confluent.CopyConnector"])
@pytest.mark.parametrize("alias", ["Copy", "CopyConnector"])
def test_ambiguous_alias_means_the_plugin_of_this_project_or_confluents(meant: str, alias: str) -> None:
    names = ["com.amazonaws.CopyConnector", meant, "org.two.CopyConnector"]
    plugins = PluginRegistry({CONNECTORS: [Entry(name, lambda: JdbcSource) for name in names]})

    assert plugins.resolve(CONNECTORS, alias, key="k") == meant


@pytest.mark.parametrize("kind", ["Source", "Sink"])
def test_simple_names_of_the_jdbc_connectors(kind: str) -> None:
    installed = registry()
    confluent = installed.connector(f"io.confluent.connect.jdbc.Jdbc{kind}Connector")
    assert installed.connector(f"Jdbc{kind}") is installed.connector(f"Jdbc{kind}Connector") is confluent
    assert installed.connector(f"io.aiven.connect.jdbc.Jdbc{kind}Connector") is not confluent


def test_full_name_decides_between_equal_simple_names(plugins: PluginRegistry) -> None:
    assert plugins.resolve(CONNECTORS, "org.two.CopyConnector", key="k") == "org.two.CopyConnector"


@pytest.mark.parametrize(
    ("name", "text"),
    [("Broken", "cannot be imported: ModuleNotFoundError: No module named 'driver'"), ("Odd", "is not a class")],
)
def test_broken_plugin_is_a_configuration_error(plugins: PluginRegistry, name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        plugins.connector(name)


def test_a_name_with_two_targets_is_refused() -> None:
    double = [Entry("a.X", lambda: Cast, "one:X"), Entry("a.X", lambda: Cast, "two:X")]
    with pytest.raises(ConfigError, match="installed more than once: one:X, two:X"):
        PluginRegistry({CONVERTERS: double}).converter("a.X")


def test_the_same_entry_twice_is_one_plugin() -> None:
    double = [Entry("a.X", lambda: Cast), Entry("a.X", lambda: Cast)]
    assert PluginRegistry({CONVERTERS: double}).converter("X") is Cast


def test_listing_has_kind_and_version(plugins: PluginRegistry) -> None:
    assert PluginInfo("io.acme.JdbcSourceConnector", "source", "1.2") in plugins.connectors()


def test_listing_reports_what_cannot_be_imported(plugins: PluginRegistry) -> None:
    listed = {plugin.name: plugin for plugin in plugins.connectors()}
    assert "No module named 'driver'" in str(listed["org.bad.BrokenConnector"].error)


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    imported: list[str] = []
    PluginRegistry({CONVERTERS: [Entry("a.X", lambda: imported.append("X"))]}).names(CONVERTERS)
    assert imported == []


def test_registry_is_read_once() -> None:
    assert registry() is registry()


def test_classes_of_others_are_noticed_when_they_are_loaded(plugins: PluginRegistry) -> None:
    assert plugins.only_own_loaded
    plugins.converter("Json", key="key.converter")
    assert not plugins.only_own_loaded


def test_classes_of_this_package_are_own() -> None:
    installed = PluginRegistry({CONVERTERS: entry_points(group=CONVERTERS)})
    installed.converter("org.apache.kafka.connect.json.JsonConverter")
    assert installed.only_own_loaded
