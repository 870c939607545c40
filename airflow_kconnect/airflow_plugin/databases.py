"""Airflow's connections to databases that a user may see, by id and type; nothing else of them is read."""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import ConnectionDetails
from airflow.models.connection import Connection
from airflow.utils.session import create_session
from sqlalchemy import and_, or_, select
from sqlalchemy.exc import SQLAlchemyError

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hooks.database import TYPES

_MOST = 1_000


def connections_of(user: BaseUser) -> list[dict[str, str]]:
    """`conn_id` and `conn_type` of those that `${airflow:<conn_id>:jdbc_url}` can name, by id. Connections of
    environment variables and of secrets backends are in no list of Airflow's.

    :raises RetriableError: Airflow's database does not answer.
    """
    model: Any = Connection
    has_url = and_(model.conn_type == "generic", model.host.like("jdbc:%"))
    # Airflow has teams since 3.2.
    team: Any = [model.team_name] if hasattr(model, "team_name") else []
    query = select(model.conn_id, model.conn_type, *team).where(or_(model.conn_type.in_(TYPES), has_url))
    try:
        with create_session() as session:
            rows = session.execute(query.order_by(model.conn_id).limit(_MOST)).all()
    except SQLAlchemyError as error:
        raise RetriableError(f"Airflow's database does not list its connections: {type(error).__name__}") from None
    return [{"conn_id": row[0], "conn_type": row[1]} for row in rows if _may_see(user, *row[0:1], *row[2:])]


def _may_see(user: BaseUser, conn_id: str, team: str | None = None) -> bool:
    more = {} if team is None else {"team_name": team}
    return get_auth_manager().is_authorized_connection(
        method="GET", details=ConnectionDetails(conn_id=conn_id, **more), user=user
    )
