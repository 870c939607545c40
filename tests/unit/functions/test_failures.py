"""The errors of functions, and how much of a record an error shows."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.functions.failures import failure, short


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ConnectionResetError("gone"), RetriableError),
        (TimeoutError("slow"), RetriableError),
        (ValueError("wrong"), DataError),
        (KeyError("id"), DataError),
    ],
)
def test_what_is_unavailable_is_worth_a_retry_and_all_else_an_error_of_the_data(
    raised: Exception, kind: type[ConnectError]
) -> None:
    found = failure("prices", raised)
    assert (type(found), str(found).startswith(f"prices: {type(raised).__name__}")) == (kind, True)


@pytest.mark.parametrize("raised", [ConfigError({"path": ["is missing"]}), FencedError("a newer run")])
def test_an_error_that_says_what_to_do_stays_as_it_is(raised: ConnectError) -> None:
    assert failure("prices", raised) is raised


def test_a_long_record_is_cut() -> None:
    assert (short({"id": 1}), len(short("x" * 1000))) == ("{'id': 1}", 203)
