"""Which errors of the operating system a run is tried again after."""

from __future__ import annotations

import errno
import os

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.places.system_errors import system_error


@pytest.mark.parametrize("code", ["EIO", "ESTALE", "ETIMEDOUT", "ENOSPC", "EDQUOT", "ECONNRESET"])
def test_temporary_errors_are_retried(code: str) -> None:
    number = getattr(errno, code)
    error = system_error("reading a.txt", OSError(number, os.strerror(number)))
    assert isinstance(error, RetriableError)
    assert str(error).startswith(f"reading a.txt: {os.strerror(number)}; ")


@pytest.mark.parametrize("error", [ConnectionError("gone"), TimeoutError("late")], ids=lambda error: str(error))
def test_an_error_of_a_connection_without_a_number_is_tried_again(error: OSError) -> None:
    assert isinstance(system_error("writing t-0", error), RetriableError)


@pytest.mark.parametrize("code", ["ENOENT", "EACCES", "EROFS", "EISDIR", "ENAMETOOLONG"])
def test_what_must_be_fixed_is_not(code: str) -> None:
    number = getattr(errno, code)
    assert isinstance(system_error("reading a.txt", OSError(number, os.strerror(number))), DataError)
