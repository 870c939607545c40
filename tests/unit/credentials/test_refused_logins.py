"""The error of a login that a database refuses."""

from __future__ import annotations

import pytest

from airflow_kconnect.credentials.refused_logins import login_refused

AT = 'connection to server at "127.0.0.1", port 5432 failed: FATAL:  '


@pytest.mark.parametrize(
    ("user", "reason", "text"),
    [
        (
            "app",
            'FATAL: password authentication failed for user "app"',
            ' as app: password authentication failed for user "app"',
        ),
        ("app", f"connection failed: {AT}no pg_hba.conf entry\n{AT}other", " as app: no pg_hba.conf entry"),
        (None, "Access denied.", ": Access denied"),
    ],
    ids=["driver", "psycopg", "no user"],
)
def test_names_database_user_reason_and_keys_to_check(user: str | None, reason: str, text: str) -> None:
    error = login_refused("jdbc:postgresql://h/db", user, reason, "shop")
    cure = "check `connection.user` and `connection.password`"
    assert (error.errors, error.connector) == (
        {"connection.password": [f"cannot log in to jdbc:postgresql://h/db{text}; {cure}"]},
        "shop",
    )


def test_names_the_keys_of_the_connector() -> None:
    errors = login_refused("h:3306", "dbz", "no", keys="database").errors["database.password"]
    assert errors == ["cannot log in to h:3306 as dbz: no; check `database.user` and `database.password`"]
