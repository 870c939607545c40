"""The rules of connector configurations that involve more than one key, each in a function.

Texts are those of AbstractHerder, DistributedHerder and SinkConnectorConfig.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, PollSourceConnector, SourceConnector
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.choice import notes
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation import hosted_rules, topic_rules
from airflow_kconnect.validation.class_rules import check_versions, show_full_names
from airflow_kconnect.validation.connector_keys import CONVERTER_KINDS
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS, Inspection
from airflow_kconnect.validation.stage_keys import TOPIC_CREATION_PREFIX, aliases, own_keys
from airflow_kconnect.worker_config.override_policy import OVERRIDE_PREFIXES, override_errors
from airflow_kconnect.worker_config.plugin_keys import INSTALL, coordinates_errors
from airflow_kconnect.worker_config.spark_keys import ALLOWED as SPARK_ALLOWED
from airflow_kconnect.worker_config.spark_keys import PREFIX as SPARK_PREFIX
from airflow_kconnect.worker_config.spark_keys import spark_errors

_SHOWN = 20
# Of keys that nothing knows: for more of them, or longer ones, it would take long to find what was meant.
_HINTS, _LONGEST_HINTED = 20, 200
# Of transformations; most examples on the web still have the old names.
_RENAMED = {"blacklist": "exclude", "whitelist": "include"}

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
    _check_texts(inspection)
    _check_retries(inspection)
    _check_coordinates(inspection)
    if inspection.hosted is not None:
        _check_hosted(inspection, kind)
        return
    check_versions(inspection)
    if inspection.plugin is not None and CONNECTOR_CLASS in inspection.errors:
        return
    _check_stages(inspection)
    _check_overrides(inspection)
    _check_spark(inspection)
    for converter in CONVERTER_KINDS:
        _check_converter(inspection, converter)
    show_full_names(inspection)
    if inspection.plugin is None:
        return
    _check_kind(inspection, kind)
    _check_own(inspection, inspection.plugin)
    if issubclass(inspection.plugin, SourceConnector):
        _check_exactly_once(inspection, inspection.plugin)
        _check_boundary(inspection, inspection.plugin)
    else:
        _check_group(inspection)
    topic_rules.check(inspection)
    _warn_of_skipping(inspection)
    _warn_of_ignored(inspection)
    _warn_of_other_meaning(inspection, inspection.plugin)
    _warn_of_retries(inspection, inspection.plugin)
    _warn_of_unknown(inspection)


def _check_hosted(inspection: Inspection, kind: str | None) -> None:
    """The rest is checked by Connect's own classes, when the run has started Java."""
    _check_overrides(inspection)
    _check_spark(inspection)
    _check_kind(inspection, kind)
    if inspection.kind == "sink":
        _check_group(inspection)
    topic_rules.check(inspection)
    hosted_rules.check(inspection)
    _warn_of_skipping(inspection)
    inspection.warnings += notes(inspection.props, inspection.worker)


def _check_kind(inspection: Inspection, kind: str | None) -> None:
    actual = inspection.kind
    if kind is None or actual is None or kind == actual:
        return
    name, operator = inspection.connector_class, _OPERATORS[actual]
    text = f'{name} is a {actual} connector, not a {kind} connector: run it with {operator} (kind="{actual}")'
    inspection.add(CONNECTOR_CLASS, text)


def _check_own(inspection: Inspection, plugin: type[Connector]) -> None:
    """The connector's own `validate`; it may fail on values that already have an error."""
    try:
        forbidden = plugin.forbidden(inspection.props, inspection.worker)
        errors = {**plugin.validate(inspection.props), **forbidden}
    except ConfigError as error:
        errors = error.errors
    except Exception as error:
        valid = not any(inspection.values[key].errors for key in inspection.own.keys)
        errors = {CONNECTOR_CLASS: [_unexpected(error)]} if valid else {}
    for key, messages in errors.items():
        inspection.add(key, *messages)
    if not errors:
        inspection.warnings += plugin.warnings(inspection.props)


def _check_texts(inspection: Inspection) -> None:
    """JSON can contain unpaired surrogates, which files and topics cannot."""
    for key, text in inspection.props.items():
        try:
            f"{key}{text}".encode()
        except UnicodeEncodeError:
            inspection.add(ascii(key)[1:-1], "The text has half of a surrogate pair in it, which is not a character")


def _check_retries(inspection: Inspection) -> None:
    """Connect accepts any number here and fails on it only when an operation is retried."""
    for key, least in (("errors.retry.timeout", -1), ("errors.retry.delay.max.ms", 0)):
        value = inspection.value(key)
        if value is not None and value < least:
            inspection.add(key, f"Invalid value {value} for configuration {key}: Value must be at least {least}")


