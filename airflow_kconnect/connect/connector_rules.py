"""The rules of connector configurations that concern more than one key, each in a function.

Texts are those of AbstractHerder, DistributedHerder and SinkConnectorConfig.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from airflow_kconnect.connect import plugins
from airflow_kconnect.connect.config import java_pattern
from airflow_kconnect.connect.connector import Connector, ExactlyOnceSupport, SourceConnector
from airflow_kconnect.connect.connector_keys import CONVERTER_KINDS
from airflow_kconnect.connect.enrichment import TOPIC_CREATION_PREFIX, aliases
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.override_policy import OVERRIDE_PREFIXES, violation
from airflow_kconnect.connect.validation import CONNECTOR_CLASS, Inspection

DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
KAFKA_TOPICS = ("__consumer_offsets", "__transaction_state")


_OPERATORS = {"source": "KafkaSourceOperator", "sink": "KafkaSinkOperator"}

_NO_PREFLIGHT = (
    "The connector does not implement the API required for preflight validation of exactly-once source support. "
    "Please consult the documentation for the connector to determine whether it supports exactly-once semantics, "
    'and then consider reconfiguring the connector to use the value "requested" for this property (which will '
    "disable this preflight check and allow the connector to be created)."
)
_UNSUPPORTED = "The connector does not support exactly-once semantics with the provided configuration."
_NO_BOUNDARIES = (
    "The connector does not support connector-defined transaction boundaries with the given configuration. "
    "Please reconfigure it to use a different transaction boundary definition."
)


def check(inspection: Inspection, kind: str | None = None) -> None:
    """Add the errors and warnings of all rules to an inspection.

    :param kind: `source` or `sink` if only such connectors are allowed.
    """
    _check_stages(inspection)
    _check_overrides(inspection)
    if inspection.plugin is None:
        return
    _check_kind(inspection, kind)
    _check_own(inspection, inspection.plugin)
    if issubclass(inspection.plugin, SourceConnector):
        _check_exactly_once(inspection, inspection.plugin)
        _check_boundary(inspection, inspection.plugin)
        _check_topic(inspection, "topic")
    else:
        _check_topics(inspection)
        _check_dead_letter_topic(inspection)
        _check_group(inspection)
    _check_topic(inspection, DEAD_LETTER_TOPIC)
    for converter in CONVERTER_KINDS:
        _check_converter(inspection, converter)
    _warn_of_ignored(inspection)
    _warn_of_unknown(inspection)


def check_topic_name(topic: str) -> str | None:
    """What is wrong with a topic name by the rules of Kafka (org.apache.kafka.common.internals.Topic), or None."""
    if not topic:
        return "Topic name is invalid: the empty string is not allowed"
    if topic in (".", ".."):
        return f"Topic name is invalid: '{topic}' is not allowed"
    if len(topic) > 249:
        return f"Topic name is invalid: the length of '{topic}' is longer than the max allowed length 249"
    if not re.fullmatch(r"[a-zA-Z0-9._-]+", topic):
        allowed = "ASCII alphanumerics, '.', '_' and '-'"
        return f"Topic name is invalid: '{topic}' contains one or more characters other than {allowed}"
    return None


def _check_kind(inspection: Inspection, kind: str | None) -> None:
    actual = inspection.kind
    if kind is None or actual is None or kind == actual:
        return
    name, operator = inspection.connector_class, _OPERATORS[actual]
    text = f'{name} is a {actual} connector, not a {kind} connector: run it with {operator} (kind="{actual}")'
    inspection.add(CONNECTOR_CLASS, text)


def _check_own(inspection: Inspection, plugin: type[Connector]) -> None:
    """The connector's own `validate`; it may stumble over values that have an error already."""
    try:
        errors = plugin.validate(inspection.props)
    except ConfigError as error:
        errors = error.errors
    except Exception as error:
        valid = not any(inspection.values[key].errors for key in inspection.own.keys)
        errors = {CONNECTOR_CLASS: [_unexpected(error)]} if valid else {}
    for key, messages in errors.items():
        inspection.add(key, *messages)
    inspection.warnings += plugin.warnings(inspection.props)


