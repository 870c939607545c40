"""Where Airflow has teams, a connector is its team's: in the auth manager's words, for users of two teams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from airflow_kconnect.airflow_plugin.dags import ScheduledRuns
from airflow_kconnect.airflow_plugin.security import DagRights
from airflow_kconnect.airflow_plugin.teams import Teams
from airflow_kconnect.rest.access import may_write
from airflow_kconnect.submit.dag_ids import PREFIX, dag_id_of

BUNDLES = {"bundle_red": "red", "bundle_blue": "blue", "bundle_of_all": None}


@pytest.fixture(autouse=True)
def teams(airflow_database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two teams with a bundle each, and a bundle of no team."""
    from airflow.models.dagbundle import DagBundleModel
    from airflow.models.team import Team
    from airflow.utils.session import create_session

    monkeypatch.setenv("AIRFLOW__CORE__MULTI_TEAM", "True")
    forget_connectors_of_other_tests()
    with create_session() as session:
        for name, team in BUNDLES.items():
            bundle = DagBundleModel(name=name)
            bundle.teams = [Team(name=team)] if team else []
            session.add(bundle)
    yield
    forget_dags()
    with create_session() as session:
        session.query(DagBundleModel).filter(DagBundleModel.name.in_(BUNDLES)).delete()
        session.query(Team).delete()


def forget_connectors_of_other_tests() -> None:
    from airflow.api.common.delete_dag import delete_dag
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        left = list(session.scalars(select(DagModel.dag_id).where(DagModel.dag_id.like(f"{PREFIX}%"))))
    for dag_id in left:
        delete_dag(dag_id)


def forget_dags() -> None:
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        session.query(DagModel).filter(DagModel.bundle_name.in_(BUNDLES)).delete()


def has_dag(connector: str, bundle: str) -> None:
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        model: Any = DagModel
        session.add(model(dag_id=dag_id_of(connector), bundle_name=bundle))


def rights(*teams: str, role: str = "user") -> DagRights:
    """Those of a user of some teams."""
    from airflow.api_fastapi.app import init_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    init_auth_manager()
    user: Any = SimpleAuthManagerUser(username="u", role=role, teams=list(teams))
    return DagRights(user, Teams())


def test_only_its_own_team_sees_and_changes_a_connector() -> None:
    has_dag("orders", "bundle_blue")
    assert rights("blue").readable(["orders"]) == ["orders"]
    assert rights("red").readable(["orders"]) == []
    assert may_write(rights("blue"), "orders")
    assert not may_write(rights("red"), "orders")


def test_a_connector_of_a_bundle_without_team_is_everyones() -> None:
    has_dag("orders", "bundle_of_all")
    assert may_write(rights("red"), "orders")
    assert not may_write(rights("red", role="viewer"), "orders")


def test_a_new_connector_is_for_the_team_that_has_the_others() -> None:
    has_dag("orders", "bundle_blue")
    assert may_write(rights("blue"), "new")
    assert not may_write(rights("red"), "new")


def test_the_first_connector_is_for_those_with_rights_in_all_teams() -> None:
    assert not may_write(rights("red"), "new")
    assert may_write(rights("red", "blue"), "new")
    assert may_write(rights(role="admin"), "new")


def test_the_server_as_a_whole_is_for_those_with_rights_in_all_teams() -> None:
    assert not may_write(rights("red"), "")
    assert may_write(rights("red", "blue"), "")


def test_a_connector_of_any_dag_is_for_the_team_of_the_dag() -> None:
    has_dag("orders", "bundle_blue")
    dag = dag_id_of("orders")
    assert rights("blue").may_read_dag(dag) and rights("blue").may_edit_dag(dag)
    assert not rights("red").may_read_dag(dag)
    assert not rights("blue", role="viewer").may_edit_dag(dag)


@pytest.mark.parametrize("dag", [None, "a-dag-that-is-gone"])
def test_a_connector_without_a_dag_is_for_those_with_rights_in_all_teams(dag: str | None) -> None:
    assert not rights("red").may_read_dag(dag)
    assert rights("red", "blue").may_read_dag(dag)


def test_the_team_of_a_dag_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    has_dag("orders", "bundle_blue")
    set_active(dag_id_of("orders"))
    assert ScheduledRuns().dags([dag_id_of("orders")])[dag_id_of("orders")].team == "blue"
    monkeypatch.setenv("AIRFLOW__CORE__MULTI_TEAM", "False")
    assert ScheduledRuns().dags([dag_id_of("orders")])[dag_id_of("orders")].team is None


def set_active(dag_id: str) -> None:
    """As the DAG processor does once it has parsed the DAG."""
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_stale=False))


def test_without_teams_roles_alone_count(monkeypatch: pytest.MonkeyPatch) -> None:
    has_dag("orders", "bundle_blue")
    monkeypatch.setenv("AIRFLOW__CORE__MULTI_TEAM", "False")
    assert may_write(rights("red"), "orders")
