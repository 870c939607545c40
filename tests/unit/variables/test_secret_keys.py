"""The expression for keys whose values are likely to be secrets."""

from __future__ import annotations

from airflow_kconnect.variables.secret_keys import SECRET_KEYS


def test_it_survives_a_properties_file() -> None:
    """Services write settings of Spark into one, and its reader takes backslashes for its own."""
    assert "\\" not in SECRET_KEYS
