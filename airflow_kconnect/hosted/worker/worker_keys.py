"""The configuration of the Connect worker that hosts a connector: derived from the worker configuration of a run."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping

from airflow_kconnect.hosted.worker import run_secrets
from airflow_kconnect.hosted.worker.java_clients import is_librdkafkas, java_client_keys
from airflow_kconnect.hosting.keys import java_props
from airflow_kconnect.variables.resolver import OWN_PROVIDER, java_providers
from airflow_kconnect.variables.secret_keys import is_secret
from airflow_kconnect.variables.syntax import variables_in
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.override_policy import ALLOWLIST, POLICY

# What the run decides itself.
_NOT_PASSED = (
    *("kconnect.", "listeners", "admin.listeners", "rest.", "config.providers", "access.control.", "response.http."),
    *("config.storage.", "status.storage.", "plugin.", "connect.protocol", "worker.", "metrics.context."),
)
# Killed tasks are noticed soon, and no rebalance is delayed for workers that may come back. A producer that is closed
# before it has sent anything of its transaction sleeps until it looks for news of the brokers, or for half a minute.
_QUICK = {
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1000",
    "scheduled.rebalance.max.delay.ms": "0",
    "offset.flush.interval.ms": "1000",
    "producer.metadata.max.age.ms": "1000",
}
# Java's default of 45 s keeps the next run waiting for a consumer that was killed; workers have 6 s, see above.
_SINK_SESSION_MS = "10000"
_SERVERS_SESSION_S = 45.0
_TYPED = ("exactly.once.source.support", "topic.creation.enable", "offset.storage.partitions", POLICY)


def host_worker(worker: WorkerConfig, group: str) -> WorkerConfig:
    """The worker of the group that hosts one connector: with config and status topics of its own.

    The offset topic is the worker's: offsets there have the same keys and values as in any Connect cluster.

    :param group: see `hosted_group`.
    """
    own = {
        "group.id": group,
        "config.storage.topic": f"{group}-configs",
        "status.storage.topic": f"{group}-status",
        "status.storage.partitions": "1",
    }
    return WorkerConfig.from_props({**worker.props, **own})


def worker_properties(host: WorkerConfig) -> dict[str, str]:
    """All keys of Connect's `DistributedConfig`, but for those about plug-ins (`PluginPath.properties`).

    :param host: see `host_worker`; its topics exist.
    :raises ConfigError: Java has nothing for some of the settings by which brokers are reached.
    """
    passed = {
        key: text for key, text in host.props.items() if not key.startswith(_NOT_PASSED) and not is_librdkafkas(key)
    }
    typed = {key: _text(host.get(key)) for key in _TYPED}
    converters = {f"{kind}.converter": str(host.get(f"{kind}.converter")) for kind in ("key", "value", "header")}
    replication = {f"{store}.storage.replication.factor": "-1" for store in ("offset", "config", "status")}
    allowlist = {ALLOWLIST: ",".join(host.get(ALLOWLIST))} if typed[POLICY] == "Allowlist" else {}
    return {
        **_QUICK,
        **typed,
        **converters,
        **passed,
        **java_client_keys(host.props),
        **allowlist,
        **replication,
        "group.id": host.group_id,
        "offset.storage.topic": host.offset_topic,
        "config.storage.topic": host.config_topic,
        "status.storage.topic": host.status_topic,
        "status.storage.partitions": "1",
        # Where values come from that must not be in the config topic, see `handed_over`.
        **_java_providers(host.props),
        "config.providers": ",".join((OWN_PROVIDER, *java_providers(host.props))),
        f"config.providers.{OWN_PROVIDER}.class": run_secrets.CLASS,
    }


def sink_session(worker: Mapping[str, str], props: Mapping[str, str]) -> tuple[dict[str, str], float]:
    """How long a sink's group remembers a consumer that was killed: the worker's key that sets it, and seconds.

    :param worker: its keys. :param props: of the connector; what either sets itself counts.
    """
    places = ((props, "consumer.override."), (worker, "consumer."))
    if given := next(
        (keys[f"{prefix}session.timeout.ms"] for keys, prefix in places if f"{prefix}session.timeout.ms" in keys), None
    ):
        return {}, int(given) / 1000
    if any(f"{prefix}group.protocol" in keys for keys, prefix in places):
        return {}, _SERVERS_SESSION_S  # the newer protocol refuses the key: brokers decide
    return {"consumer.session.timeout.ms": _SINK_SESSION_MS}, int(_SINK_SESSION_MS) / 1000


def connector_properties(props: Mapping[str, str], kind: str, *, create_topics: bool) -> dict[str, str]:
    """The connector's configuration as Connect gets it.

    :param kind: `source` or `sink`.
    :param create_topics: the worker's `topic.creation.enable`: without groups, new topics are as the broker creates
        them.
    """
    result = java_props(props)
    if kind == "source" and create_topics:
        for key in ("partitions", "replication.factor"):
            result.setdefault(f"topic.creation.default.{key}", "-1")
    return result


def _java_providers(worker: Mapping[str, str]) -> dict[str, str]:
    """Classes and parameters of the providers that only Java has."""
    prefixes = tuple(f"config.providers.{name}." for name in java_providers(worker))
    return {key: text for key, text in worker.items() if prefixes and key.startswith(prefixes)}


def handed_over(
    props: Mapping[str, str], unresolved: Mapping[str, object], worker: Mapping[str, object]
) -> tuple[dict[str, str], dict[str, str]]:
    """A configuration in which secrets are references, and the secrets by their names. Variables that only Java can
    resolve stay, and what surrounds them becomes references.

    Connect stores a connector's configuration in the config topic as it was given, and resolves it in memory; the
    configurations of tasks are stored with the references put back.

    The names are random: a text that is not ours cannot refer to any of them, whatever connector or task makes of it.

    :param props: all variables resolved.
    :param unresolved: as the user has written it: what came from a variable is a secret, and so is what looks like one.
    :param worker: its keys, which name the providers that only Java has.
    """
    result, named, java = dict(props), {}, java_providers(worker)
    prefix = f"{secrets.token_hex(16)}_"
    for number, (key, text) in enumerate(sorted(props.items())):
        written = str(unresolved.get(key, text)).strip()
        if not text or not (is_secret(key, text) or written != text):
            continue
        variables = {variable.text for variable in variables_in(written) if variable.provider in java}
        pieces = []
        for part, piece in enumerate(_split(text, variables)):
            if piece in variables:
                pieces.append(piece)
            elif piece:
                name = f"{prefix}{number}" + (f"_{part}" if variables else "")
                pieces.append(f"${{{OWN_PROVIDER}:{name}}}")
                named[name] = piece
        result[key] = "".join(pieces)
    return result, named


def _split(text: str, variables: Iterable[str]) -> list[str]:
    """A text as its variables and what is between them."""
    pattern = "|".join(map(re.escape, sorted(variables)))
    return re.split(f"({pattern})", text) if pattern else [text]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
