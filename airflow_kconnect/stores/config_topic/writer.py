"""The single writer of the config topic: connectors, as Connect's leader writes them (KIP-618)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.producers import CommittingProducer
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey
from airflow_kconnect.stores.config_topic.state import ClusterConfig
from airflow_kconnect.stores.target_states import TargetState, encode_target_state

Record = tuple[RecordKey, bytes | None]


class ConfigWriter:
    """Writes connectors; get one from `ConfigStore.writing`. Each method returns what the topic then
    says, at least up to its own records.

    All methods raise `FencedError` if another writer has taken over, `RetriableError` if the broker is unavailable,
    `DataError` if a record is too large, and `ConfigError` for what no reader could use.

    :param producer: transactional if the config topic has a single writer.
    :param refresh: reads the topic to its end.
    """

    def __init__(self, producer: CommittingProducer, topic: str, refresh: Callable[[], ClusterConfig]) -> None:
        self._producer, self._topic, self._refresh = producer, topic, refresh

    def put_connector(
        self, name: str, config: Mapping[str, Any], initial_state: TargetState | None = None
    ) -> ClusterConfig:
        """Create a connector, or change its configuration.

        :param config: texts, with variables not resolved; its ``name`` is the connector's.
        :param initial_state: its target state, written first (KIP-980); None leaves it as it is.
        """
        check_texts(name, config)
        if config.get("name") != name:
            text = f"is {config.get('name')!r} in the configuration of connector {name}; both must be the same"
            raise ConfigError({"name": [text]}, name)
        written: list[Record] = [(RecordKey(records.CONNECTOR, name), records.encode_properties(config))]
        if initial_state is not None:
            written.insert(0, (RecordKey(records.TARGET_STATE, name), encode_target_state(initial_state)))
        return self._write(written)

    def remove_connector(self, name: str) -> ClusterConfig:
        """Delete a connector with its target state. Records of its tasks stay in the topic, as in Connect."""
        return self._write([(RecordKey(records.CONNECTOR, name), None), (RecordKey(records.TARGET_STATE, name), None)])

    def _write(self, written: Sequence[Record]) -> ClusterConfig:
        self._producer.begin()
        try:
            for key, value in written:
                self._producer.produce_patiently(self._topic, value, key.encode(), 0)
            self._producer.commit()
        except Exception:
            self._producer.abort()
            raise
        return self._refresh()


def check_texts(name: str, config: Mapping[str, Any]) -> None:
    """:raises ConfigError: the name is empty, or values are not texts: Connect could not read them."""
    if not name:
        raise ConfigError({"name": ['Missing required configuration "name" which has no default value.']})
    errors = {
        str(key): [f"is {type(value).__name__}; values of configurations are texts"]
        for key, value in config.items()
        if not isinstance(value, str | None)
    }
    if errors:
        raise ConfigError(errors, name)
