"""Which values of a configuration are secrets, and which of them are written out instead of taken from a variable."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.variables.secret_keys import has_secret, is_secret_key
from airflow_kconnect.variables.syntax import has_reference


def is_literal_secret(key: str, value: Any) -> bool:
    """Whether a value is a secret in plain text."""
    if isinstance(value, str) and has_secret(value):
        return True
    if not is_secret_key(key) or not value or has_reference(value):
        return False
    if key != "connection.url":
        return True
    try:
        JdbcUrl.parse(str(value))  # one without credentials hides nothing
    except ValueError:
        return True
    return False
