"""The configuration keys of every connector: Connect's common, source and sink keys, and our own.

Groups, order, types and defaults are those of ConnectorConfig, SourceConnectorConfig and SinkConnectorConfig.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.config import (
    NO_DEFAULT,
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    NonEmptyStringWithoutControlChars,
    Range,
    Recommender,
    Regex,
    Type,
    Validator,
    ValidList,
    ValidString,
    Width,
    all_of,
    nullable,
)
from airflow_kconnect.hosting.keys import define_hosted_keys
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.runs.warnings import ALL, FAIL_ON_WARNING, Kind
from airflow_kconnect.validation.dag_keys import define_dag_keys
from airflow_kconnect.worker_config.keys import REPLICATION_TEXT, WorkerConfig, minus_one_or_positive

COMMON = "Common"
TRANSFORMS = "Transforms"
PREDICATES = "Predicates"
ERRORS = "Error Handling"
TOPIC_CREATION = "Topic Creation"
EXACTLY_ONCE = "Exactly Once Support"
OFFSETS_TOPIC = "offsets.topic"
KCONNECT = "kconnect"

CONVERTER_KINDS = ("key", "value", "header")

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW

VERSION_TEXT = "Version, a range of versions such as `[4.0,5.0)`, or `latest`. One that is not installed is an error."
_DOCS = {
    "name": "Name of the connector, unique in this installation.",
    "connector.class": "Class of the connector: full name, simple name, or simple name without `Connector`.",
    "connector.plugin.version": VERSION_TEXT,
    "tasks.max": "Most parallel tasks of a Python source. Other connectors are divided into splits: see "
    "`kconnect.splits.max`.",
    "tasks.max.enforce": "Whether more tasks than `tasks.max` are an error. Deprecated in Connect (KIP-1004).",
    "transforms": "Aliases of the transformations, in the order in which they run.",
    "predicates": "Aliases of the predicates that transformations use.",
    "config.action.reload": "What Connect does when a secret expires.",
    "errors.retry.timeout": "How long a failed operation is retried, in ms; 0: not at all, -1: as long as the "
    "run may take. Operations are `poll` and `put` of connectors in Python that raise a `RetriableError`.",
    "errors.retry.delay.max.ms": "Longest pause between two such retries, in ms.",
    "errors.tolerance": "`none`: the first bad record fails the run; `all`: bad records are skipped.",
    "errors.log.enable": "Whether tolerated errors are logged.",
    "errors.log.include.messages": "Whether these log lines name the record: topic, partition, offset, timestamp. Keys "
    "and values are not logged, except where the text of an error quotes them.",
    "errors.deadletterqueue.topic.name": "Topic for the records that failed; empty: none.",
    "errors.deadletterqueue.topic.replication.factor": "Replication factor of that topic when it is created; -1 is the "
    "broker's default. If it is not set, a cluster of fewer than 3 brokers uses the broker's default, where Connect "
    "would fail.",
    "errors.deadletterqueue.context.headers.enable": "Whether headers say where and why a record failed.",
    "topic.creation.groups": "Groups of settings for the topics that the connector creates; the first match wins.",
    "exactly.once.support": "`required`: refuse a configuration that cannot be exactly once; or `requested`.",
    "transaction.boundary": "`interval`: a long split commits every `transaction.boundary.interval.ms`, and `poll` "
    "means the same here. `connector`: tasks of a connector in Python that supports it say where transactions end.",
    "transaction.boundary.interval.ms": "How often a long split commits, in ms; default here: 10 s.",
    "offsets.storage.topic": "An offsets topic for this connector alone; default: the worker's.",
    "topics": "Topics to read, comma-separated.",
    "topics.regex": "Regular expression (Java's) of the topics to read; either this or `topics`.",
    "kconnect.max.records": "Most records that one run handles; not set: all records available.",
    "kconnect.max.duration.ms": "A run stops at the next commit after this time; not set: when it has caught up.",
    "kconnect.replay.topic.suffix": "Records of replayed intervals go to topics whose names have this at their end; "
    "empty: to the same topics as always.",
    "kconnect.splits.max": "Most parallel splits per source partition (file) or topic-partition; 1 keeps its order; "
    "not set: chosen from the size.",
    FAIL_ON_WARNING: "Kinds of warnings with which a run ends as an error, after it has committed what it moved: "
    f"{', '.join(Kind)}, or `{ALL}`. Empty: none.",
}

# Connect's keys that are accepted but not used, and why.
_WITHOUT_EFFECT = {
    "config.action.reload": "each run reads secrets afresh",
    "tasks.max.enforce": "more tasks than `tasks.max` are always an error",
}


@dataclass(frozen=True)
class KnownPlugins:
    """Recommends the installed plugins of a group."""

    group: str

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return plugins.registry().names(self.group)

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return True


def _duplicate_alias(name: str, aliases: list[str]) -> str | None:
    return "Duplicate alias provided." if len(set(aliases)) < len(aliases) else None


def _unbounded(name: str, aliases: Sequence[str] | None) -> str | None:
    if len(aliases or ()) > MOST_ALIASES:
        return f"at most {MOST_ALIASES} entries are accepted"
    if any(len(alias) > LONGEST_ALIAS for alias in aliases or ()):
        return f"an entry has at most {LONGEST_ALIAS} characters"
    return None


_ALIASES = all_of(LambdaValidator(_duplicate_alias), ValidList(), LambdaValidator(_unbounded))
MOST_ALIASES, LONGEST_ALIAS = 200, 200
"""Of transformations, predicates and groups of topics: each brings keys, and each key takes time to check."""


class _Keys:
    """Defines the keys of a group one after the other."""

    def __init__(self, definition: ConfigDef, group: str, first: int = 1) -> None:
        self._definition, self._group, self._order = definition, group, first

    def add(
        self,
        name: str,
        title: str,
        type_: Type,
        default: Any,
        importance: Importance,
        width: Width,
        validator: Validator | None = None,
        *,
        group: str | None = None,
        documentation: str = "",
        recommender: Recommender | None = None,
    ) -> None:
        self._definition.define(
            name,
            type_,
            default,
            importance,
            documentation or _DOCS[name],
            validator=validator,
            group=group or self._group,
            order_in_group=self._order,
            width=width,
            display_name=title,
            recommender=recommender,
            without_effect=_WITHOUT_EFFECT.get(name, ""),
        )
        self._order += 1


def common_config(worker: WorkerConfig | None = None) -> ConfigDef:
    """Keys of every connector (ConnectorConfig).

    :param worker: provides the defaults of the converters; without it they are null.
    """
    definition = ConfigDef()
    keys = _Keys(definition, COMMON)
    name = NonEmptyStringWithoutControlChars()
    keys.add("name", "Connector name", Type.STRING, NO_DEFAULT, _HIGH, Width.MEDIUM, name)
    keys.add("connector.class", "Connector class", Type.STRING, NO_DEFAULT, _HIGH, Width.LONG)
    keys.add("connector.plugin.version", "Connector version", Type.STRING, None, _MEDIUM, Width.MEDIUM)
    keys.add("tasks.max", "Tasks max", Type.INT, 1, _HIGH, Width.SHORT, Range.at_least(1))
    keys.add("tasks.max.enforce", "Enforce tasks max", Type.BOOLEAN, True, _LOW, Width.SHORT)
    for kind in CONVERTER_KINDS:
        _add_converter(keys, kind, worker)
    for key, group in (("transforms", TRANSFORMS), ("predicates", PREDICATES)):
        keys.add(key, group, Type.LIST, [], _LOW, Width.LONG, _ALIASES, group=group)
    reload = ValidString.in_("none", "restart")
    keys.add("config.action.reload", "Reload Action", Type.STRING, "restart", _LOW, Width.MEDIUM, reload)
    _define_error_handling(definition)
    return definition


def source_config(worker: WorkerConfig | None = None) -> ConfigDef:
    """Keys of every source connector (SourceConnectorConfig), and ours.

    In Connect only sinks have the dead-letter keys; here sources have dead letters too.
    """
    definition = common_config(worker)
    keys = _Keys(definition, TOPIC_CREATION)
    title = "Topic Creation Groups"
    keys.add("topic.creation.groups", title, Type.LIST, [], _LOW, Width.LONG, _ALIASES)
    _define_exactly_once(definition)
    keys = _Keys(definition, OFFSETS_TOPIC)
    not_empty = NonEmptyString()
    keys.add("offsets.storage.topic", "Offsets topic", Type.STRING, None, _LOW, Width.LONG, not_empty)
    _define_dead_letters(definition)
    _define_kconnect(definition)
    _define_source_replay(definition)
    define_hosted_keys(definition)
    define_dag_keys(definition)
    return definition


def sink_config(worker: WorkerConfig | None = None) -> ConfigDef:
    """Keys of every sink connector (SinkConnectorConfig), and ours."""
    definition = common_config(worker)
    keys = _Keys(definition, COMMON, first=4)
    keys.add("topics", "Topics", Type.LIST, [], _HIGH, Width.LONG, ValidList())
    keys = _Keys(definition, COMMON, first=4)
    keys.add("topics.regex", "Topics regex", Type.STRING, "", _HIGH, Width.LONG, Regex())
    _define_dead_letters(definition)
    _define_kconnect(definition)
    define_hosted_keys(definition)
    define_dag_keys(definition)
    return definition


def _add_converter(keys: _Keys, kind: str, worker: WorkerConfig | None) -> None:
    default = worker.get(f"{kind}.converter") if worker else None
    keys.add(
        f"{kind}.converter",
        f"{kind.capitalize()} converter class",
        Type.CLASS,
        default,
        _LOW,
        Width.SHORT,
        documentation=f"Converter between Connect's data and the bytes of record {kind}s. Default: the worker's, "
        f"together with the worker's `{kind}.converter.*`.",
        recommender=KnownPlugins(plugins.CONVERTERS),
    )
    keys.add(
        f"{kind}.converter.plugin.version",
        f"{kind.capitalize()} converter version",
        Type.STRING,
        None,
        _LOW,
        Width.SHORT,
        documentation=VERSION_TEXT,
    )


def _define_error_handling(definition: ConfigDef) -> None:
    keys = _Keys(definition, ERRORS)
    longest, include = "Maximum Delay Between Retries for Errors", "errors.log.include.messages"
    tolerance = ValidString.in_("none", "all")
    keys.add("errors.retry.timeout", "Retry Timeout for Errors", Type.LONG, 0, _MEDIUM, Width.MEDIUM)
    keys.add("errors.retry.delay.max.ms", longest, Type.LONG, 60000, _MEDIUM, Width.MEDIUM)
    keys.add("errors.tolerance", "Error Tolerance", Type.STRING, "none", _MEDIUM, Width.SHORT, tolerance)
    keys.add("errors.log.enable", "Log Errors", Type.BOOLEAN, False, _MEDIUM, Width.SHORT)
    keys.add(include, "Log Error Details", Type.BOOLEAN, False, _MEDIUM, Width.SHORT)


def _define_dead_letters(definition: ConfigDef) -> None:
    keys = _Keys(definition, ERRORS, first=6)
    prefix = "errors.deadletterqueue"
    factor, headers = f"{prefix}.topic.replication.factor", f"{prefix}.context.headers.enable"
    replication = minus_one_or_positive(REPLICATION_TEXT)
    keys.add(f"{prefix}.topic.name", "Dead Letter Queue Topic Name", Type.STRING, "", _MEDIUM, Width.MEDIUM)
    keys.add(factor, "Dead Letter Queue Topic Replication Factor", Type.SHORT, 3, _MEDIUM, Width.MEDIUM, replication)
    keys.add(headers, "Enable Error Context Headers", Type.BOOLEAN, False, _MEDIUM, Width.MEDIUM)


def _define_exactly_once(definition: ConfigDef) -> None:
    keys = _Keys(definition, EXACTLY_ONCE, first=2)
    support = ValidString.in_case_insensitive("requested", "required")
    boundary = ValidString.in_case_insensitive("poll", "interval", "connector")
    interval, title = "transaction.boundary.interval.ms", "Transaction boundary interval"
    positive = nullable(Range.at_least(0))
    args = (_MEDIUM, Width.SHORT)
    keys.add("exactly.once.support", "Exactly once support", Type.STRING, "requested", *args, support)
    keys.add("transaction.boundary", "Transaction Boundary", Type.STRING, "poll", *args, boundary)
    keys.add(interval, title, Type.LONG, None, _LOW, Width.SHORT, positive)


def _define_kconnect(definition: ConfigDef) -> None:
    keys = _Keys(definition, KCONNECT)
    positive = nullable(Range.at_least(1))
    keys.add("kconnect.max.records", "Records per run", Type.LONG, None, _MEDIUM, Width.SHORT, positive)
    keys.add("kconnect.max.duration.ms", "Time per run", Type.LONG, None, _MEDIUM, Width.SHORT, positive)
    keys.add("kconnect.splits.max", "Splits per partition", Type.INT, None, _MEDIUM, Width.SHORT, positive)
    kinds = ValidList.in_(*Kind, ALL)
    keys.add(FAIL_ON_WARNING, "Fail on warnings", Type.LIST, [], _MEDIUM, Width.MEDIUM, kinds)


def _define_source_replay(definition: ConfigDef) -> None:
    keys = _Keys(definition, KCONNECT, first=5)
    keys.add("kconnect.replay.topic.suffix", "Suffix of replays", Type.STRING, "", _LOW, Width.SHORT)
