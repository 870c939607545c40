"""Checks a whole connector configuration and collects all findings.

The order of the checks is that of AbstractHerder.validateConnectorConfig: class, common and enriched keys, the
connector's own keys, then rules that involve several keys (`rules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, ConfigValue, texts_of
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.inspection import hosted_class
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.validation.connector_keys import common_config, sink_config, source_config
from airflow_kconnect.validation.plugin_classes import connector_version_problem, with_versions
from airflow_kconnect.validation.stage_keys import enrich
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import coordinates_of

if TYPE_CHECKING:
    from airflow_kconnect.connect.connector.base import Connector

CONNECTOR_CLASS = "connector.class"
MOST_KEYS = 20_000

_BASES = {"source": source_config, "sink": sink_config, None: common_config}


@dataclass
class Inspection:
    """The findings about a connector configuration, valid or not.

    :param props: the values that are text, trimmed.
    :param worker: the worker configuration that was used.
    :param connector_class: full name of the class; the user's text if there is no such class.
    :param plugin: the class itself, None if there is none, or if it is a Java class.
    :param framework: the keys of Connect and of the stages named in the configuration.
    :param own: the keys of the connector.
    :param definition: all defined keys, including those of converters; for `describe`.
    :param values: one value per defined key, and per other key that has an error.
    :param warnings: what is allowed but may not do what the user expects.
    :param hosted: the Java class that runs; its own keys are checked by itself, when a run starts.
    """

    props: dict[str, str]
    worker: WorkerConfig
    connector_class: str
    plugin: type[Connector] | None
    framework: ConfigDef
    own: ConfigDef
    definition: ConfigDef
    values: dict[str, ConfigValue] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    hosted: JavaPlugin | None = None

    @property
    def kind(self) -> str | None:
        """`source` or `sink`; None if the class is not known."""
        if self.hosted is not None:
            return self.hosted.kind
        return self.plugin.kind if self.plugin else None

    @property
    def errors(self) -> dict[str, list[str]]:
        """Key -> messages."""
        return {name: value.errors for name, value in self.values.items() if value.errors}

    def add(self, key: str, *messages: str) -> None:
        """Add errors to a key. The value of an undefined key stays unset: it may be a secret."""
        self.values.setdefault(key, ConfigValue(key)).errors.extend(messages)

    def value(self, key: str) -> Any:
        """Parsed value of a key without errors, else None."""
        value = self.values.get(key)
        return value.value if value and not value.errors else None

    def parsed(self, definition: ConfigDef) -> dict[str, Any]:
        """Parsed values of the keys of a definition."""
        return {key: self.values[key].value for key in definition.keys}


def inspect_keys(config: Mapping[str, Any], *, worker: WorkerConfig | None = None) -> Inspection:
    """Check single keys; `rules.check` adds the rules that involve several.

    :param config: the connector's configuration, variables resolved.
    :param worker: default: `WorkerConfig.defaults()`.
    :raises ConfigError: it has more keys than can be checked in a moment.
    """
    if len(config) > MOST_KEYS:
        text = f"it has {len(config)} keys, and at most {MOST_KEYS} are accepted: split the connector into several"
        raise ConfigError({"connector": [text]})
    worker = worker or WorkerConfig.defaults()
    props, errors = texts_of(config)
    hosted, plugin, name, unknown = _find_class(props, worker)
    no_such_version = hosted is None and connector_version_problem(props) is not None
    if hosted is not None:
        # Converters, transformations, predicates and groups of topics are those of Connect.
        framework = _BASES[hosted.kind](worker)
    elif no_such_version:
        framework = with_versions(common_config(), props)
    else:
        framework = with_versions(enrich(_BASES[plugin.kind if plugin else None](worker), props), props)
    # Of a version that does not exist no keys are known.
    own = plugin.config() if plugin and not no_such_version else ConfigDef()
    # A value that is not text is kept here: its key then has that error, and not "missing".
    raw = {**config, **props}
    values = {value.name: value for part in (framework, own) for value in part.validate(raw)}
    definition = ConfigDef(framework).extend(own)
    inspection = Inspection(props, worker, name, plugin, framework, own, definition, values, hosted=hosted)
    for key, texts in unknown.items():
        inspection.add(key, *texts)
    for key, texts in errors.items():
        if key not in definition.keys:  # those have found the error themselves
            inspection.add(key, *texts)
    return inspection


def _find_class(
    props: Mapping[str, str], worker: WorkerConfig
) -> tuple[JavaPlugin | None, type[Connector] | None, str, dict[str, list[str]]]:
    """The class, its full name, and what is wrong with it; a missing key is an error of the key itself."""
    class_name = props.get(CONNECTOR_CLASS)
    if class_name is None:
        return None, None, "", {}
    try:
        if (hosted := hosted_class(props, worker)) is not None:
            return hosted, None, hosted.name, {}
        java = {found.name for found in java_plugins(worker, coordinates_of(props)).connectors()}
        plugin = plugins.registry().connector(class_name, hosted=java)
        return None, plugin, plugins.registry().resolve(plugins.CONNECTORS, class_name, key=CONNECTOR_CLASS), {}
    except ConfigError as error:
        return None, None, class_name, error.errors
