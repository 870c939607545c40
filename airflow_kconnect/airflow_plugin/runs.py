"""Runs of registered connectors as DAG runs: started now, ended early, listed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

from airflow.api.common.trigger_dag import trigger_dag
from airflow.exceptions import DagNotFound, DagRunAlreadyExists
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from airflow.utils.types import DagRunTriggeredByType
from sqlalchemy import select, update

from airflow_kconnect.airflow_plugin.dags import ScheduledRuns
from airflow_kconnect.airflow_plugin.endings import Endings
from airflow_kconnect.airflow_plugin.history import history_of
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.control.runs import DagTask, Ending
from airflow_kconnect.operators.groups.members import CONNECTORS
from airflow_kconnect.submit.dag_ids import dag_id_of, group_dag_id_of

log = logging.getLogger(__name__)


class AirflowRuns(ScheduledRuns):
    """Starts and ends runs of a connector's DAG, in Airflow's database.

    A connector of a group is run by the group's DAG: what is started for it runs no other, and what runs others is not
    ended for it.

    :param group_of: the group of a registered connector; None if it has none.
    """

    def __init__(self, group_of: Callable[[str], str | None] = lambda connector: None) -> None:
        super().__init__()
        self._group_of = group_of
        self._endings = Endings()

    def start(self, connector: str) -> None:
        """Start a run now, beyond the schedule.

        :raises RetriableError: there is no DAG yet: a new connector has one once the DAG file was parsed again.
        """
        try:
            self._trigger(connector, {})
        except DagRunAlreadyExists:
            log.info("a run of %s has been started at the same moment", connector)

    def replay(self, connector: str, params: Mapping[str, Any]) -> str:
        """See `ReplaysRuns`."""
        try:
            return self._trigger(connector, params)
        except DagRunAlreadyExists:
            raise RetriableError(f"a run of {connector} was started at the same moment; try again") from None
        except ValueError as error:
            raise ConfigError({"params": [f"the DAG of {connector} does not accept them: {error}"]}) from None

    def _trigger(self, connector: str, params: Mapping[str, Any]) -> str:
        group = self._group_of(connector)
        dag_id = dag_id_of(connector) if group is None else group_dag_id_of(group)
        conf = dict(params) if group is None else {**params, CONNECTORS: [connector]}
        try:
            run = trigger_dag(dag_id, triggered_by=DagRunTriggeredByType.REST_API, conf=conf)
        except DagNotFound:
            raise RetriableError(
                f"connector {connector} has no DAG {dag_id} yet: the DAG file of registered connectors must be in the"
                " DAGs folder and was not parsed since the connector was created; try again in a moment"
            ) from None
        assert run is not None
        return str(run.run_id)

    def end(self, connector: str) -> None:
        """Fail the runs in progress: Airflow ends their tasks, and with them the jobs."""
        from airflow.api.common.mark_tasks import set_dag_run_state_to_failed

        group = self._group_of(connector)
        dag_id = dag_id_of(connector) if group is None else group_dag_id_of(group)
        with create_session() as session:
            for run in session.scalars(_unfinished(dag_id)):
                if group is not None and (run.conf or {}).get(CONNECTORS) != [connector]:
                    continue
                if (dag := _serialized(run, session)) is not None:
                    set_dag_run_state_to_failed(dag=dag, run_id=run.run_id, commit=True, session=session)

    def forget(self, connector: str) -> None:
        """Have Airflow hide the DAG and schedule it no more, as it does itself some minutes later.

        The DAG is back once the DAG file is parsed and has it again: with an old list of connectors for a moment, and
        with a new connector of this name.
        """
        with create_session() as session:
            session.execute(update(DagModel).where(DagModel.dag_id == dag_id_of(connector)).values(is_stale=True))

    def ending(self, connector: str) -> Ending | None:
        """See `EndsRuns`; asks the database about all connectors at once, at most every few seconds."""
        return self._endings.of(dag_id_of(connector))

    def history(self, tasks: Collection[DagTask]) -> list[dict[str, Any]]:
        """See `RemembersRuns`."""
        return history_of(tasks)


def _unfinished(dag_id: str) -> Any:
    return select(DagRun).where(DagRun.dag_id == dag_id, DagRun.state.in_((DagRunState.RUNNING, DagRunState.QUEUED)))


def _serialized(run: DagRun, session: Any) -> Any:
    from airflow.models.serialized_dag import SerializedDagModel

    model = SerializedDagModel.get(run.dag_id, session=session)
    return None if model is None else model.dag
