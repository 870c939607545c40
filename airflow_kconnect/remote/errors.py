"""What a server answers that is not what was asked for."""

from __future__ import annotations

from airflow_kconnect.connect.errors import ConnectError


class ServerError(ConnectError):
    """A server refuses a request; the text is its own.

    :param status: HTTP status code.
    """

    exit_code = 1

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def not_connect(url: str, why: str, status: int = 200) -> ServerError:
    """The error for an address at which something else than Connect answers."""
    text = f"{url} does not answer like Connect's REST API ({why}): is it the right address, with its path?"
    return ServerError(text, status)
