"""The error of a login that a database refuses: one text for all that log in, from validation to a run."""

from __future__ import annotations

import re

from airflow_kconnect.connect.errors import ConfigError, first_line

# PostgreSQL's clients say first where they have connected to.
_BEFORE = re.compile(r".*\b(?:FATAL|ERROR):\s+")


def login_refused(
    where: str, user: str | None, reason: object, connector: str | None = None, *, keys: str = "connection"
) -> ConfigError:
    """The error.

    :param where: the database, as it may be shown.
    :param reason: the database's own text or exception; it has no password.
    :param keys: what the keys of user and password begin with.
    """
    text = _BEFORE.sub("", first_line(reason)).strip().rstrip(".")
    as_user = f" as {user}" if user else ""
    cure = f"check `{keys}.user` and `{keys}.password`"
    return ConfigError({f"{keys}.password": [f"cannot log in to {where}{as_user}: {text}; {cure}"]}, connector)
