"""Errors of sources: which are worth a retry."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import requests
from sqlalchemy.exc import OperationalError

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connectors.dlt.failures import failure


def answer(status: int) -> requests.HTTPError:
    error = requests.HTTPError(f"{status} of the server")
    error.response = SimpleNamespace(status_code=status)  # type: ignore[assignment]
    return error


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (ConnectionResetError(104, "reset"), RetriableError),
        (requests.ConnectionError("no route"), RetriableError),
        (requests.Timeout("too slow"), RetriableError),
        (OperationalError("SELECT 1", {}, Exception("server closed the connection")), RetriableError),
        (answer(503), RetriableError),
        (answer(429), RetriableError),
        (answer(404), DataError),
        (FileNotFoundError(2, "No such file"), DataError),
        (KeyError("id"), DataError),
        (ConfigError({"dlt.source": ["wrong"]}), ConfigError),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_cause_says_whether_it_may_pass(cause: Exception, kind: type[Exception]) -> None:
    error = RuntimeError("extraction failed")
    error.__cause__ = cause
    assert type(failure("resource orders", error)) is kind
