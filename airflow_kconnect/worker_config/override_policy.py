"""Which client settings a connector may override: Connect's ConnectorClientConfigOverridePolicy.

Connect's policies are not enough here: librdkafka has settings that load code, run programs, and read files or
addresses. A connector may use none of these, whatever the policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from airflow_kconnect.worker_config.client_keys import CLIENTS, refused, translated, worker_client_keys
from airflow_kconnect.worker_config.oauth_keys import default_protocol

POLICY = "connector.client.config.override.policy"
ALLOWLIST = "connector.client.config.override.allowlist"

_PACKAGE = "org.apache.kafka.connect.connector.policy"
_PRINCIPAL_KEYS = ("sasl.jaas.config", "sasl.mechanism", "security.protocol")

OVERRIDE_PREFIXES = tuple(f"{client}.override." for client in CLIENTS)

DEFAULT_POLICY = "Allowlist"
HARMLESS = (
    *("auto.offset.reset", "batch.num.messages", "batch.size", "buffer.memory", "check.crcs", "compression.codec"),
    *("compression.gzip.level", "compression.level", "compression.lz4.level", "compression.type"),
    *("compression.zstd.level", "connections.max.idle.ms", "default.api.timeout.ms", "delivery.timeout.ms"),
    *("fetch.error.backoff.ms", "fetch.max.bytes", "fetch.max.wait.ms", "fetch.message.max.bytes", "fetch.min.bytes"),
    *("fetch.queue.backoff.ms", "fetch.wait.max.ms", "heartbeat.interval.ms", "linger.ms", "max.block.ms"),
    *("max.in.flight", "max.in.flight.requests.per.connection", "max.partition.fetch.bytes", "max.poll.interval.ms"),
    *("max.poll.records", "max.request.size", "message.copy.max.bytes", "message.max.bytes"),
    *("message.send.max.retries", "message.timeout.ms", "metadata.max.age.ms"),
    *("metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.strategy", "queue.buffering.max.kbytes"),
    *("queue.buffering.max.messages", "queue.buffering.max.ms", "queued.max.messages.kbytes", "queued.min.messages"),
    *("receive.buffer.bytes", "receive.message.max.bytes", "reconnect.backoff.max.ms", "reconnect.backoff.ms"),
    *("request.timeout.ms", "retries", "retry.backoff.max.ms", "retry.backoff.ms", "send.buffer.bytes"),
    *("session.timeout.ms", "socket.connection.setup.timeout.max.ms", "socket.connection.setup.timeout.ms"),
    *("socket.keepalive.enable", "socket.nagle.disable", "socket.receive.buffer.bytes", "socket.send.buffer.bytes"),
    *("socket.timeout.ms", "sticky.partitioning.linger.ms", "topic.metadata.refresh.interval.ms"),
    *("transaction.timeout.ms", "client.id", "client.rack"),
)  # fmt: skip
"""Sizes, frequencies, timeouts, and names for quotas and logs."""

_IDENTITY = (
    *("group.id", "group.instance.id", "sasl.jaas.config", "sasl.mechanism"),
    *("sasl.mechanisms", "sasl.password", "sasl.username", "security.protocol", "ssl.certificate.pem"),
    *("ssl.key.password", "ssl.key.pem", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.type"),
)  # fmt: skip
"""A principal of the connector's own, and groups."""

_OF_RUNS = (
    *("acks", "client.dns.lookup", "enable.auto.commit", "enable.auto.offset.store", "enable.idempotence"),
    *("interceptor.classes", "isolation.level", "key.deserializer", "key.serializer", "partition.assignment.strategy"),
    *("partitioner", "partitioner.class", "request.required.acks", "transactional.id", "value.deserializer"),
    "value.serializer",
)  # fmt: skip
"""Set by every run itself, so these have no effect."""

_SERIALIZERS = ("key.serializer", "value.serializer", "key.deserializer", "value.deserializer")
# Connect leaves what is read of open transactions to connectors.
_OF_RUNS_IN_JAVA = tuple(key for key in _OF_RUNS if key != "isolation.level")

DEFAULT_ALLOWLIST = (*HARMLESS, *_IDENTITY, *_OF_RUNS)
"""Client settings that connectors may override unless the worker says otherwise."""

# Files, addresses and logins that only a worker may set, a mock instead of a login, and excessive logging.
_OF_WORKERS = re.compile(r"sasl\.oauthbearer\..*|https\..*|enable\.sasl\.oauthbearer\.unsecure\.jwt|debug")

