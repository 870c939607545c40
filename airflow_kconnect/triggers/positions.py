"""The trigger behind deferred sensors: polls a connector until a condition is met."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_kconnect.connect.errors import ConnectError, InternalError, named
from airflow_kconnect.connectors.record_files.waiting import NewFilesCondition
from airflow_kconnect.stores.positions.conditions import condition_from_dict
from airflow_kconnect.triggers.together import seen_together, until_next
from airflow_kconnect.triggers.watched import WatchedConnector, in_thread

MET, ERROR = "met", "error"


class ConnectorPositionTrigger(BaseTrigger):
    """Fires once: when the condition is met, or when a check fails. It changes nothing, so it may run twice.

    The event is `{"status": "met", "position": {...}}` or `{"status": "error", "message": ..., "exit_code": ...}`. All
    parameters are stored by Airflow; `WatchedConnector.stored` makes sure that none of them is a secret.

    :param connector, worker_config, kafka_conn_id: see `WatchedConnector`.
    :param condition: from `condition_to_dict`.
    :param poke_interval: seconds between two checks.
    """

    def __init__(
        self,
        *,
        connector: Mapping[str, Any],
        worker_config: Mapping[str, Any],
        kafka_conn_id: str | None,
        condition: Mapping[str, Any],
        poke_interval: float,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._condition = condition_from_dict(condition, NewFilesCondition)
        self._watched = WatchedConnector.of(connector, worker_config, kafka_conn_id, self._condition.needs)
        self._condition_data = dict(condition)
        self._poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class and parameters."""
        facts = {"condition": self._condition_data, "poke_interval": self._poke_interval}
        return f"{__name__}.{type(self).__qualname__}", {**self._watched.stored(), **facts}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Fire exactly once, whatever happens."""
        yield TriggerEvent(await self._event())  # type: ignore[no-untyped-call]

    async def _event(self) -> dict[str, Any]:
        try:
            connector = await in_thread(self._watched.positions)
            while not (finding := await in_thread(self._condition.look, await seen_together(connector))).met:
                self.log.info("Connector %s: %s", self._watched.name, finding.position)
                await until_next(self._poke_interval)
            return {"status": MET, "position": finding.position}
        except ConnectError as error:
            return _error(error)
        except Exception as error:
            self.log.exception("Looking at connector %s failed", self._watched.name)
            return _error(InternalError(named(error)))


def _error(error: ConnectError) -> dict[str, Any]:
    return {"status": ERROR, "message": str(error), "exit_code": error.exit_code}
