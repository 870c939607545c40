"""Which DAG runs a registered connector."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.validation.dag_keys import group_of

PREFIX = "kconnect."
GROUP_PREFIX = "kconnect-group."
"""No connector's own DAG has an id that begins so."""
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


def group_dag_id_of(group: str) -> str:
    """The id of the DAG of a group of registered connectors: `kconnect-group.<name>`; all such names are ids."""
    return GROUP_PREFIX + group


def dag_of(connector: str, config: Mapping[str, Any]) -> str:
    """The DAG that runs a registered connector: that of its group, or its own.

    :param config: the registered configuration.
    """
    group = group_of(config)
    return dag_id_of(connector) if group is None else group_dag_id_of(group)
