"""Kafka's clients for commands about topics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.worker import resolved, worker_config
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.kafka.admin import KafkaAdmin
    from airflow_kconnect.kafka.clients import ClientConfigs


@contextmanager
def worker_of(file: Path | None, bootstrap_servers: str | None) -> Iterator[WorkerConfig]:
    """The worker that the options name, variables resolved; errors that leave the block do not quote their values.

    :raises RetriableError: see `check_listening`.
    """
    props = worker_config(file, bootstrap_servers)
    check_listening(props)
    with resolved({}, props) as (_, keys):
        yield WorkerConfig.from_props(keys)


@contextmanager
def clients_of(
    file: Path | None, bootstrap_servers: str | None, name: str
) -> Iterator[tuple[ClientConfigs, KafkaAdmin]]:
    """Configurations of clients of that worker, and an admin client.

    :param name: of the clients.
    """
    from airflow_kconnect.kafka.admin import KafkaAdmin
    from airflow_kconnect.kafka.clients import ClientConfigs

    with worker_of(file, bootstrap_servers) as worker:
        clients = ClientConfigs(worker.props, name=name)
        yield clients, KafkaAdmin(clients.admin())
