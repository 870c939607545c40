from __future__ import annotations

import pytest

from airflow_kconnect.variables.hidden_values import HiddenValues
from airflow_kconnect.variables.resolver import ConfigResolver

SECRET = "s3cret-canary"


def hidden(**variables: str) -> HiddenValues:
    """Values by the names of their variables."""
    found = HiddenValues()
    for name, value in variables.items():
        found.add(value, f"${{env:{name}}}")
    return found


def test_logs_keep_short_values() -> None:
    assert hidden(A=SECRET, B="4").hide_in_log(f"4 records: {SECRET}") == "4 records: ${env:A}"


def test_other_texts_do_not() -> None:
    assert hidden(B="4").hide("4 records") == "${env:B} records"


def test_a_value_is_hidden_as_soon_as_it_is_added() -> None:
    values = hidden(A=SECRET)
    values.hide("nothing")
    values.add("another-secret", "${env:B}")
    assert values.hide("another-secret") == "${env:B}"


def test_what_one_resolver_has_inserted_another_one_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    shared = HiddenValues()
    ConfigResolver.from_worker({}, hidden=shared).resolve({"password": "${env:SECRET}"})
    assert ConfigResolver.from_worker({}, hidden=shared).hide(f"refused: {SECRET}") == "refused: ${env:SECRET}"
