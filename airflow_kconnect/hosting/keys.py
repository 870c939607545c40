"""The keys of hosted connectors, and what of a configuration the Java class itself gets to see."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Type,
    nullable,
)
from airflow_kconnect.worker_config.plugin_keys import define_connector_key

HOSTED = "kconnect.hosted"
GROUP_ID = "kconnect.hosted.group.id"
IDLE_MS = "kconnect.hosted.idle.ms"
MEMORY = "kconnect.hosted.memory"
OWN_JVM = "kconnect.hosted.own.jvm"
START_TIMEOUT_MS = "kconnect.hosted.start.timeout.ms"
WORKERS = "kconnect.hosted.workers"

_OWN = "kconnect."
# Only a worker has these: Kafka's clients would load any class that a connector names there.
_PROVIDERS = "config.providers"
_MEMORY = re.compile(r"[1-9]\d{0,8}[mMgG]")
_GROUP = "hosted connectors"


def define_hosted_keys(definition: ConfigDef) -> None:
    """Add the keys that say how a Java class is run.

    They are defined for every connector: which kind it is depends on what is installed.
    """
    definition.define(
        HOSTED,
        Type.BOOLEAN,
        None,
        Importance.LOW,
        "Whether the Java class below `plugin.path` runs, hosted in a Connect worker of the run. Not set: only if "
        "there is no connector of that name here.",
        group=_GROUP,
    ).define(
        MEMORY,
        Type.STRING,
        "512m",
        Importance.MEDIUM,
        "Java heap of a hosted connector's worker, such as 512m or 2g.",
        validator=LambdaValidator(_bad_memory),
        group=_GROUP,
    ).define(
        IDLE_MS,
        Type.LONG,
        5000,
        Importance.MEDIUM,
        "A hosted source has caught up when its tasks have delivered nothing for so long, in ms. Make it longer than a "
        "source needs between two records that belong together, such as pages of an HTTP answer. Not set: 15000 for "
        "Debezium's connectors if the end of the database's log is not known.",
        validator=Range.at_least(100),
        group=_GROUP,
    ).define(
        START_TIMEOUT_MS,
        Type.LONG,
        300_000,
        Importance.LOW,
        "How long a hosted connector and its tasks may take to start, and how long a source may work on its first "
        "record, in ms.",
        validator=Range.at_least(1000),
        group=_GROUP,
    ).define(
        GROUP_ID,
        Type.STRING,
        None,
        Importance.LOW,
        "The `group.id` of a hosted connector's worker, from which transactional ids derive. Not set: "
        "`<group.id of the worker>-<name>`. A connector that was taken over from a Connect cluster has that cluster's, "
        "so that tasks which were left behind there are fenced.",
        validator=nullable(NonEmptyString()),
        group=_GROUP,
    )
    definition.define(
        WORKERS,
        Type.INT,
        None,
        Importance.MEDIUM,
        "In how many Connect workers a hosted connector's tasks run at most, each in a JVM of its own: one next to the "
        "Spark driver, the others on executors. Not set: as many as `tasks.max`. On a local master there is one.",
        validator=nullable(Range.at_least(1)),
        group=_GROUP,
    )
    definition.define(
        OWN_JVM,
        Type.BOOLEAN,
        False,
        Importance.LOW,
        "Whether a hosted connector has a JVM of its own also in a job of several connectors. These otherwise share "
        "one, as those on a Connect worker do: code of a plug-in could then read the secrets of the others, and a JVM "
        "that ends takes all of its runs with it.",
        group=_GROUP,
    )
    define_connector_key(definition, _GROUP)


def hosted_group(props: Mapping[str, str], worker_group: str) -> str:
    """`group.id` of the ephemeral worker of a hosted connector.

    :param props: of the connector.
    :param worker_group: `group.id` of the worker configuration.
    """
    return props.get(GROUP_ID) or f"{worker_group}-{props['name']}"


def java_props(props: Mapping[str, str]) -> dict[str, str]:
    """What the Java class gets: everything but our own keys, and config providers, which only a worker defines."""
    kept = {key: text for key, text in props.items() if not key.startswith((_OWN, f"{_PROVIDERS}."))}
    return {key: text for key, text in kept.items() if key != _PROVIDERS}


def consumer_key(key: str, props: Mapping[str, str], worker: Mapping[str, str]) -> str | None:
    """How a key of the consumers of a hosted sink is set; None: it is not.

    :param props: of the connector. :param worker: the worker's keys.
    """
    return props.get(f"consumer.override.{key}", worker.get(f"consumer.{key}"))


def _bad_memory(name: str, text: str) -> str | None:
    return None if _MEMORY.fullmatch(text) else "expected megabytes or gigabytes, for example 512m or 2g"
