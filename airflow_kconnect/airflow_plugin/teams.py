"""Which teams a connector may belong to, where Airflow has teams (`[core] multi_team`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping

from airflow.configuration import conf
from airflow.models.dag import DagModel
from airflow.utils.session import create_session
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.submit.dag_ids import PREFIX, dag_id_of

_FRESH_S = 3.0
_NO_TEAM = (None,)


class Teams:
    """The teams of all DAGs, from one query whose answer is kept for a few seconds. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._of_dags: Mapping[str, str | None] = {}
        self._all: Collection[str | None] = _NO_TEAM

    def possible(self, connector: str) -> Collection[str | None]:
        """Each team that a connector may belong to; None stands for none. Without a name: all teams.

        A connector is its DAG's bundle's. One that has no DAG yet gets it where other connectors have theirs; as long
        as there is none, it may become any team's.

        :raises RetriableError: Airflow's database does not answer.
        """
        of_dags, everyone = self._known()
        if not connector:
            return everyone
        dag_id = dag_id_of(connector)
        if dag_id in of_dags:
            return (of_dags[dag_id],)
        return {team for dag, team in of_dags.items() if dag.startswith(PREFIX)} or everyone

    def of_dag(self, dag_id: str) -> Collection[str | None]:
        """The team of any DAG, None stands for none; all teams if Airflow does not have it.

        :raises RetriableError: Airflow's database does not answer.
        """
        of_dags, everyone = self._known()
        return (of_dags[dag_id],) if dag_id in of_dags else everyone

    def _known(self) -> tuple[Mapping[str, str | None], Collection[str | None]]:
        """The team of each DAG, and all teams."""
        if not conf.getboolean("core", "multi_team", fallback=False):
            return {}, _NO_TEAM
        with self._lock:
            if time.monotonic() >= self._until:
                self._look()
                self._until = time.monotonic() + _FRESH_S
            return self._of_dags, self._all

    def _look(self) -> None:
        from airflow.models.dagbundle import DagBundleModel
        from airflow.models.team import Team

        query = (
            select(DagModel.dag_id, Team.name)
            .select_from(DagModel)
            .outerjoin(DagBundleModel, DagModel.bundle_name == DagBundleModel.name)
            .outerjoin(DagBundleModel.teams)
        )
        try:
            with create_session() as session:
                self._of_dags = dict(session.execute(query).tuples().all())
                self._all = (*session.scalars(select(Team.name)), None)
        except SQLAlchemyError as error:
            text = f"Airflow's database does not say which team a connector belongs to: {type(error).__name__}"
            raise RetriableError(text) from None
