"""Statuses that no job can write: of connectors that are paused, and of runs that end before or without their job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, first_line
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.stores.status_topic.runs import RunStatuses

log = logging.getLogger(__name__)


def show_target_state(name: str, state: str, worker: Mapping[str, Any]) -> None:
    """Write the status that a connector has while nothing of it runs. Never fails because of Kafka, see `RunStatuses`.

    :param state: STARTED, PAUSED or STOPPED. :param worker: variables resolved.
    """
    with _statuses(name, worker) as written:
        {"STARTED": written.running, "PAUSED": written.paused, "STOPPED": written.stopped}[state]()


def show_failure(
    name: object,
    error: ConnectError | str,
    worker: Callable[[], Mapping[str, Any]],
    hide: Callable[[str], str] = str,
) -> None:
    """Write that a run has failed which did not get as far as its job, or whose job did not say why. Never fails.

    :param name: as in the configuration. :param worker: resolves the worker's keys.
    :param hide: replaces secrets in the error's text.
    """
    if not isinstance(name, str) or not name.strip():
        return
    try:
        with _statuses(name.strip(), worker(), hide) as written:
            written.failed(error)
    except ConnectError as problem:
        log.warning("the status of connector %s was not written: %s", name, first_line(problem))


@contextmanager
def failures_shown(
    config: Mapping[str, Any], worker: Callable[[], Mapping[str, Any]], hide: Callable[[str], str] = str
) -> Iterator[None]:
    """Errors of the configuration that leave the block are written as the status of the connector, too.

    :param worker, hide: as for `show_failure`.
    """
    try:
        yield
    except ConfigError as error:
        show_failure(config.get("name"), error, worker, hide)
        raise


@contextmanager
def _statuses(name: str, worker: Mapping[str, Any], hide: Callable[[str], str] = str) -> Iterator[RunStatuses]:
    from airflow_kconnect.stores.status_topic.runs import RunStatuses

    written = RunStatuses(WorkerConfig.from_props(worker), name, None, hide=hide)
    try:
        yield written
    finally:
        written.close()
