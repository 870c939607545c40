"""Client configurations for librdkafka from Connect's worker keys and connector overrides.

Precedence as in Connect: our defaults < worker's plain ``security.*``, ``sasl.*``, ``ssl.*`` < worker's ``producer.``
/ ``consumer.`` / ``admin.`` keys < the connector's ``*.override.`` keys < what correctness needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.logins.callback import token_config
from airflow_kconnect.kafka.logins.stores import from_stores
from airflow_kconnect.worker_config.client_keys import to_librdkafka, worker_client_keys
from airflow_kconnect.worker_config.oauth_keys import OAUTHBEARER, mechanism_of
from airflow_kconnect.worker_config.override_policy import client_overrides, override_errors

Config = dict[str, Any]


class ClientConfigs:
    """The client configurations of one connector. Every client opened for a connector gets its configuration here, so
    no override that the worker forbids reaches a client.

    :param worker: worker keys, variables resolved.
    :param overrides: the connector's configuration (its ``*.override.*`` keys count).
    :param name: connector name, for the client ids.
    :raises ConfigError: overrides that the worker forbids or that are not supported, all at once.
    """

    def __init__(self, worker: Mapping[str, str], overrides: Mapping[str, str] | None = None, name: str = "") -> None:
        self._worker = dict(worker)
        self._overrides = dict(overrides or {})
        self._name = name
        if errors := override_errors(self._overrides, self._worker):
            raise ConfigError(errors, name or None)

    def admin(self) -> Config:
        """For the admin client."""
        defaults: Config = {"client.id": f"connector-adminclient-{self._name}"}
        return _quiet(self._client("admin", defaults))

    def producer(self, transactional_id: str | None) -> Config:
        """For a producer; exactly-once if it has a transactional id.

        The queue is capped: otherwise each Spark core would take librdkafka's default of 1 GiB.
        """
        defaults: Config = {
            "client.id": f"connector-producer-{self._name}",
            "linger.ms": 50,
            "batch.size": 1_048_576,
            "batch.num.messages": 100_000,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 200_000,
            "queue.buffering.max.kbytes": 65_536,
        }
        config = _quiet(self._client("producer", defaults))
        config |= {
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": "murmur2_random",  # Java's default: a topic may be shared with Connect
            "delivery.report.only.error": True,
        }
        config.pop("transactional.id", None)
        if transactional_id is None:
            return {k: v for k, v in config.items() if k != "transaction.timeout.ms"}
        return config | {"transactional.id": transactional_id}

    def small_producer(self) -> Config:
        """For a producer that is opened for a few records, whose repetition does no harm: they stay in order.

        A producer that is idempotent often waits half a second for its id.
        """
        return self.producer(None) | {
            "enable.idempotence": False,
            "max.in.flight.requests.per.connection": 1,
            "linger.ms": 0,
        }

    def consumer(self, group: str, *, bulk: bool = False) -> Config:
        """For a consumer that is assigned its partitions and never commits by itself.

        :param bulk: tuned for reading many records from few partitions.
        """
        defaults: Config = {
            "client.id": f"connector-consumer-{self._name}",
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 50 if bulk else 10,
            "fetch.queue.backoff.ms": 5,
            # A longer queue is not faster, and each reader would hold hundreds of megabytes (measured).
            "queued.min.messages": 100_000,
            "queued.max.messages.kbytes": 16_384,
        }
        config = _quiet(self._client("consumer", defaults))
        return config | {
            "group.id": group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        }

    @property
    def transaction_timeout_ms(self) -> int:
        """The producers' ``transaction.timeout.ms``; 60 s unless it is set."""
        value = str(self.producer("x").get("transaction.timeout.ms", 60_000))
        if not value.isdecimal():
            text = f"Invalid value {value} for configuration transaction.timeout.ms: Not a number of type INT"
            raise ConfigError({"producer.override.transaction.timeout.ms": [text]})
        return int(value)

    def _client(self, client: str, defaults: Config) -> Config:
        java = worker_client_keys(self._worker, client) | client_overrides(self._overrides, client)
        prefix = f"{client}."
        own = to_librdkafka(java, prefix) | from_stores(java, prefix)
        config = defaults | token_config(self._worker) | own
        is_sasl = str(config.get("security.protocol", "")).upper().startswith("SASL_")
        if not is_sasl or mechanism_of(own) != OAUTHBEARER:  # it would wait for a token for which it never asks
            config.pop("oauth_cb", None)
        return config

    @property
    def patience_s(self) -> float:
        """Seconds within which the transaction of a killed producer is aborted: brokers check every 10 s."""
        return self.transaction_timeout_ms / 1000 + 15


def _quiet(config: Config) -> Config:
    # Connection failures and the like are reported once by our own errors, instead of on stderr forever.
    return {"log_level": 2} | config
