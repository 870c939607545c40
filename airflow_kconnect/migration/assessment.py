"""What a connector of a Connect cluster would be here: how it runs, what is missing, what has no effect. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.source import PollSourceConnector
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.sink_topics import sink_group
from airflow_kconnect.migration.advice import advice_about
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.plugins.advice import advice
from airflow_kconnect.submit.literal_secrets import is_literal_secret
from airflow_kconnect.submit.preflight import check_configuration
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS, Inspection
from airflow_kconnect.worker_config.keys import worker_config_def

NO_WORKER = {"bootstrap.servers": "localhost:9092"}
"""What configurations are validated with if no worker is named: nothing is connected to."""

_NOT_INSTALLED = "there is no such class here, and no Java plug-in below `plugin.path` has it"
_PLUGIN_KEYS = (".type", ".converter", CONNECTOR_CLASS)
_NOT_FOUND = ("could not be found", "Failed to find any class")


class How(StrEnum):
    """How a connector would run here."""

    SPARK = "Spark"
    PYTHON = "Python"
    HOSTED = "hosted: its Java class"
    """Its Java class is installed, and runs in a Connect worker of each run."""
    JAVA = "hosted, once its Java class is installed"
    """Only its Java class exists, and it is not below `plugin.path`."""
    UNKNOWN = "not known"
    """The configuration names no class."""


class Verdict(StrEnum):
    """What can be done with a connector."""

    READY = "can move"
    NEEDS_CHANGES = "needs changes"
    STAYS = "cannot move"


@dataclass
class Assessment:
    """What was found about one connector, before anything is changed.

    :param kind: `source` or `sink`, as Connect says if the class is not known here.
    :param connector_class: full name of the class here, else as it was written.
    :param problems: configuration key -> what must be changed first.
    :param missing: of these, the keys that name a class which does not exist here.
    :param without_effect: keys that mean nothing here, and other warnings of the validation.
    :param secrets: keys whose values are secrets in plain text.
    :param advice: what should be known before it runs here.
    :param identity: where its offsets are: consumer group, or offset topic and group of the worker.
    :param notes: what was found on the two clusters.
    """

    name: str
    kind: str
    connector_class: str
    how: How
    problems: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    without_effect: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    identity: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Whether it can move."""
        if self.how is How.UNKNOWN:
            return Verdict.STAYS
        return Verdict.NEEDS_CHANGES if self.problems else Verdict.READY

    def add_problem(self, key: str, text: str) -> None:
        """Something that must be changed before it can move."""
        self.problems.setdefault(key, []).append(text)


def assess(
    config: Mapping[str, Any], kind: str, worker: Mapping[str, Any] | None, classes_there: Sequence[str] = ()
) -> Assessment:
    """Judge one connector by its configuration; makes no connections.

    :param config: with `name` in it, variables not resolved.
    :param kind: as Connect says.
    :param worker: the worker's keys here; None if it is not known.
    :param classes_there: the connectors that are installed in Connect, to tell which class a short name means there.
    :raises ConfigError: keys of the worker are wrong.
    """
    used = NO_WORKER if worker is None else worker
    inspection = inspect_without_references(config, used)
    found = Assessment(
        str(config.get("name", "")),
        inspection.kind or kind,
        inspection.connector_class,
        _how(inspection),
    )
    try:
        found.without_effect = check_configuration(config, used, None)
    except ConfigError as error:
        found.problems = error.errors
        found.without_effect = inspection.warnings
    found.missing = sorted(key for key, texts in found.problems.items() if _names_missing_class(key, texts))
    _check_class(found, str(config.get(CONNECTOR_CLASS, "")), classes_there)
    _check_converters(found, config, worker)
    found.secrets = [key for key, value in config.items() if is_literal_secret(key, value)]
    found.advice += advice_about(found.connector_class, config)
    if found.how not in (How.JAVA, How.UNKNOWN):
        found.identity = _identity(inspection)
    return found


def _how(inspection: Inspection) -> How:
    if inspection.hosted is not None:
        return How.HOSTED
    if inspection.plugin is None:
        return How.JAVA if inspection.connector_class else How.UNKNOWN
    return How.PYTHON if issubclass(inspection.plugin, (PollSourceConnector, PollSinkConnector)) else How.SPARK


def _names_missing_class(key: str, texts: Sequence[str]) -> bool:
    return key.endswith(_PLUGIN_KEYS) and any(phrase in text for text in texts for phrase in _NOT_FOUND)


def _check_class(found: Assessment, written: str, classes_there: Sequence[str]) -> None:
    """A short name, such as JdbcSource, may be another vendor's class there than here."""
    there = [name for name in classes_there if written in _short(name)]
    if found.how is How.JAVA:
        known = plugins.registry().names(plugins.CONNECTORS)
        text = f"{_NOT_INSTALLED}.{advice(found.connector_class, known)}"
        found.problems = {**found.problems, CONNECTOR_CLASS: [text]}
    elif len(there) == 1 and _loaded(there[0]) != _loaded(found.connector_class):
        text = f"{written} is {there[0]} in Connect, and {found.connector_class} here; write the full name"
        found.add_problem(CONNECTOR_CLASS, text)


def _loaded(name: str) -> object:
    try:
        return plugins.registry().connector(name)
    except ConfigError:
        return name


def _short(name: str) -> tuple[str, str]:
    simple = name.rpartition(".")[2]
    return simple, simple.removesuffix("Connector")


def _check_converters(found: Assessment, config: Mapping[str, Any], worker: Mapping[str, Any] | None) -> None:
    """Connect does not tell which converters its workers have."""
    if found.how is How.JAVA:
        return
    for key in ("key.converter", "value.converter"):
        if key in config or (worker and key in worker):
            continue
        default = worker_config_def().keys[key].default
        text = f"is not set, and Connect does not tell which one its workers have; here it would be {default}"
        found.add_problem(key, f"{text}. Copy it with its settings from the cluster's worker file to that of --worker")


def _identity(inspection: Inspection) -> dict[str, str]:
    if inspection.kind == "sink":
        return {"consumer group": sink_group({"name": "", **inspection.props})}
    return {"offset topic": inspection.worker.offset_topic_of(inspection.props), "group.id": inspection.worker.group_id}