def _check_stages(inspection: Inspection) -> None:
    known = aliases(inspection.props, "predicates")
    registry = plugins.registry()
    for key, lookup in (("transforms", registry.transform), ("predicates", registry.predicate)):
        wrong = own_keys(inspection.errors, key, aliases(inspection.props, key))
        for alias, own in own_keys(inspection.props, key, aliases(inspection.props, key)).items():
            # If single keys are wrong, the stage's own rules would only fail on those.
            if not wrong[alias]:
                _check_plugin(inspection, f"{key}.{alias}.", lookup, own)
    for alias in aliases(inspection.props, "transforms"):
        negate, predicate = f"transforms.{alias}.negate", f"transforms.{alias}.predicate"
        predicate_alias = inspection.props.get(predicate)
        if negate in inspection.props and predicate_alias is None:
            text = f"Config '{negate}' was provided but there is no config '{predicate}' defining a predicate"
            inspection.add(f"transforms.{alias}.type", f"{text} to be negated.")
        if predicate_alias is not None and predicate_alias not in known:
            text = f"'{predicate_alias}' is not in `predicates`, which has: {_listed(known) or 'nothing'}"
            inspection.add(predicate, text)


def _listed(known: Sequence[str]) -> str:
    return ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")


def _check_plugin(
    inspection: Inspection, prefix: str, lookup: Callable[..., type[Any]], own: Mapping[str, str]
) -> None:
    plugin = lookup(inspection.props[f"{prefix}type"], key=f"{prefix}type")
    for key, messages in plugin.validate(own).items():
        inspection.add(prefix + key, *messages)


def _check_overrides(inspection: Inspection) -> None:
    for key, messages in override_errors(inspection.props, inspection.worker.props).items():
        inspection.add(key, *messages)


def _check_spark(inspection: Inspection) -> None:
    for key, messages in spark_errors(inspection.props, inspection.worker.get(SPARK_ALLOWED)).items():
        inspection.add(key, *messages)


def _check_coordinates(inspection: Inspection) -> None:
    for key, messages in coordinates_errors(inspection.props, inspection.worker.get(INSTALL)).items():
        inspection.add(key, *messages)


def _check_converter(inspection: Inspection, kind: str) -> None:
    """The sub-configuration of a converter is used only if the connector names the class itself."""
    key = f"{kind}.converter"
    name = inspection.props.get(key)
    if name is None or key in inspection.errors:
        return
    try:
        converter = plugins.registry().converter(name, key=key)
    except ConfigError as error:
        inspection.add(key, *error.errors[key])
        return
    if kind != "header" and getattr(converter, "for_headers_only", False):
        inspection.add(key, f"Invalid value {name} for configuration {key}: it converts only headers")
        return
    if kind == "header" and getattr(converter, "writes_by_topic", False):
        inspection.add(key, f"Invalid value {name} for configuration {key}: it does not convert headers")
        return
    prefix = f"{key}."
    props = inspection.props.items()
    settings = {key.removeprefix(prefix): text for key, text in props if key.startswith(prefix)}
    config_def = converter.config()
    for value in config_def.validate({"converter.type": kind, **settings}):
        full_name = prefix + value.name
        inspection.definition.keys.setdefault(full_name, replace(config_def.keys[value.name], name=full_name))
        inspection.values.setdefault(full_name, replace(value, name=full_name))
    if not any(name.startswith(key) for name in inspection.errors):
        _try_converter(inspection, kind, converter, settings)


def _try_converter(inspection: Inspection, kind: str, converter: type[Any], settings: Mapping[str, str]) -> None:
    """Some problems show only when the converter is created."""
    key = f"{kind}.converter"
    try:
        converter({**settings, "converter.type": kind}, is_key=kind == "key")
    except ConfigError as error:
        for name, messages in error.errors.items():
            inspection.add(f"{key}.{name}", *messages)
    except Exception as error:
        inspection.add(key, _unexpected(error))


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


def _check_group(inspection: Inspection) -> None:
    """A sink that joined the worker's group would be removed from it again and again.

    Into a transaction librdkafka takes offsets only of a group that is printable ASCII; others it calls not "safe".
    """
    worker_group = inspection.worker.group_id
    key = "consumer.override.group.id"
    group, name = inspection.props.get(key), inspection.props.get("name")
    conflict = f"conflicts with Connect worker group {worker_group}"
    if group is not None:
        if group == worker_group:
            inspection.add(key, f"Consumer group {group} {conflict}")
    elif f"connect-{name}" == worker_group:
        inspection.add("name", f"Consumer group for sink connector named {name} {conflict}")
    used = f"connect-{name}" if group is None else group
    if not (used.isascii() and used.isprintable()):
        cure = "rename the connector, or set `consumer.override.group.id`" if group is None else "choose another one"
        text = f"Consumer group {used} is not printable ASCII, and librdkafka commits no other in transactions: {cure}"
        inspection.add("name" if group is None else key, text)


