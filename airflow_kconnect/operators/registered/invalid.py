"""The task of a connector that cannot be run at all: it says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseOperator

from airflow_kconnect.errors import ConnectorConfigError

if TYPE_CHECKING:
    from airflow.sdk import Context


class InvalidConnectorOperator(BaseOperator):
    """Fails with the reason why there is no operator for a connector: an unknown class, an unreadable file.

    :param problem: what is wrong, and with which connector.
    """

    ui_color = "#fde8e8"

    def __init__(self, *, problem: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.problem = problem

    def execute(self, context: Context) -> NoReturn:
        """:raises ConnectorConfigError: always; it is not retried."""
        raise ConnectorConfigError(self.problem)
