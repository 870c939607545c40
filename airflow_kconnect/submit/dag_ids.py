"""Which DAG runs a registered connector."""

from __future__ import annotations

import hashlib
import re

PREFIX = "kconnect."
TASK_ID = "run"
"""Of the only task in such a DAG."""

_MAX = 250
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_.-]+")
_HASH_LENGTH = 16
_HASHED = re.compile(rf".*-[0-9a-f]{{{_HASH_LENGTH}}}", re.DOTALL)


def dag_id_of(connector: str) -> str:
    """The id of a registered connector's DAG: `kconnect.<name>`. Two connectors never have the same.

    A name with characters that Airflow does not allow in ids, one that is too long, and one that ends like a hash
    itself, gets a hash at its end.
    """
    cleaned = _NOT_ALLOWED.sub("_", connector)
    plain = PREFIX + cleaned
    if cleaned == connector and len(plain) <= _MAX and not _HASHED.fullmatch(connector):
        return plain
    digest = hashlib.sha256(connector.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    return f"{plain[: _MAX - _HASH_LENGTH - 1]}-{digest}"
