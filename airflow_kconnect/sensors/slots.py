"""The sensor for the replication slot of a Debezium connector for PostgreSQL: how much WAL it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_kconnect.sensors.base import ConnectorSensor
from airflow_kconnect.sensors.positions import whole_number
from airflow_kconnect.stores.positions.condition import Condition
from airflow_kconnect.stores.positions.slot import SlotCondition


class ReplicationSlotSensor(ConnectorSensor):
    """Waits until the slot of a Debezium connector keeps at least some amount of WAL, or at most some amount.

    .. code-block:: python

        ReplicationSlotSensor(task_id="enough", connector=SHOP, min_bytes=100_000_000)
        ReplicationSlotSensor(task_id="caught_up", connector=SHOP, max_bytes=16_000_000)

    PostgreSQL is asked with the connector's own `database.*` keys, which needs psycopg (`airflow-kconnect[jdbc]`) where
    the sensor runs. A connector that has not run yet has no slot; this meets both conditions. The task returns what it
    last saw, such as `{"slot", "kept_bytes", "wal_status"}`, and a `warning` if the server may soon remove WAL that was
    not read yet.

    The task fails, and is not retried, if the slot was dropped although the connector has offsets, or if it has lost
    WAL.

    :param min_bytes: the slot keeps at least this much WAL. (templated)
    :param max_bytes: the slot keeps at most this much WAL. (templated)
    :raises ConfigError: not exactly one of the two was given, or it is negative.

    Other parameters: see `ConnectorSensor`. With `deferrable`, `database.password` must be a variable such as
    `${airflow:shop:password}`.
    """

    template_fields: Sequence[str] = (*ConnectorSensor.template_fields, "min_bytes", "max_bytes")

    def __init__(
        self, *, min_bytes: int | str | None = None, max_bytes: int | str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.min_bytes, self.max_bytes = min_bytes, max_bytes
        if not any(isinstance(bound, str) for bound in (min_bytes, max_bytes)):
            self._condition()  # so that wrong bounds are reported when the DAG is parsed

    def _condition(self) -> Condition:
        """See `ConnectorSensor.condition`."""
        return SlotCondition(whole_number("min_bytes", self.min_bytes), whole_number("max_bytes", self.max_bytes))
