"""What sensors and triggers know about the connector they wait for: enough to query Kafka, and no secret."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.connector_keys import kafka_keys
from airflow_kconnect.submit.literal_secrets import is_literal_secret

if TYPE_CHECKING:
    from airflow_kconnect.stores.positions.positions import ConnectorPositions

# All triggers of a triggerer together use at most this many threads, however slow Kafka is.
THREADS = 8

_WORKER_KEYS = ("bootstrap.servers", "group.id", "client.dns.lookup", "request.timeout.ms", "metadata.max.age.ms")
_WORKER_PREFIXES = (
    *("security.", "sasl.", "ssl.", "consumer.", "admin.", "config.providers"),
    "connector.client.config.override.",
)
_STORES = ("offset.storage.topic", "config.storage.topic", "status.storage.topic")

_T = TypeVar("_T")
_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="kconnect-polling")


async def in_thread(function: Callable[..., _T], *arguments: Any) -> _T:
    """Call a blocking function without blocking the event loop.

    These threads are not those of `asyncio.to_thread`, which all other triggers need.
    """
    return await asyncio.get_running_loop().run_in_executor(_threads, function, *arguments)


@dataclass(frozen=True)
class WatchedConnector:
    """A connector and how to reach its Kafka: the keys that matter, as they were written.

    :param connector: its name, topics and client overrides; other keys are left out.
    :param worker_config: the worker keys given by the DAG for Kafka's clients and the internal topics.
    :param kafka_conn_id: the Airflow connection.
    """

    connector: dict[str, Any] = field(repr=False)
    worker_config: dict[str, Any] = field(repr=False)
    kafka_conn_id: str | None

    @classmethod
    def of(
        cls,
        config: Mapping[str, Any],
        worker_config: Mapping[str, Any] | None,
        kafka_conn_id: str | None,
        also: tuple[str, ...] = (),
    ) -> WatchedConnector:
        """Keep only what a check of the connector's positions needs.

        :param also: prefixes of keys that a condition needs besides (`Condition.needs`).
        """
        worker = {
            key: value
            for key, value in sorted((worker_config or {}).items())
            if key in _WORKER_KEYS or key in _STORES or key.startswith(_WORKER_PREFIXES)
        }
        return cls(kafka_keys(config, also), worker, kafka_conn_id)

    @property
    def name(self) -> str:
        """The connector's name, for messages."""
        return str(self.connector.get("name", ""))

    def stored(self) -> dict[str, Any]:
        """Parameters for a trigger, which Airflow stores in its database.

        :raises ConfigError: there are secrets among them; all are named.
        """
        errors = {
            key: [f"is a secret in the `{where}` of a trigger, which Airflow stores in its database; {cure}"]
            for where, keys, cure in (
                ("connector", self.connector, "write a variable such as ${airflow:conn_id:password}"),
                ("worker_config", self.worker_config, "put it into the Kafka connection"),
            )
            for key, value in keys.items()
            if is_literal_secret(key, value)
        }
        if errors:
            raise ConfigError(errors, self.name or None)
        return {
            "connector": self.connector,
            "worker_config": self.worker_config,
            "kafka_conn_id": self.kafka_conn_id,
        }

    def positions(self) -> ConnectorPositions:
        """Resolve the connection and all variables. Blocks; called in a task, or in a thread of a trigger.

        :raises ConfigError: the connection or a variable is missing, or a key is wrong.
        """
        from airflow_kconnect.hooks.worker import configurations
        from airflow_kconnect.stores.positions.positions import ConnectorPositions

        configs = configurations(self.connector, self.worker_config, self.kafka_conn_id)
        return ConnectorPositions(*configs.resolved())
