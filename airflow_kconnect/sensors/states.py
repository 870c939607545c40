"""The sensor for a connector's target state: started, paused, stopped."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from airflow_kconnect.sensors.base import ConnectorSensor
from airflow_kconnect.stores.positions.condition import Condition
from airflow_kconnect.stores.positions.conditions import StateCondition


class ConnectorStateSensor(ConnectorSensor):
    """Waits until a connector is in one of the given target states, for example until it is resumed.

    .. code-block:: python

        ConnectorStateSensor(task_id="until_resumed", connector=SINK, states=["STARTED"])

    The state is Connect's own, from the worker's config topic. A connector that was never paused or stopped is STARTED.

    :param states: of `STARTED`, `PAUSED` and `STOPPED`. (templated)
    :raises ConfigError: no state, or an unknown one.

    Other parameters: see `ConnectorSensor`.
    """

    template_fields: Sequence[str] = (*ConnectorSensor.template_fields, "states")

    def __init__(self, *, states: Sequence[str | Enum], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.states = [str(state.value if isinstance(state, Enum) else state) for state in states]
        if "{" not in "".join(self.states):
            self._condition()  # so that a wrong state is reported when the DAG is parsed

    def _condition(self) -> Condition:
        """See `ConnectorSensor.condition`."""
        return StateCondition([state.upper() for state in self.states])
