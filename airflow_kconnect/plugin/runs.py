"""Runs of registered connectors as DAG runs: started now, ended early, listed."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from airflow.api.common.trigger_dag import trigger_dag
from airflow.exceptions import DagNotFound, DagRunAlreadyExists
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.models.xcom import XCOM_RETURN_KEY, XComModel
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from airflow.utils.types import DagRunTriggeredByType
from sqlalchemy import select, update

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.control.runs import Ending
from airflow_kconnect.plugin.endings import Endings
from airflow_kconnect.submit.dag_ids import dag_id_of

log = logging.getLogger(__name__)

_LATEST = 20


class AirflowRuns:
    """Starts and ends runs of a connector's DAG, in Airflow's database."""

    def __init__(self) -> None:
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
        dag_id = dag_id_of(connector)
        try:
            run = trigger_dag(dag_id, triggered_by=DagRunTriggeredByType.REST_API, conf=dict(params))
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

        with create_session() as session:
            for run in session.scalars(_runs_of(connector, DagRunState.RUNNING, DagRunState.QUEUED)):
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

    def history(self, connector: str) -> list[dict[str, Any]]:
        """The latest runs, newest first: id, state, start and end in epoch ms; records and warnings of those that have
        left a report.
        """
        with create_session() as session:
            query = _runs_of(connector).order_by(DagRun.run_after.desc()).limit(_LATEST)
            runs = list(session.scalars(query))
            reports = _reports(dag_id_of(connector), [run.run_id for run in runs], session)
            return [
                {"id": run.run_id, "state": str(run.state), "start": _ms(run.start_date), "end": _ms(run.end_date)}
                | reports.get(run.run_id, {})
                for run in runs
            ]


def _runs_of(connector: str, *states: DagRunState) -> Any:
    query = select(DagRun).where(DagRun.dag_id == dag_id_of(connector))
    return query.where(DagRun.state.in_(states)) if states else query


def _reports(dag_id: str, run_ids: list[str], session: Any) -> dict[str, dict[str, Any]]:
    """What their tasks have returned, in short, by run."""
    rows = session.execute(
        select(XComModel.run_id, XComModel.value).where(
            XComModel.dag_id == dag_id, XComModel.run_id.in_(run_ids), XComModel.key == XCOM_RETURN_KEY
        )
    )
    found = {}
    for run_id, value in rows:
        report = _parsed(value)
        if isinstance(report, dict) and isinstance(report.get("records"), dict):
            found[run_id] = {"records": report["records"].get("written"), "warnings": report.get("warnings", [])}
    return found


def _parsed(value: Any) -> Any:
    """What an XCom holds; None if it is a text of a backend of the installation's own."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def _serialized(run: DagRun, session: Any) -> Any:
    from airflow.models.serialized_dag import SerializedDagModel

    model = SerializedDagModel.get(run.dag_id, session=session)
    return None if model is None else model.dag


def _ms(moment: Any) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
