"""Secrets in texts, and in JSON data with texts."""

from __future__ import annotations

from airflow_kconnect.variables.secret_forms import in_texts


def test_only_texts_of_json_data_are_hidden() -> None:
    data = {"connection.password": ["the password is password"], "complete": True, "n": [1, None]}
    assert in_texts(lambda text: text.replace("password", "*"), data) == {
        "connection.password": ["the * is *"],
        "complete": True,
        "n": [1, None],
    }