_ALLOWED: dict[str, Callable[[str, Collection[str]], bool]] = {
    "All": lambda key, allowlist: True,
    "None": lambda key, allowlist: False,
    "Principal": lambda key, allowlist: key in _PRINCIPAL_KEYS,
    "Allowlist": lambda key, allowlist: key in allowlist,
}


def policy_name(text: str) -> str | None:
    """Short name of a policy given by short name, simple or full class name; None if it is unknown."""
    for name in _ALLOWED:
        simple = f"{name}ConnectorClientConfigOverridePolicy"
        if text in (name, simple, f"{_PACKAGE}.{simple}"):
            return name
    return None


def unknown_policy(key: str, value: str) -> str | None:
    """Validator for the worker's key: the message if the policy is unknown."""
    if policy_name(value):
        return None
    return f"Unknown policy; expected one of: {', '.join(_ALLOWED)}"


def client_overrides(props: Mapping[str, str], client: str) -> dict[str, str]:
    """A connector's overrides for one kind of client, without their prefix."""
    prefix = f"{client}.override."
    return {key.removeprefix(prefix): text for key, text in props.items() if key.startswith(prefix)}


def override_errors(props: Mapping[str, str], worker: Mapping[str, str]) -> dict[str, list[str]]:
    """Key -> messages for a connector's overrides that its worker forbids or that no client supports.

    :param props: the connector's configuration, variables resolved.
    :param worker: the worker's keys as text; unset keys have their defaults.
    """
    policy = policy_name(worker.get(POLICY, DEFAULT_POLICY)) or "None"
    listed = worker.get(ALLOWLIST)
    allowlist = DEFAULT_ALLOWLIST if listed is None else [key.strip() for key in listed.split(",")]
    errors: dict[str, list[str]] = {}
    for client in CLIENTS:
        own = client_overrides(props, client)
        if not own:
            continue
        of_worker = worker_client_keys(worker, client)
        _, untranslatable = translated(of_worker | own)
        for key, text in own.items():
            message = refused(key) or _forbidden(policy, key, allowlist)
            if message is None and policy == "Allowlist" and key == "security.protocol":
                message = _downgrade(of_worker.get(key, default_protocol(worker)), text)
            if messages := [message] if message else untranslatable.get(key):
                errors[f"{client}.override.{key}"] = messages
    return errors


def ignored_overrides(props: Mapping[str, str], worker: Mapping[str, str]) -> list[str]:
    """Overrides of a hosted connector that have no effect, although Java's clients would know them.

    They are those that runs set themselves. A policy that allows them by name, and not only because the default list
    does, gives them their effect; serializers are never a connector's, since Connect itself makes bytes of records.

    :param props: of the connector. :param worker: its keys as text.
    """
    policy = policy_name(worker.get(POLICY, DEFAULT_POLICY)) or "None"
    by_default = policy == "Allowlist" and ALLOWLIST not in worker
    without = _SERIALIZERS + (_OF_RUNS_IN_JAVA if by_default else ())
    return [
        f"{client}.override.{key}" for client in CLIENTS for key in client_overrides(props, client) if key in without
    ]


def without_ignored_overrides(props: Mapping[str, str], worker: Mapping[str, str]) -> dict[str, str]:
    """The keys of a hosted connector without `ignored_overrides`."""
    ignored = ignored_overrides(props, worker)
    return {key: text for key, text in props.items() if key not in ignored}


def _forbidden(policy: str, key: str, allowlist: Collection[str]) -> str | None:
    if _OF_WORKERS.fullmatch(key):
        return f"may be set by a worker only (as `{key}`), and by no connector: it names files, addresses or logs"
    if _ALLOWED[policy](key, allowlist):
        return None
    text = f"The '{policy}' policy does not allow '{key}' to be overridden in the connector configuration."
    if policy != "Allowlist":
        return text
    return f"{text} To allow it, name it in the worker's `{ALLOWLIST}`, which replaces the default list"


def _downgrade(of_worker: str, own: str) -> str | None:
    """Without encryption anyone could read the password."""
    if "SSL" not in of_worker.upper().split("_") or "SSL" in own.upper().split("_"):
        return None
    return f"{own} would turn off the encryption that the worker requires (`security.protocol={of_worker}`)"
