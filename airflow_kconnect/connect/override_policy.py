"""Which client settings a connector may override: Connect's ConnectorClientConfigOverridePolicy."""

from __future__ import annotations

from collections.abc import Callable, Collection

_PACKAGE = "org.apache.kafka.connect.connector.policy"
_PRINCIPAL_KEYS = ("sasl.jaas.config", "sasl.mechanism", "security.protocol")

OVERRIDE_PREFIXES = ("producer.override.", "consumer.override.", "admin.override.")

_ALLOWED: dict[str, Callable[[str, Collection[str]], bool]] = {
    "All": lambda key, allowlist: True,
    "None": lambda key, allowlist: False,
    "Principal": lambda key, allowlist: key in _PRINCIPAL_KEYS,
    "Allowlist": lambda key, allowlist: key in allowlist,
}


def policy_name(text: str) -> str | None:
    """Short name of a policy that is given by short name, simple or full class name; None if it is unknown."""
    for name in _ALLOWED:
        simple = f"{name}ConnectorClientConfigOverridePolicy"
        if text in (name, simple, f"{_PACKAGE}.{simple}"):
            return name
    return None


def unknown_policy(key: str, value: str) -> str | None:
    """Rule for the worker's key: the message if the policy is unknown."""
    if policy_name(value):
        return None
    return f"Unknown policy; expected one of: {', '.join(_ALLOWED)}"


def violation(policy: str, key: str, allowlist: Collection[str]) -> str | None:
    """The message if a policy forbids to override a client setting (without prefix), else None."""
    name = policy_name(policy) or "None"
    if _ALLOWED[name](key, allowlist):
        return None
    return f"The '{name}' policy does not allow '{key}' to be overridden in the connector configuration."
