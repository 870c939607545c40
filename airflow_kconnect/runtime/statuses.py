"""What a run writes to the status topic: that it is running, how it goes, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from airflow_kconnect.connect.errors import OccupiedError
from airflow_kconnect.hosting.inspection import class_version
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.process.progress import progress_told
from airflow_kconnect.stores.status_topic.run_facts import facts_of
from airflow_kconnect.stores.status_topic.run_history import RunHistory, entry_of
from airflow_kconnect.stores.status_topic.runs import RunStatuses
from airflow_kconnect.stores.status_topic.writing import StatusWriter
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig


class _Silent(StatusWriter):
    """Writes nothing."""

    def do(self, what: Callable[[], None]) -> None:
        pass


class RunTold:
    """What a run tells while it runs.

    :ivar report: what is known of its end, also if it fails afterwards.
    """

    def __init__(
        self, spec: RunSpec, name: str, worker: WorkerConfig, version: str | None, hide: Callable[[str], str]
    ) -> None:
        self._spec = spec
        self.report: RunReport | None = None
        self._writer = (StatusWriter if spec.moves and name else _Silent)(worker, name)
        # Replays run alongside the connector, and how it is doing does not depend on them.
        of_state = self._writer if spec.live else _Silent(worker, name)
        self._statuses = RunStatuses(
            worker, name, version, hide=lambda text: facts_of(spec.config, spec.kind).hide(hide(text)), writer=of_state
        )
        self._history = RunHistory(
            self._writer, name, entry_of(spec), lambda: facts_of(spec.config, spec.kind), hide=hide
        )
        self.running, self.progressed = self._statuses.running, self._history.progressed

    def validated(self, config: ValidatedConfig) -> None:
        """The run begins with this configuration."""
        self._history.began(lambda: facts_of(self._spec.config, config.kind, config.props))

    def used(self, topics: Iterable[str], offset_topic: str | None = None) -> None:
        """It has written to these topics, or has read records from them; see `RunStatuses.used`."""
        self._statuses.used(topics, offset_topic)

    def ended(self, error: BaseException | None = None) -> None:
        """The run has ended. :param error: why it has failed."""
        if isinstance(error, OccupiedError):
            self._history.dropped()  # how the connector is doing is told by the one that runs it
            return
        if error is not None:
            self._statuses.failed(error)
        self._history.ended(self.report, error)

    def close(self) -> None:
        """Wait until everything is written, for a limited time."""
        self._writer.close()


@contextmanager
def run_told(spec: RunSpec, worker: WorkerConfig, name: str, hide: Callable[[str], str]) -> Iterator[RunTold]:
    """What a run tells; an error that leaves the block is written as its failure. Dry runs tell nothing.

    :param hide: replaces secrets in the texts of errors.
    """
    version = class_version({key: str(text) for key, text in spec.config.items()}, worker)
    told = RunTold(spec, name, worker, version, hide)
    try:
        with progress_told(told.progressed):
            yield told
        told.ended()
    except Exception as error:
        told.ended(error)
        raise
    finally:
        told.close()
