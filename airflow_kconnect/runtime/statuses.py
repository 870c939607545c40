"""What a run writes to the status topic: that it is running, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from airflow_kconnect.connect.errors import OccupiedError
from airflow_kconnect.connect.hosting.inspection import class_version
from airflow_kconnect.connect.run import RunSpec
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.stores.status_topic.runs import RunStatuses


class _Silent(RunStatuses):
    """Writes nothing."""

    def _do(self, what: Callable[[], None]) -> None:
        pass


@contextmanager
def run_statuses(spec: RunSpec, worker: WorkerConfig, name: str, hide: Callable[[str], str]) -> Iterator[RunStatuses]:
    """The statuses of a run: an error that leaves the block is written as its failure.

    Replays and dry runs write none: they run alongside the connector, and how it is doing does not depend on them.

    :param hide: replaces secrets in the texts of errors.
    """
    version = class_version({key: str(text) for key, text in spec.config.items()}, worker)
    live = not (spec.dry_run or spec.replay or spec.replay_dead_letters)
    statuses = (RunStatuses if live and name else _Silent)(worker, name, version, hide=hide)
    try:
        yield statuses
    except OccupiedError:
        raise  # how the connector is doing is told by the one that runs it
    except Exception as error:
        statuses.failed(error)
        raise
    finally:
        statuses.close()
