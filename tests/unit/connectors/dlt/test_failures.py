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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("401 for url: https://api.example.com/x?page=2&key=HUSH", "401 for url: https://api.example.com/x?..."),
        ("no route with url: /x?key=HUSH (Caused by T)", "no route with url: /x?... (Caused by T)"),
        ("cannot connect to postgresql://u:HUSH@h/db", "cannot connect to postgresql://u:...@h/db"),
        ("what is x = 1? a = 2", "what is x = 1? a = 2"),
    ],
    ids=["an address", "a path", "a login", "no address"],
)
def test_what_may_be_secret_in_an_address_is_not_told(text: str, expected: str) -> None:
    assert str(failure("resource orders", ValueError(text))) == f"resource orders failed: ValueError: {expected}"