def _check_stages(inspection: Inspection) -> None:
    known = aliases(inspection.props, "predicates")
    registry = plugins.registry()
    for key, lookup in (("transforms", registry.transform), ("predicates", registry.predicate)):
        for alias in aliases(inspection.props, key):
            _check_plugin(inspection, f"{key}.{alias}.", lookup)
    for alias in aliases(inspection.props, "transforms"):
        negate, predicate = f"transforms.{alias}.negate", f"transforms.{alias}.predicate"
        given = inspection.props.get(predicate)
        if negate in inspection.props and given is None:
            text = f"Config '{negate}' was provided but there is no config '{predicate}' defining a predicate"
            inspection.add(negate, f"{text} to be negated.")
        if given is not None and given not in known:
            text = f"'{given}' is not in `predicates`, which has: {', '.join(known) or 'nothing'}"
            inspection.add(predicate, text)


def _check_plugin(inspection: Inspection, prefix: str, lookup: Callable[..., type[Any]]) -> None:
    """The stage's own rules; where single keys are wrong it would only stumble over them."""
    if any(key.startswith(prefix) for key in inspection.errors):
        return
    plugin = lookup(inspection.props[f"{prefix}type"], key=f"{prefix}type")
    own = {key.removeprefix(prefix): text for key, text in inspection.props.items() if key.startswith(prefix)}
    for key, messages in plugin.validate(own).items():
        inspection.add(prefix + key, *messages)


def _check_overrides(inspection: Inspection) -> None:
    worker = inspection.worker
    policy = worker.get("connector.client.config.override.policy")
    allowlist = worker.get("connector.client.config.override.allowlist")
    for key in inspection.props:
        prefix = next((prefix for prefix in OVERRIDE_PREFIXES if key.startswith(prefix)), None)
        if prefix and (message := violation(policy, key.removeprefix(prefix), allowlist)):
            inspection.add(key, message)


def _check_converter(inspection: Inspection, kind: str) -> None:
    """The sub-configuration of a converter counts only if the connector names the class itself."""
    key = f"{kind}.converter"
    name = inspection.props.get(key)
    if name is None:
        return
    try:
        converter = plugins.registry().converter(name, key=key)
    except ConfigError as error:
        inspection.add(key, *error.errors[key])
        return
    if kind != "header" and getattr(converter, "for_headers_only", False):
        inspection.add(key, f"Invalid value {name} for configuration {key}: it converts only headers")
        return
    prefix = f"{key}."
    props = inspection.props.items()
    settings = {key.removeprefix(prefix): text for key, text in props if key.startswith(prefix)}
    config_def = converter.config()
    for value in config_def.validate({**settings, "converter.type": kind}):
        full_name = prefix + value.name
        inspection.definition.keys.setdefault(full_name, replace(config_def.keys[value.name], name=full_name))
        inspection.values.setdefault(full_name, replace(value, name=full_name))


def _check_exactly_once(inspection: Inspection, plugin: type[SourceConnector]) -> None:
    key = "exactly.once.support"
    if str(inspection.value(key)).lower() != "required":
        return
    if not inspection.worker.exactly_once:
        inspection.add(key, "This worker does not have exactly-once source support enabled.")
    try:
        support = plugin.exactly_once_support(inspection.props)
    except Exception as error:
        inspection.add(key, _unexpected(error))
        return
    if support is not ExactlyOnceSupport.SUPPORTED:
        inspection.add(key, _NO_PREFLIGHT if support is None else _UNSUPPORTED)


def _check_boundary(inspection: Inspection, plugin: type[SourceConnector]) -> None:
    key = "transaction.boundary"
    if str(inspection.value(key)).lower() != "connector":
        return
    try:
        if not plugin.can_define_transaction_boundaries(inspection.props):
            inspection.add(key, _NO_BOUNDARIES)
    except Exception as error:
        inspection.add(key, _unexpected(error))


def _unexpected(error: Exception) -> str:
    cause = f": {error}" if str(error).strip() else "; please see the worker logs for more details."
    return f"An unexpected error occurred during validation{cause}"