def _warn_of_skipping(inspection: Inspection) -> None:
    topic = "errors.deadletterqueue.topic.name"
    # Connect has dead letters of sinks only.
    keeps = inspection.props.get(topic) and not (inspection.hosted is not None and inspection.kind == "source")
    keeps = keeps or str(inspection.props.get("errors.deadletterqueue.table.enable")).strip().lower() == "true"
    if inspection.props.get("errors.tolerance", "").lower() == "all" and not keeps:
        cure = f"set `{topic}` to keep them"
        if inspection.hosted is not None and inspection.kind == "source":
            cure = "set `errors.log.enable` to see them in the log; Java sources have no dead letters"
        inspection.warnings.append(
            f"`errors.tolerance` all: records that cannot be moved are skipped, and lost; {cure}"
        )


def _warn_of_ignored(inspection: Inspection) -> None:
    inspection.warnings += inspection.definition.ignored(inspection.props)
    key = "producer.override.transactional.id"
    if inspection.kind == "source" and key in inspection.props:
        text = "is ignored: transactional ids are those of Connect, else no run could fence another"
        inspection.warnings.append(f"`{key}` {text}")


def _warn_of_other_meaning(inspection: Inspection, plugin: type[Connector]) -> None:
    """Keys that have an effect, but not the same as in Connect."""
    boundary = inspection.props.get("transaction.boundary", "interval").lower()
    by_tasks = boundary == "connector" and issubclass(plugin, PollSourceConnector) and inspection.worker.exactly_once
    if inspection.kind == "source" and boundary != "interval" and not by_tasks:
        text = "a long split commits every `transaction.boundary.interval.ms`, as with `interval`"
        inspection.warnings.append(f"`transaction.boundary` {boundary} has no effect: {text}")
    most = inspection.value("tasks.max") or 1
    # 1 is the default, and appears in every sample of Connect.
    if most > 1 and not issubclass(plugin, PollSourceConnector) and "kconnect.splits.max" not in inspection.props:
        text = "splits run in parallel, as many as Spark has cores; see `kconnect.splits.max`"
        inspection.warnings.append(f"`tasks.max` does not bound this connector: {text}")


def _warn_of_retries(inspection: Inspection, plugin: type[Connector]) -> None:
    """Only calls of Python tasks are retried."""
    if issubclass(plugin, (PollSourceConnector, PollSinkConnector)):
        return
    for key, default in (("errors.retry.timeout", 0), ("errors.retry.delay.max.ms", 60_000)):
        if inspection.value(key) not in (None, default):
            text = "converters and transformations here never fail for a temporary reason, and Airflow retries the task"
            inspection.warnings.append(f"`{key}` has no effect with this class: {text}")


def _warn_of_unknown(inspection: Inspection) -> None:
    """Keys that nothing reads; often a typo."""
    groups = [*aliases(inspection.props, "topic.creation.groups"), "default"]
    prefixes = [*OVERRIDE_PREFIXES, SPARK_PREFIX]
    if inspection.kind == "source":
        prefixes += [f"{TOPIC_CREATION_PREFIX}{group}." for group in groups]
    known, begins = inspection.definition.keys, tuple(prefixes)
    unknown = [key for key in inspection.props if key not in known and not key.startswith(begins)]
    for number, key in enumerate(unknown):
        similar = []
        if number < _HINTS and len(key) <= _LONGEST_HINTED:
            similar = get_close_matches(key, known, n=1, cutoff=0.85)
        if (text := _unknown(inspection, key, similar)) is not None:
            inspection.warnings.append(text)


def _unknown(inspection: Inspection, key: str, similar: Sequence[str]) -> str | None:
    """A warning; None if the connector itself reads such keys and this one does not resemble any other of them."""
    for kind in CONVERTER_KINDS:
        converter = f"{kind}.converter"
        if key.startswith(f"{converter}.") and converter not in inspection.props:
            return f"`{key}` has no effect: it counts only together with `{converter}` (else the worker's counts)"
    owner, _, name = key.rpartition(".")
    if (new := f"{owner}.{_RENAMED.get(name)}") in inspection.definition.keys:
        return f"`{key}` has no effect since Kafka 4, in which it is called `{new}`"
    hint = f"; did you mean `{similar[0]}`?" if similar else ""
    plugin = inspection.plugin
    if plugin and key.startswith(plugin.open_prefixes):
        return None
    own = [prefix for prefix in (plugin.key_prefixes if plugin else ()) if key.startswith(prefix)]
    if own and not any(name.startswith(prefix) for name in similar for prefix in own):
        return None
    return f"`{key}` is not a known key and may have no effect{hint}"
