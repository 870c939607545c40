"""A run of a hosted sink that moves an interval again, in a worker in memory. See decision 0029."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.interval import filtering
from airflow_kconnect.hosted.jvm.gateway import HostGateway
from airflow_kconnect.hosted.worker.herder import ConnectHerder, Listening
from airflow_kconnect.hosted.worker.local_herder import LocalHerder, local_properties
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.java_connector.replay import AGAIN, SinkReplay
from airflow_kconnect.runtime.java_connector.run import HostedRun
from airflow_kconnect.runtime.java_connector.sink_progress import Progress
from airflow_kconnect.runtime.java_connector.workers.crew import Crew
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger("kconnect.hosted")


class ReplayRun(HostedRun):
    """Offsets are those of the replay's group.

    :param spec: has the interval. Other parameters are those of `HostedRun`.
    """

    # An interval is moved whole: no other run would continue a replay that stopped half-way.
    _bounded = False
    # The filter of its consumers has one set of ranges in a JVM.
    _must_be_alone = True

    def __init__(
        self, spec: RunSpec, config: ValidatedConfig, worker: WorkerConfig, run_id: str, session: LazySession
    ) -> None:
        super().__init__(spec, config, worker, run_id, session)
        assert spec.replay is not None
        self._replay = SinkReplay(spec.replay, self._admin, self._clients, worker, config.props)

    def _refuse_others(self) -> None:
        self._replay.refuse_others()

    def _sink_progress(self) -> Progress:
        self._replay.plan()
        return self._replay

    def _prepare(self) -> None:
        """It has no topics of its own."""

    def _adapted(self, plain: dict[str, str]) -> dict[str, str]:
        return filtering.connector_keys(plain)

    def _further_workers(self) -> int:
        return 0

    def _herder(self, jvm: HostGateway, properties: dict[str, str], listening: Listening | None) -> ConnectHerder:
        properties |= filtering.worker_keys(properties, self._replay.group)
        return LocalHerder(jvm, local_properties(properties, jvm.folder), worker_id=self._run_id)

    def _join(self, crew: Crew, herder: ConnectHerder) -> None:
        self._replay.begin(crew.jvm)
        herder.start()

    def _check_of_moved(self, crew: Crew) -> Callable[[], None]:
        given = filtering.first_given(crew.jvm)

        def check() -> None:
            if self._outcome.counts.written:
                self._outcome.warnings.append(AGAIN)
            try:
                self._replay.check_given(given)
            except ConfigError:
                self._stop(crew)
                self._replay.forget()  # it says that the interval was moved
                raise

        return check

    def _keep(self) -> None:
        """Its group stays as it is."""

    def _own_notes(self) -> dict[str, Any]:
        self._outcome.warnings.extend(self._replay.warnings)
        return {"already_replayed": True} if self._replay.already_replayed else {}
