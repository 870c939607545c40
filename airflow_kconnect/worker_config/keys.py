"""The worker's configuration: what all connectors share (Kafka, converters, internal topics, policies).

The keys are those of Connect's distributed worker. Keys for parts that do not exist here (a worker's REST server, its
worker group) are accepted and reported in `WorkerConfig.warnings`, so that an existing worker file
can be used as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Type,
    ValidString,
    texts_of,
)
from airflow_kconnect.connect.config.brokers import bootstrap_servers_problem
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config.client_keys import worker_client_errors
from airflow_kconnect.worker_config.internal_topics import InternalTopics
from airflow_kconnect.worker_config.oauth_keys import define_oauth_keys, provider_errors
from airflow_kconnect.worker_config.override_policy import (
    ALLOWLIST,
    DEFAULT_ALLOWLIST,
    DEFAULT_POLICY,
    POLICY,
    unknown_policy,
)
from airflow_kconnect.worker_config.plugin_keys import define_worker_keys
from airflow_kconnect.worker_config.spark_keys import ALLOWED as SPARK_ALLOWED
from airflow_kconnect.worker_config.spark_keys import DEFAULT_ALLOWED, worker_problem

PREVIEW_SOURCES = "kconnect.preview.sources"
TABLE_FORMATS = "kconnect.table.formats.allowed"
DLT_SOURCES = "kconnect.dlt.sources.allowed"
SINGER_TAPS = "kconnect.singer.taps.allowed"
AIRBYTE_SOURCES = "kconnect.airbyte.sources.allowed"
CREATES_INTERNAL_TOPICS = "internal.topics.automatic.creation.enable"
REPLICATION_TEXT = (
    "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster, "
    "or -1 to use the broker's default"
)
PARTITIONS_TEXT = "Number of partitions must be positive, or -1 to use the broker's default"

_STATUS_TOPIC = "connect-status"
_JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"
SIMPLE_HEADER_CONVERTER = "org.apache.kafka.connect.storage.SimpleHeaderConverter"

# Passed unchanged to the Kafka clients, converters and config providers.
_PASS_THROUGH = re.compile(
    r"(producer|consumer|admin|security|sasl|ssl|config\.providers"
    r"|(key|value|header)\.converter|(offset|config|status)\.storage)\..+"
    r"|client\.(id|dns\.lookup)|(request\.timeout|metadata\.max\.age|connections\.max\.idle)\.ms"
    r"|(retry|reconnect)\.backoff(\.max)?\.ms|(send|receive)\.buffer\.bytes|metadata\.recovery\..+"
    r"|kconnect\.oauth\..+\..+"
)
# Known to Connect, without meaning here: there is no worker process.
_WITHOUT_MEANING = re.compile(
    r"listeners|(listeners|admin\.listeners|rest|access\.control|response\.http|inter\.worker"
    r"|metrics?|session|heartbeat|rebalance|scheduled\.rebalance|worker)\..+"
    r"|topic\.tracking\.allow\.reset|admin\.listeners|connect\.protocol|ssl\.client\.auth|offset\.storage\.file\.filename"
    r"|(key|value|header)\.converter\.plugin\.version|plugin\.discovery"
)

# Keys of Connect's own clients that the clients here accept only under a prefix.
_NEEDS_PREFIX = re.compile(
    r"client\.id|connections\.max\.idle\.ms|(retry|reconnect)\.backoff(\.max)?\.ms"
    r"|(send|receive)\.buffer\.bytes|metadata\.recovery\..+"
)
_COMMITS = (
    "sources commit every `transaction.boundary.interval.ms` of the connector and at the end of a split, sinks after "
    "each round"
)


@dataclass(frozen=True)
class WorkerConfig:
    """A valid worker configuration. Create it with `from_props`.

    :param props: all keys as text, trimmed.
    :param parsed: typed values of the keys of `worker_config_def`, defaults included.
    :param warnings: keys that have no effect.
    """

    props: Mapping[str, str] = field(repr=False)
    parsed: Mapping[str, Any] = field(repr=False)
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_props(cls, props: Mapping[str, Any]) -> WorkerConfig:
        """Parse and validate; makes no connections.

        :raises ConfigError: with all errors.
        """
        texts, errors = texts_of(props)
        errors |= worker_client_errors(texts)
        errors |= provider_errors(texts)
        try:
            parsed = worker_config_def().parse(props)
        except ConfigError as error:
            raise ConfigError(errors | error.errors) from None
        if errors:
            raise ConfigError(errors)
        return cls(texts, parsed, tuple(_warnings(texts)))

    @classmethod
    def defaults(cls) -> WorkerConfig:
        """The worker that is assumed if none is given: all defaults, Kafka on this machine."""
        return cls.from_props({"bootstrap.servers": "localhost:9092"})

    @property
    def exactly_once(self) -> bool:
        """Whether source connectors may run exactly once; `preparing` is not enough, as in Connect."""
        return str(self.parsed["exactly.once.source.support"]).lower() == "enabled"

    @property
    def group_id(self) -> str:
        """The first part of all transactional ids."""
        return str(self.parsed["group.id"])

    @property
    def offset_topic(self) -> str:
        """Where sources keep their offsets, unless they have a topic of their own, and sinks a copy of theirs."""
        return str(self.parsed["offset.storage.topic"])

    @property
    def config_topic(self) -> str:
        """Where target states are kept; a control plane keeps connectors and their tasks there, too."""
        return str(self.parsed["config.storage.topic"])

    @property
    def status_topic(self) -> str:
        """Where the statuses of connectors and tasks are kept; see `writes_statuses`."""
        return str(self.parsed["status.storage.topic"] or _STATUS_TOPIC)

    @property
    def writes_statuses(self) -> bool:
        """Whether runs write statuses: only if the worker names a topic for them, which may be an empty text."""
        return bool(self.props.get("status.storage.topic", "").strip())

    @property
    def single_writer(self) -> bool:
        """Whether the config topic has a single writer, which fences others (KIP-618)."""
        return str(self.parsed["exactly.once.source.support"]).lower() != "disabled"

    def offset_topic_of(self, source: Mapping[str, Any]) -> str:
        """Where a source keeps its offsets: its own ``offsets.storage.topic``, else the worker's.

        :param source: keys of the connector, as text or typed.
        """
        return str(source.get("offsets.storage.topic") or self.offset_topic)

    def get(self, key: str) -> Any:
        """Typed value of a known key, text of any other, None if it is not set."""
        return self.parsed.get(key, self.props.get(key))

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """Keys under a prefix such as `producer.`, without the prefix."""
        return {key.removeprefix(prefix): text for key, text in self.props.items() if key.startswith(prefix)}


@cache
def worker_config_def() -> ConfigDef:
    """The worker's keys.

    Two defaults differ from Connect's, because exactly-once without setup is the purpose of this package:
    `exactly.once.source.support` is `enabled` (Connect: `disabled`), and the keys that Connect requires have the values
    of its sample files.
    """
    definition = ConfigDef()
    _define_kafka(definition)
    define_oauth_keys(definition)
    _define_converters(definition)
    _define_internal_topics(definition)
    _define_sources(definition)
    _define_what_connectors_may_do(definition)
    _define_flushing(definition)
    define_worker_keys(definition)
    return definition


def _define_kafka(definition: ConfigDef) -> None:
    definition.define(
        "bootstrap.servers",
        Type.LIST,
        importance=Importance.HIGH,
        documentation="Kafka brokers to start from, host:port, comma-separated.",
        validator=LambdaValidator(bootstrap_servers_problem),
    ).define(
        "group.id",
        Type.STRING,
        "kconnect",
        Importance.HIGH,
        "Name of this installation, the first part of all transactional ids. Connect requires this key; to take "
        "over connectors from a Connect cluster, or give them back, use that cluster's value.",
        validator=NonEmptyString(),
    )


def _define_converters(definition: ConfigDef) -> None:
    for kind, default in (("key", _JSON_CONVERTER), ("value", _JSON_CONVERTER), ("header", SIMPLE_HEADER_CONVERTER)):
        definition.define(
            f"{kind}.converter",
            Type.CLASS,
            default,
            Importance.HIGH if kind != "header" else Importance.LOW,
            f"Converter of record {kind}s for connectors that name none; its settings are `{kind}.converter.*`.",
        )


def _define_internal_topics(definition: ConfigDef) -> None:
    for kind, topic, partitions, documentation in (
        ("offset", "connect-offsets", 25, "Compacted topic of the offsets of sources, the same as Connect's."),
        ("config", "connect-configs", None, "Compacted topic of target states, the same as Connect's."),
        ("status", _STATUS_TOPIC, 5, "Compacted topic of the statuses of connectors and tasks, the same as "
         "Connect's. Runs of Airflow tasks and of `kconnect` write them there unless the text is empty; records of "
         "sources may not go to the topic in any case."),
    ):  # fmt: skip
        definition.define(
            f"{kind}.storage.topic",
            Type.STRING,
            topic,
            Importance.HIGH,
            documentation,
            validator=None if kind == "status" else NonEmptyString(),
        )
        if partitions is not None:
            definition.define(
                f"{kind}.storage.partitions",
                Type.INT,
                partitions,
                Importance.LOW,
                "Partitions of the topic when it is created; -1 is the broker's default.",
                validator=minus_one_or_positive(PARTITIONS_TEXT),
            )
        definition.define(
            f"{kind}.storage.replication.factor",
            Type.SHORT,
            3,
            Importance.LOW,
            "Replication factor of the topic when it is created; -1 is the broker's default. If it is not set, a "
            "cluster of fewer than 3 brokers uses the broker's default, where Connect would fail.",
            validator=minus_one_or_positive(REPLICATION_TEXT),
        )


def _define_sources(definition: ConfigDef) -> None:
    definition.define(
        "exactly.once.source.support",
        Type.STRING,
        "enabled",
        Importance.HIGH,
        "Whether source connectors write records and offsets in one transaction (KIP-618). Connect's default is "
        "`disabled`.",
        validator=ValidString.in_case_insensitive("disabled", "preparing", "enabled"),
    ).define(
        "topic.creation.enable",
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether missing topics of sources are created, as `topic.creation.*` says or with the broker's defaults. If "
        "not, a missing topic is an error.",
    ).define(
        CREATES_INTERNAL_TOPICS,
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether missing topics of the worker (offsets, configurations, statuses, offset topics of connectors) are "
        "created, as in Kafka Connect 4.4. If not, a missing one is an error.",
    ).define(
        "topic.tracking.enable",
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether runs record in the status topic which topics a connector uses (KIP-558).",
    ).define(
        "topic.tracking.allow.reset",
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether the REST API may reset which topics a connector has used.",
    )


def _define_what_connectors_may_do(definition: ConfigDef) -> None:
    definition.define(
        POLICY,
        Type.STRING,
        DEFAULT_POLICY,
        Importance.MEDIUM,
        "Which client settings connectors may override: All, None, Principal or Allowlist. Connect's default is `All` "
        "before Kafka 5.0. Settings that load code, run programs or name token servers are refused by each of them. "
        "With `All` a connector may name other brokers, which get the worker's login, and files of certificates.",
        validator=LambdaValidator(unknown_policy),
    ).define(
        ALLOWLIST,
        Type.LIST,
        list(DEFAULT_ALLOWLIST),
        Importance.MEDIUM,
        "Client settings that the policy Allowlist allows (KIP-1188), instead of the default, which is sizes, "
        "timeouts, the principal and what has no effect here. Connect's default is empty.",
    ).define(
        "kconnect.jdbc.drivers.allowed",
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Which JDBC drivers connectors may bring along with `kconnect.jdbc.driver.coordinates` and "
        "`kconnect.jdbc.driver.path`, besides those of PostgreSQL, MySQL, MariaDB, SQLite, DuckDB, H2 and HSQLDB: "
        "Maven coordinates (`group:artifact`, or with a version), jars and folders of jars (absolute paths), or `*` "
        "for any. A driver is code that runs in the job. Drivers in Spark's own jars need no entry. So are H2, HSQLDB "
        "and Derby databases that run within the job, since their SQL and their files can call Java code: `jdbc:h2`, "
        "`jdbc:hsqldb` and `jdbc:derby` allow those. Databases of servers need no entry.",
        validator=LambdaValidator(_bad_drivers),
    ).define(
        SPARK_ALLOWED,
        Type.LIST,
        list(DEFAULT_ALLOWED),
        Importance.MEDIUM,
        "Which Spark settings connectors may bring along as `kconnect.spark.conf.<setting>`, instead of the default, "
        "which is memory, cores and numbers of partitions. Settings that load code or name masters, files, addresses "
        "or logins are refused in any list.",
        validator=LambdaValidator(worker_problem),
    ).define(
        TABLE_FORMATS,
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Which formats of Spark, besides Iceberg and Delta Lake, connectors may write with any options "
        "(`table.format`, `table.write.*`), or `*` for all. Files of Avro, CSV, JSON, ORC and Parquet need no entry "
        "for options that only say how they look. A format is code that runs in the job and reaches what the job does.",
    ).define(
        DLT_SOURCES,
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Which sources of dlt connectors may name as `dlt.source`, besides `rest_api`, `sql_database` and `filesystem` "
        "that dlt brings along: modules (`my_sources`), functions (`my_sources:shop`), or `*` for any. A source is "
        "code that runs in the job.",
    ).define(
        SINGER_TAPS,
        Type.LIST,
        [],
        Importance.MEDIUM,
        "Which taps of Singer connectors may run: packages (`tap-github`), which are installed in any version and from "
        "the usual index, requirements with an address exactly as they are, absolute paths of programs, or `*` for "
        "any. The same goes for what connectors add to their environments. A tap is code that runs where the job does.",
    ).define(
        AIRBYTE_SOURCES,
        Type.LIST,
        [],
        Importance.MEDIUM,
        f"The same for sources of Airbyte connectors (`airbyte-source-github`), as `{SINGER_TAPS}` for taps.",
    ).define(
        PREVIEW_SOURCES,
        Type.BOOLEAN,
        False,
        Importance.LOW,
        "Whether a server of the REST API may read what a source would read next, for previews, and connect to what "
        "a configuration names, for forms. It does so on its own machine and with its own rights: anyone who may "
        "change connectors then sees files and databases that it can reach. `kconnect rest` may unless this is false.",
    ).define("config.providers", Type.LIST, [], Importance.LOW, "Aliases of configuration providers.")


def _define_flushing(definition: ConfigDef) -> None:
    for key, default, documentation, without_effect in (
        (
            "offset.flush.interval.ms",
            60000,
            "How often the task of a Python sink has to flush what it was put (`pre_commit`); its offsets are "
            "committed after each round. Sources commit every `transaction.boundary.interval.ms`.",
            "",
        ),
        ("offset.flush.timeout.ms", 5000, "How long Connect waits for a commit of offsets.", _COMMITS),
        ("task.shutdown.graceful.timeout.ms", 5000, "How long the tasks of a Python source have to stop.", ""),
    ):
        definition.define(
            key,
            Type.LONG,
            default,
            Importance.LOW,
            documentation,
            validator=Range.at_least(0),
            without_effect=without_effect,
        )


def minus_one_or_positive(message: str) -> LambdaValidator:
    """Validator for partitions and replication factors: null, -1 and numbers from 1 pass."""

    def rule(name: str, value: Any) -> str | None:
        return None if value is None or value == -1 or value >= 1 else message

    return LambdaValidator(rule)


def _warnings(props: Mapping[str, str]) -> list[str]:
    warnings = worker_config_def().ignored(props)
    for key in props:
        if key in worker_config_def().keys:
            continue
        if _NEEDS_PREFIX.fullmatch(key):
            warnings.append(f"`{key}` has no effect: write it below `producer.`, `consumer.` or `admin.`")
        elif _WITHOUT_MEANING.fullmatch(key):
            warnings.append(f"`{key}` has no effect: there is no Connect worker process here")
        elif not _PASS_THROUGH.fullmatch(key):
            warnings.append(f"`{key}` is not a key of the worker configuration and has no effect")
    return warnings


def _bad_drivers(name: str, entries: list[str]) -> str | None:
    known = re.compile(r"\*|/.+|jdbc:(h2|hsqldb|derby)|[\w.-]+:[\w.-]+(:[\w.-]+)?")
    wrong = [entry for entry in entries if not known.fullmatch(entry)]
    return (
        f"expected group:artifact, group:artifact:version, an absolute path, jdbc:h2 or *; not {', '.join(wrong)}"
        if wrong
        else None
    )


def internal_topics_of(worker: WorkerConfig) -> InternalTopics:
    """Topics that no connector may read by a pattern, or write to."""
    topics = (worker.offset_topic, worker.config_topic, worker.status_topic)
    return InternalTopics(frozenset(topics), worker.group_id)