def _check_topics(inspection: Inspection) -> None:
    given = [bool(inspection.props.get(key)) for key in ("topics", "topics.regex")]
    if all(given):
        message = "topics and topics.regex are mutually exclusive options, but both are set."
    elif not any(given):
        message = "Must configure one of topics or topics.regex"
    else:
        return
    inspection.add("topics", message)
    inspection.add("topics.regex", message)


def _check_dead_letter_topic(inspection: Inspection) -> None:
    dead_letters = inspection.value(DEAD_LETTER_TOPIC)
    if not dead_letters:
        return
    topics, regex = inspection.value("topics"), inspection.value("topics.regex")
    subject = f"The DLQ topic '{dead_letters}' may not be"
    if topics and dead_letters in topics:
        listed = f"included in the list of topics ('topics=[{', '.join(topics)}]')"
        inspection.add(DEAD_LETTER_TOPIC, f"{subject} {listed} consumed by the connector")
    if regex and java_pattern(regex).fullmatch(dead_letters):
        matched = f"matched by the regex for the topics ('topics.regex={regex}')"
        inspection.add(DEAD_LETTER_TOPIC, f"{subject} {matched} consumed by the connector")


def _check_group(inspection: Inspection) -> None:
    """A sink that joined the worker's group would be thrown out of it again and again."""
    worker_group = inspection.worker.get("group.id")
    key = "consumer.override.group.id"
    group, name = inspection.props.get(key), inspection.props.get("name")
    conflict = f"conflicts with Connect worker group {worker_group}"
    if group is not None:
        if group == worker_group:
            inspection.add(key, f"Consumer group {group} {conflict}")
    elif f"connect-{name}" == worker_group:
        inspection.add("name", f"Consumer group for sink connector named {name} {conflict}")


def _check_topic(inspection: Inspection, key: str) -> None:
    """A topic that records are written to: it can exist, and it is none that Kafka or Connect live on."""
    topic = inspection.props.get(key)
    if topic is None or key not in inspection.definition.keys or (not topic and key == DEAD_LETTER_TOPIC):
        return
    worker = inspection.worker
    internal = {worker.get(f"{kind}.storage.topic") for kind in ("offset", "config", "status")}
    internal |= {*KAFKA_TOPICS, inspection.value("offsets.storage.topic")}
    if inspection.values[key].errors:
        return
    if message := check_topic_name(topic):
        inspection.add(key, f"Invalid value {topic} for configuration {key}: {message}")
    if topic in internal:
        text = "the topic is internal to Kafka or Connect; records in it would destroy what is stored there"
        inspection.add(key, f"Invalid value {topic} for configuration {key}: {text}")


def _warn_of_ignored(inspection: Inspection) -> None:
    for key in inspection.props:
        if key.endswith(".plugin.version") and key in inspection.definition.keys:
            inspection.warnings.append(f"`{key}` is ignored: the installed version runs")
    key = "producer.override.transactional.id"
    if inspection.kind == "source" and key in inspection.props:
        text = "is ignored: transactional ids are those of Connect, else no run could fence another"
        inspection.warnings.append(f"`{key}` {text}")


def _warn_of_unknown(inspection: Inspection) -> None:
    """Keys that nobody will read; often a slip of the pen."""
    groups = [*aliases(inspection.props, "topic.creation.groups"), "default"]
    prefixes = [*OVERRIDE_PREFIXES]
    if inspection.kind == "source":
        prefixes += [f"{TOPIC_CREATION_PREFIX}{group}." for group in groups]
    for key in inspection.props:
        if key in inspection.definition.keys or key.startswith(tuple(prefixes)):
            continue
        inspection.warnings.append(_unknown(inspection, key))


def _unknown(inspection: Inspection, key: str) -> str:
    for kind in CONVERTER_KINDS:
        converter = f"{kind}.converter"
        if key.startswith(f"{converter}.") and converter not in inspection.props:
            return f"`{key}` has no effect: it counts only together with `{converter}` (else the worker's counts)"
    similar = get_close_matches(key, inspection.definition.keys, n=1, cutoff=0.85)
    hint = f"; did you mean `{similar[0]}`?" if similar else ""
    return f"`{key}` is not a known key and may have no effect{hint}"
