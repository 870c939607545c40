"""Rules of hosted connectors: what their worker takes from a configuration without asking its Java class."""

from __future__ import annotations

import re

from airflow_kconnect.validation.inspection import Inspection
from airflow_kconnect.validation.jdbc_parameters import is_refused, refused_in
from airflow_kconnect.validation.topic_rules import internal_topic, topics_of_others
from airflow_kconnect.variables.resolver import OWN_PROVIDER
from airflow_kconnect.worker_config.override_policy import ALLOWLIST, ignored_overrides

# Connectors that hand keys with a prefix to their driver, or to what creates its connections.
_JDBC_KEYS = (
    *(("io.debezium.", prefix) for prefix in ("driver.", "database.", "hibernate.")),
    *((f"{package}.iceberg.connect.", "iceberg.catalog.jdbc.") for package in ("org.apache", "io.tabular")),
)
_OFFSET_TOPIC = "offsets.storage.topic"
_TOPIC = re.compile(r"(?:^|\.)topic(?:\.name)?$")
_OWN_VARIABLE = f"${{{OWN_PROVIDER}:"


def check(inspection: Inspection) -> None:
    """Add the errors of all rules to an inspection."""
    check_variables(inspection)
    _check_topics(inspection)
    _check_jdbc(inspection)
    _warn_of_ignored(inspection)


def check_variables(inspection: Inspection) -> None:
    """The worker's own config provider has the secrets of the run, the worker's among them: texts of a connector must
    not name it, nor what its variables resolve to.
    """
    if inspection.hosted is None:
        return
    for key, text in inspection.props.items():
        if _OWN_VARIABLE in text and not (key in inspection.values and inspection.values[key].errors):
            inspection.add(key, f"has {_OWN_VARIABLE}...}}: this config provider is the run's own; use another one")


def _check_topics(inspection: Inspection) -> None:
    """Topics that a class itself writes to, with clients of its own: a schema history, a control topic."""
    others = topics_of_others(inspection.worker, inspection.props)
    for key, text in inspection.props.items():
        if _TOPIC.search(key) and key != _OFFSET_TOPIC and text in others and key not in inspection.errors:
            inspection.add(key, internal_topic(key, text))


def _check_jdbc(inspection: Inspection) -> None:
    """What has a JDBC driver of the plug-in load code or read files: in URLs, and as keys that become parameters."""
    prefixes = tuple(prefix for start, prefix in _JDBC_KEYS if inspection.connector_class.startswith(start))
    if inspection.props.get("connection.url", "").strip().lower().startswith("jdbc:"):
        prefixes += ("connection.",)
    for key, text in inspection.props.items():
        found = list(refused_in(text))
        found += [key for prefix in prefixes if key.startswith(prefix) and is_refused(key.removeprefix(prefix))]
        if found and key not in inspection.errors:
            inspection.add(key, f"has what can load code or use files in a JDBC driver: {', '.join(found)}; remove it")


def _warn_of_ignored(inspection: Inspection) -> None:
    for key in ignored_overrides(inspection.props, inspection.worker.props):
        text = f"is ignored: runs set it themselves, unless the worker's `{ALLOWLIST}` names it"
        inspection.warnings.append(f"`{key}` {text}")
