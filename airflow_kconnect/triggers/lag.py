"""The trigger for `AssetWatcher`: starts a DAG run because a sink has fallen behind."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.stores.positions.conditions import LagCondition
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.triggers.together import seen_together, until_next
from airflow_kconnect.triggers.watched import WatchedConnector, in_thread

if TYPE_CHECKING:
    from airflow_kconnect.stores.positions.positions import ConnectorPositions


class ConnectorLagTrigger(BaseEventTrigger):
    """Fires when a sink has at least a given number of records to read, or records of a given age; for `AssetWatcher`.

    .. code-block:: python

        behind = ConnectorLagTrigger(connector=SINK, min_records=10_000, min_seconds=300)
        orders = Asset("orders-behind", watchers=[AssetWatcher(name="orders-lag", trigger=behind)])

        with DAG("write_orders", schedule=[orders], max_active_runs=1):
            KafkaSinkOperator(task_id="write", connector=SINK)

    One event for each time that the sink falls behind: after an event the next one comes only when the sink has
    committed offsets since and is too far behind again, or when nothing was committed for `repeat_seconds`: the run may
    have failed, or its event may have been lost. A restarted triggerer has forgotten its events and may fire again; the
    resulting run then has little to do.

    The event's payload is small: `{"connector", "records", "seconds", "topics": {topic: records}}`. It is in
    `context["triggering_asset_events"]`. While Kafka is unavailable, the trigger logs that and keeps polling.

    All parameters are stored in Airflow's database: they must not contain literal secrets.

    :param connector: Connect's JSON as a dict or a string, or the absolute path of a file, which is read when the DAG
        is parsed.
    :param min_records: lag in records. :param min_seconds: age of the oldest unread record. Either one is enough.
    :param topic: count this topic alone.
    :param worker_config: worker keys; they override those of the connection.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` is enough.
    :param poke_interval: seconds between two checks.
    :param repeat_seconds: see above.
    :raises ConfigError: a parameter is wrong, the connector is not a sink, or a secret is among the parameters.
    """

    def __init__(
        self,
        *,
        connector: Mapping[str, Any] | str | Path,
        min_records: int | None = None,
        min_seconds: float | None = None,
        topic: str | None = None,
        worker_config: Mapping[str, Any] | None = None,
        kafka_conn_id: str | None = "kafka_default",
        poke_interval: float = 60.0,
        repeat_seconds: float = 3600.0,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._watched = WatchedConnector.of(_sink_config(connector), worker_config, kafka_conn_id)
        self._watched.stored()
        self._condition = LagCondition(min_records=min_records, min_seconds=min_seconds, topic=topic)
        self._poke_interval, self._repeat_seconds = poke_interval, repeat_seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class and parameters."""
        return f"{__name__}.{type(self).__qualname__}", {
            **self._watched.stored(),
            "min_records": self._condition.min_records,
            "min_seconds": self._condition.min_seconds,
            "topic": self._condition.topic,
            "poke_interval": self._poke_interval,
            "repeat_seconds": self._repeat_seconds,
        }

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Poll and fire when due, forever."""
        crossings = Crossings(self._repeat_seconds)
        connector: ConnectorPositions | None = None
        while True:
            payload = None
            try:
                known = await in_thread(self._watched.positions) if connector is None else connector
                connector = known
                payload = await in_thread(self._look, await seen_together(known), crossings)
            except ConnectError as error:
                # The connection may have been corrected meanwhile: it is read again.
                connector = None
                self.log.warning("The lag of connector %s is unknown, next look later: %s", self._watched.name, error)
            except Exception:
                connector = None
                self.log.exception("Looking at the lag of connector %s failed, next look later", self._watched.name)
            if payload is not None:
                yield TriggerEvent(payload)  # type: ignore[no-untyped-call]
            await until_next(self._poke_interval)

    def _look(self, connector: ConnectorPositions, crossings: Crossings) -> dict[str, Any] | None:
        position = self._condition.position(connector)
        finding = self._condition.finding(connector, position)
        committed = {partition.topic_partition: partition.committed for partition in position.partitions}
        return finding.position if crossings.fires(finding.met, committed, time.monotonic()) else None


class Crossings:
    """Distinguishes checks that are new events from those that only repeat an earlier event.

    :param repeat_seconds: how long an event may remain without effect.
    """

    def __init__(self, repeat_seconds: float) -> None:
        self._repeat_seconds = repeat_seconds
        self._last: tuple[Mapping[Hashable, int | None], float] | None = None

    def fires(self, met: bool, committed: Mapping[Any, int | None], now_s: float) -> bool:
        """Whether this check is an event.

        :param met: the sink is too far behind. :param committed: its offsets. :param now_s: the current time in
            seconds.
        """
        if not met:
            return False
        if self._last is not None:
            offsets, then_s = self._last
            if committed == offsets and now_s - then_s < self._repeat_seconds:
                return False
        self._last = (committed, now_s)
        return True


def _sink_config(connector: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    is_text = isinstance(connector, str) and connector.lstrip().startswith("{")
    if isinstance(connector, str | Path) and not is_text and not Path(connector).is_absolute():
        cure = 'a trigger does not know the DAG file; write str(Path(__file__).parent / "sink.json")'
        raise ConfigError({"connector": [f"{connector} is not an absolute path: {cure}"]})
    config = connector_config(connector)
    if not config.get("name"):
        raise ConfigError({"name": ["is missing: which connector is it?"]})
    if not config.get("topics") and not config.get("topics.regex"):
        text = "and `topics.regex` are missing: only sinks have a lag in Kafka"
        raise ConfigError({"topics": [text]}, str(config["name"]))
    return config
