"""What the doctor examines: the worker's keys, a connector's file, and what the user wants checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.submit.operations import registered_name
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.registered import registered_config
from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.variables.secret_keys import is_secret
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.doctor.inspector import Inspector

_HIDDEN = "***"
_SHORTEST = 4


@dataclass
class Subject:
    """What is examined. Values are read when a check needs them, so that each error belongs to a check.

    :param read_worker: the worker's keys, variables not resolved; None if no Kafka is configured.
    :param connector: file of a connector, or name of a registered one; or None.
    :param airflow: whether to check Airflow's connections.
    :param transactions: whether a transactional id may be acquired to test the permission.
    :param timeout_s: time limit of one request to Kafka.
    """

    read_worker: Callable[[], Mapping[str, Any] | None]
    connector: str | None = None
    airflow: bool = False
    transactions: bool = False
    timeout_s: float = 5.0

    @cached_property
    def worker_props(self) -> Mapping[str, Any] | None:
        """The worker's keys, variables not resolved."""
        return self.read_worker()

    @cached_property
    def config(self) -> dict[str, Any]:
        """The connector's keys, variables not resolved; empty without a connector."""
        if self.connector is None:
            return {}
        name = registered_name(self.connector)
        if name is None:
            return connector_config(Path(self.connector))
        return dict(registered_config(name, self.worker.props, self.timeout_s))

    @cached_property
    def resolver(self) -> ConfigResolver:
        """Resolves the variables of both."""
        return ConfigResolver.from_worker(self.worker_props or {})

    @cached_property
    def worker(self) -> WorkerConfig:
        """The worker's keys, variables resolved."""
        with self.resolver.hidden_in_errors():
            return WorkerConfig.from_props(self.resolver.resolve(self.worker_props or {}))

    @cached_property
    def props(self) -> dict[str, str]:
        """The connector's keys, variables resolved."""
        return {key: str(value) for key, value in self.resolver.resolve(self.config).items()}

    @property
    def is_sink(self) -> bool:
        """Whether the connector reads topics, as all sinks and no sources do."""
        return "topics" in self.props or "topics.regex" in self.props

    @cached_property
    def kafka(self) -> Inspector:
        """Requests to the cluster."""
        from airflow_kconnect.doctor.inspector import Inspector

        return Inspector(self.worker, self.props, timeout_s=self.timeout_s)

    def without_secrets(self, text: str) -> str:
        """A text that contains no secret of worker or connector."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text

    def _secrets(self) -> set[str]:
        """Values of secret keys, and values of variables, as far as they have been read."""
        known = vars(self)
        secrets = set(known["resolver"].secrets) if "resolver" in known else set()
        for props in (known.get("worker_props") or {}, known.get("config") or {}):
            secrets |= {str(value) for key, value in props.items() if is_secret(key, value)}
        return {secret for secret in secrets if len(secret) >= _SHORTEST and not secret.startswith("${")}
