"""A Connect worker that keeps everything in memory: no group, no topics of its own. Enough for the replay of a sink."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.hosted.worker.herder import ConnectHerder, of_worker

_POLICY = "connector.client.config.override.policy"
_POLICY_CLASS = "org.apache.kafka.connect.connector.policy.ConnectorClientConfigOverridePolicy"
# What only workers have that share their work by a group.
_OF_GROUPS = ("group.id", "config.storage.", "status.storage.", "offset.storage.", "exactly.once.source.support")


def local_properties(properties: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The properties of a worker as Connect's standalone mode wants them.

    :param properties: see `worker_properties`.
    :param folder: private to the run.
    """
    kept = {key: text for key, text in properties.items() if not key.startswith(_OF_GROUPS)}
    return {**kept, "offset.storage.file.filename": str(folder / "offsets")}


class LocalHerder(ConnectHerder):
    """The worker, used as any `ConnectHerder`; `put` returns when the connector was handed over.

    Only for sinks, whose offsets are in consumer groups: those of sources would be gone with it.
    """

    def _has_ended(self) -> bool:
        return False

    def _close(self) -> None:
        """Its `stop` does that."""

    def _assembled(self, properties: Mapping[str, str]) -> tuple[Any, Any]:
        """What `ConnectStandalone.createHerder` does."""
        from py4j.protocol import Py4JJavaError

        jvm, runtime = self._jvm, self._connect.runtime
        texts = jvm.text_map(properties)
        try:
            plugins = jvm.view.airflow_kconnect.SharedPlugins.of(texts)
            plugins.compareAndSwapWithDelegatingLoader()
            config = runtime.standalone.StandaloneConfig(texts)
            cluster = config.kafkaClusterId()
        except Py4JJavaError as error:
            raise of_worker(error) from None
        no_schemas = jvm.text_map({"schemas.enable": "false"})
        converter = plugins.newInternalConverter(True, "org.apache.kafka.connect.json.JsonConverter", no_schemas)
        offsets = self._connect.storage.FileOffsetBackingStore(converter)
        offsets.configure(config)
        policy = plugins.newPlugin(config.getString(_POLICY), config, jvm.java_class(_POLICY_CLASS))
        time = jvm.view.org.apache.kafka.common.utils.Time.SYSTEM
        worker = runtime.Worker(self._worker_id, time, plugins, config, offsets, policy)
        return runtime.standalone.StandaloneHerder(worker, cluster, policy), worker
