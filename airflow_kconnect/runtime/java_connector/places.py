"""What a run needs of the JVM that it shares with others. Pure rules, no I/O."""

from __future__ import annotations

from airflow_kconnect.hosted.known import debezium
from airflow_kconnect.hosted.sharing import Tenant, megabytes
from airflow_kconnect.hosting.keys import MEMORY, OWN_JVM
from airflow_kconnect.validation.connector import ValidatedConfig


def tenant_of(config: ValidatedConfig, *, alone: bool = False) -> Tenant:
    """The run of a hosted connector.

    :param alone: whether this kind of run must be alone, whatever the configuration says.
    """
    assert config.hosted is not None
    memory_mb = megabytes(str(config.common[MEMORY]))
    alone = alone or bool(config.common[OWN_JVM])
    if config.kind == "sink" or not debezium.is_debezium(config.hosted.name):
        return Tenant(config.name, memory_mb, alone=alone)
    # The MBeans of two with the same `server` could not be told apart.
    server = debezium.server(config.props)
    return Tenant(config.name, memory_mb, alone=alone or server == "*", names=frozenset({f"server {server}"}))
