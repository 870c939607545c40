"""What all sensors share: from a connector's JSON to checks of Kafka, in a worker or in the triggerer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.common.compat.sdk import conf
from airflow.sdk import BaseSensorOperator, PokeReturnValue

from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError
from airflow_kconnect.errors import connector_error
from airflow_kconnect.hooks.rendering import RendersConnector
from airflow_kconnect.hooks.worker import given_config
from airflow_kconnect.stores.positions.condition import Condition
from airflow_kconnect.stores.positions.conditions import condition_to_dict
from airflow_kconnect.submit.registered import Connector
from airflow_kconnect.triggers.positions import MET, ConnectorPositionTrigger
from airflow_kconnect.triggers.watched import WatchedConnector

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_kconnect.stores.positions.positions import ConnectorPositions


class ConnectorSensor(RendersConnector, BaseSensorOperator):
    """Waits for a condition on a connector; it runs nothing and changes nothing in Kafka.

    Use one of its subclasses. Besides the parameters below they take those of Airflow's sensors (`poke_interval`,
    `timeout`, `mode`, `soft_fail`, ...). The connector may also run in a Kafka Connect cluster. The task returns what
    it last saw, a small dict.

    With `soft_fail` the task is skipped when it times out. Errors (a wrong password, an unavailable broker) fail it
    even then: they must not look as if there had been nothing to do.

    :param connector: as for the operators: Connect's JSON as a dict or a string, the path of a file, or the name of a
        registered connector. (templated)
    :param worker_config: worker keys; they override those of the Kafka connection. Not templated.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` is enough.
        (templated)
    :param deferrable: wait in the triggerer; default: `[operators] default_deferrable`. The trigger's parameters are
        stored in Airflow's database, so `worker_config` and client overrides must not contain literal secrets then.
    """

    template_fields: Sequence[str] = ("connector", "kafka_conn_id")
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json"}
    ui_color = "#fff4e0"

    def __init__(
        self,
        *,
        connector: Connector,
        worker_config: Mapping[str, Any] | None = None,
        kafka_conn_id: str | None = "kafka_default",
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.connector = connector
        self.worker_config = worker_config
        self.kafka_conn_id = kafka_conn_id
        self.deferrable = deferrable

    @abstractmethod
    def _condition(self) -> Condition:
        """What to wait for, from the rendered parameters.

        :raises ConfigError: a parameter is wrong.
        """

    def execute(self, context: Context) -> Any:
        """Wait; returns what was last seen.

        :raises ConnectorConfigError: configuration or parameters are wrong; a retry would not help.
        :raises ConnectorRetriableError: the broker is unavailable.
        """
        if not self.deferrable:
            return super().execute(context)
        trigger = self._trigger()
        result = self.poke(context)
        if result.is_done:
            return result.xcom_value
        self.defer(trigger=trigger, method_name="execute_complete", timeout=timedelta(seconds=self.timeout))

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Any:
        """Handle the trigger's event; parameters and errors as in `execute`."""
        if event["status"] == MET:
            return event["position"]
        raise self._failure(int(event["exit_code"]), str(event["message"]))

    def poke(self, context: Context) -> PokeReturnValue:
        """Check once; errors as in `execute`."""
        try:
            finding = self._condition().look(self._positions)
        except ConnectError as error:
            raise self._failure(error.exit_code, str(error)) from None
        self.log.info("Connector %s: %s", self._watched.name, finding.position)
        return PokeReturnValue(finding.met, finding.position)

    def _trigger(self) -> ConnectorPositionTrigger:
        try:
            return ConnectorPositionTrigger(
                **self._watched.stored(),
                condition=condition_to_dict(self._condition()),
                poke_interval=self.poke_interval,
            )
        except ConnectError as error:
            raise self._failure(error.exit_code, str(error)) from None

    @cached_property
    def _watched(self) -> WatchedConnector:
        config = given_config(self.connector, self._dag_folder(), self.worker_config, self.kafka_conn_id)
        return WatchedConnector.of(config, self.worker_config, self.kafka_conn_id, self._condition().needs)

    @cached_property
    def _positions(self) -> ConnectorPositions:
        return self._watched.positions()

    def _failure(self, exit_code: int, message: str) -> Exception:
        if self.soft_fail:
            # Airflow would turn its own exceptions into a skip.
            return _NOT_SKIPPED.get(exit_code, ConnectError)(message)
        return connector_error(exit_code, message)


_NOT_SKIPPED: dict[int, type[ConnectError]] = {
    DataError.exit_code: DataError,
    RetriableError.exit_code: RetriableError,
}
