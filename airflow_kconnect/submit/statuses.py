"""Statuses that no job can write: of connectors that are paused, and of runs that end before or without their job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, first_line
from airflow_kconnect.runs.group import name_of
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.stores.status_topic.writing import StatusWriter

log = logging.getLogger(__name__)


def show_target_state(name: str, state: str, worker: Mapping[str, Any]) -> None:
    """Write the status that a connector has while nothing of it runs; see `show_target_states`."""
    show_target_states({name: state}, worker)


def show_target_states(states: Mapping[str, str], worker: Mapping[str, Any]) -> None:
    """Write the statuses that connectors have while nothing of them runs. Never fails because of Kafka, see
    `StatusWriter`.

    :param states: by name: STARTED, PAUSED or STOPPED. :param worker: variables resolved.
    """
    from airflow_kconnect.stores.status_topic.runs import RunStatuses

    with _writer(tuple(states), worker) as writer:
        for name, state in states.items():
            written = RunStatuses(writer.worker, name, None, writer=writer)
            {"STARTED": written.running, "PAUSED": written.paused, "STOPPED": written.stopped}[state]()


def show_failure(
    spec: RunSpec,
    error: ConnectError | str,
    worker: Callable[[], Mapping[str, Any]],
    hide: Callable[[str], str] = str,
    *,
    ended_by_user: bool = False,
) -> None:
    """Write that a run has failed which did not get as far as its job, or whose job did not say why. Never fails.

    Dry runs write nothing; of a replay the connector's status stays as it is.

    :param worker: resolves the worker's keys.
    :param hide: replaces secrets in the error's text.
    :param ended_by_user: the connector's status stays, too: its next run resumes.
    """
    show_failures([(spec, error)], worker, hide, ended_by_user=ended_by_user)


def show_failures(
    failures: Iterable[tuple[RunSpec, ConnectError | str]],
    worker: Callable[[], Mapping[str, Any]],
    hide: Callable[[str], str] = str,
    *,
    ended_by_user: bool = False,
) -> None:
    """As `show_failure`, for runs of several connectors with the same worker: one producer writes it all."""
    shown = [(name_of(spec.config), spec, error) for spec, error in failures if spec.moves and name_of(spec.config)]
    if not shown:
        return
    names = tuple(name for name, _, _ in shown)
    try:
        with _writer(names, worker()) as writer:
            for name, spec, error in shown:
                _write_failure(writer, name, spec, error, hide, ended_by_user=ended_by_user)
    except ConnectError as problem:
        log.warning("the status of connector %s was not written: %s", _in_short(names), first_line(problem))


def _write_failure(
    writer: StatusWriter,
    name: str,
    spec: RunSpec,
    error: ConnectError | str,
    hide: Callable[[str], str],
    *,
    ended_by_user: bool,
) -> None:
    from airflow_kconnect.stores.status_topic.run_facts import facts_of
    from airflow_kconnect.stores.status_topic.run_history import RunHistory, entry_of
    from airflow_kconnect.stores.status_topic.runs import RunStatuses

    facts = facts_of(spec.config, spec.kind)
    if spec.live and not ended_by_user:
        written = RunStatuses(writer.worker, name, None, hide=lambda text: facts.hide(hide(text)), writer=writer)
        written.failed(error)
    if spec.run_id:
        RunHistory(writer, name, entry_of(spec), lambda: facts, hide=hide, of_other=True).ended(None, error)


@contextmanager
def failures_shown(
    spec: RunSpec, worker: Callable[[], Mapping[str, Any]], hide: Callable[[str], str] = str
) -> Iterator[None]:
    """Errors of the configuration that leave the block are written as how the run ended.

    :param worker, hide: as for `show_failure`.
    """
    try:
        yield
    except ConfigError as error:
        show_failure(spec, error, worker, hide)
        raise


@contextmanager
def interruptions_shown(spec: RunSpec, worker: Callable[[], Mapping[str, Any]]) -> Iterator[None]:
    """If this process is to end, the run has ended, too: its job can no longer say so.

    :param worker: as for `show_failure`.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        show_failure(spec, INTERRUPTED, worker, ended_by_user=True)
        raise


INTERRUPTED = "Interrupted. The next run continues where this one stopped."


@contextmanager
def _writer(names: Sequence[str], worker: Mapping[str, Any]) -> Iterator[StatusWriter]:
    from airflow_kconnect.stores.status_topic.writing import StatusWriter

    writer = StatusWriter(WorkerConfig.from_props(worker), _in_short(names))
    try:
        yield writer
    finally:
        writer.close()


def _in_short(names: Sequence[str]) -> str:
    """The connectors of a warning."""
    return names[0] if len(names) == 1 else f"{names[0]} and of {len(names) - 1} others"
