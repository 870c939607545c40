"""The sensor for files that a files source has not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_kconnect.connectors.record_files.waiting import NewFilesCondition
from airflow_kconnect.sensors.base import ConnectorSensor
from airflow_kconnect.sensors.positions import whole_number
from airflow_kconnect.stores.positions.condition import Condition


class NewFilesSensor(ConnectorSensor):
    """Waits until a files source has files that it has not read.

    .. code-block:: python

        NewFilesSensor(task_id="arrived", connector=SOURCE, mode="reschedule")

    Files are listed, in a folder or in a store, and compared with the connector's committed offsets; none is opened. A
    folder must be visible where the sensor runs, with `deferrable` on the triggerer; one that is missing is waited for,
    and named in the log each time. The task returns
    `{"connector", "files", "names"}`: how many there are, and the first 20 of them.

    The task fails, and is not retried, if a file has changed since it was read and `on.changed` is `fail`.

    :param min_files: it has at least this many. (templated)
    :raises ConfigError: fewer than one.

    Other parameters: see `ConnectorSensor`. With `deferrable`, secrets of the store must be variables, or in the
    connection that `kconnect.store.conn_id` names.
    """

    template_fields: Sequence[str] = (*ConnectorSensor.template_fields, "min_files")

    def __init__(self, *, min_files: int | str = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.min_files = min_files
        if not isinstance(min_files, str):
            self._condition()  # so that a wrong bound is reported when the DAG is parsed

    def _condition(self) -> Condition:
        """See `ConnectorSensor.condition`."""
        return NewFilesCondition(whole_number("min_files", self.min_files) or 0)
