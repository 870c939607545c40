"""What a request about connectors can be refused for."""

from __future__ import annotations

from airflow_kconnect.connect.errors import ConnectError


class NotFoundError(ConnectError):
    """There is no such connector, task, plugin or logger."""

    exit_code = 1


class AlreadyExistsError(ConnectError):
    """A connector of this name is registered already."""

    exit_code = 1


class ForbiddenError(ConnectError):
    """The worker's configuration switches this off."""

    exit_code = 1
