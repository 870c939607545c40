"""A run of a hosted connector that moves what is new, in a group of workers that is its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.hosted.jvm.gateway import HostGateway
from airflow_kconnect.hosted.known import iceberg
from airflow_kconnect.hosted.worker.herder import ConnectHerder, Listening
from airflow_kconnect.hosted.worker.worker_keys import sink_session
from airflow_kconnect.kafka.sink_topics import sink_group
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.java_connector import neighbours
from airflow_kconnect.runtime.java_connector.goal import begin_at_first
from airflow_kconnect.runtime.java_connector.run import HostedRun
from airflow_kconnect.runtime.java_connector.sink_progress import Progress, SinkProgress
from airflow_kconnect.runtime.java_connector.sink_start import SinkStart
from airflow_kconnect.runtime.java_connector.workers.crew import Crew
from airflow_kconnect.runtime.java_connector.workers.fleet import wanted
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.stores.config_topic.store import ConfigStore
from airflow_kconnect.stores.offset_topic.lost import LostOffsets
from airflow_kconnect.stores.topics import ensure_config_topic, ensure_offset_topic, ensure_status_topic
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig


class LiveRun(HostedRun):
    """Offsets are the connector's own. Parameters are those of `HostedRun`."""

    def __init__(
        self, spec: RunSpec, config: ValidatedConfig, worker: WorkerConfig, run_id: str, session: LazySession
    ) -> None:
        super().__init__(spec, config, worker, run_id, session)
        self._start = SinkStart(self._name, self._class_name, config.props, worker, self._clients, self._admin)

    def _refuse_others(self) -> None:
        neighbours.refuse_running_cluster(self._admin, self._worker, self._name)
        neighbours.await_no_members(self._admin, self._host.group_id, self._name)
        if self._kind == "sink":
            remembered_s = sink_session(self._worker.props, self._config.props)[1]
            neighbours.await_no_readers(self._admin, sink_group(self._config.props), self._name, remembered_s)
            if control := iceberg.control(self._class_name, self._config.props):
                neighbours.await_no_readers(self._admin, control.group, self._name, control.remembered_s)

    def _sink_progress(self) -> Progress:
        progress = SinkProgress(
            self._admin,
            self._clients,
            self._worker,
            self._class_name,
            self._config.props,
            self._start,
            dry_run=self._spec.dry_run,
        )
        failpoint("after-settling")
        return progress

    def _prepare(self) -> None:
        lost = LostOffsets(self._name, self._worker, self._admin, self._offset_topic)
        if self._kind == "source":
            lost.check_exists()
        ensure_offset_topic(self._admin, self._worker, self._offset_topic)
        if self._kind == "source":
            lost.check_view(self._view())

    def _adapted(self, plain: dict[str, str]) -> dict[str, str]:
        return plain

    def _further_workers(self) -> int:
        return wanted(self._config, self._session)

    def _herder(self, jvm: HostGateway, properties: dict[str, str], listening: Listening | None) -> ConnectHerder:
        return ConnectHerder(jvm, properties, worker_id=self._run_id, listening=listening)

    def _join(self, crew: Crew, herder: ConnectHerder) -> None:
        if self._kind == "source" and self._host.group_id != self._worker.group_id:
            tasks = int(self._config.common["tasks.max"])
            neighbours.fence_others(self._clients, self._worker, self._name, tasks)
        ensure_config_topic(self._admin, self._host)
        ensure_status_topic(self._admin, self._host)
        store = ConfigStore(self._host)
        try:
            if store.refresh().connectors:
                with store.writing() as writer:
                    writer.remove_connector(self._name)
        finally:
            store.close()
        if control := iceberg.control(self._class_name, self._config.props):
            # A first run that was killed has left events there.
            begin_at_first(self._admin, control.group, control.topic)
        failpoint("after-fencing")
        crew.join(lambda: self._admin.member_count(self._host.group_id, "connect"))

    def _check_of_moved(self, crew: Crew) -> Callable[[], None]:
        return lambda: None

    def _keep(self) -> None:
        if self._kind != "sink":
            return
        try:
            self._start.keep()
        except ConnectError as error:  # everything is committed: this must not fail the run
            text = f"the sink's offsets are in its group, but not yet in {self._worker.offset_topic}: {error}"
            self._outcome.warnings.append(RunWarning(Kind.OFFSETS, text))

    def _own_notes(self) -> dict[str, Any]:
        self._outcome.warnings.extend(self._start.warnings)
        return {}
