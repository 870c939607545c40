"""Checks of Airflow: its version, and the connections that operators use by default.

`python -m airflow_kconnect.doctor.airflow` does this in a process of its own: Airflow takes seconds to import, and
logs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.doctor.findings import Checks, Finding, Status, ok, problem
from airflow_kconnect.doctor.subject import Subject

if TYPE_CHECKING:
    from airflow.sdk import Connection

_LIMIT_S = 90.0
_ANSWER = "kconnect-doctor: "
_MIGRATE = "`airflow db migrate` creates it; AIRFLOW_HOME, or AIRFLOW__DATABASE__SQL_ALCHEMY_CONN, says where it is."


def register(checks: Checks) -> None:
    """Add the checks of this module."""
    checks.add("Airflow")(_version)
    checks.add("Airflow connections", limit_s=_LIMIT_S + 5)(_connections)


def _version(_: Subject) -> Iterator[Finding]:
    home = os.environ.get("AIRFLOW_HOME") or "~/airflow"
    yield ok(f"{version('apache-airflow')}, AIRFLOW_HOME {home}")


def _connections(subject: Subject) -> Iterator[Finding]:
    if not subject.airflow:
        yield Finding(Status.SKIPPED, "`--airflow` looks at kafka_default and spark_default")
        return
    command = [sys.executable, "-m", "airflow_kconnect.doctor.airflow"]
    # Outside a task Airflow's SDK reads connections from the database only in its servers.
    environment = {**os.environ, "_AIRFLOW_PROCESS_CONTEXT": "server"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", timeout=_LIMIT_S, check=False
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith(_ANSWER)]
    if done.returncode != 0 or not answers:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        yield problem(f"Airflow cannot be queried: {last}")
        return
    for finding in json.loads(answers[-1].removeprefix(_ANSWER)):
        yield Finding(Status(finding["status"]), finding["text"], finding["cure"], finding["name"])


def _database() -> Finding | None:
    """What is wrong with Airflow's database; if it has no tables, Airflow reports that connections do not exist."""
    from airflow.utils.session import create_session
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with create_session() as session:
            session.execute(text("SELECT 1 FROM connection WHERE 1 = 0"))
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__).splitlines()[0]
        return problem(f"Airflow's database has no tables, or cannot be reached: {reason}", _MIGRATE)
    return None


def _kafka_connection() -> Finding:
    from airflow_kconnect.hooks.kconnect import KafkaConnectHook

    name = KafkaConnectHook.default_conn_name
    works, text = KafkaConnectHook(name).test_connection()
    return (ok if works else problem)(text, name=f"Connection {name}")


def _spark_connection() -> Finding:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
    from airflow.providers.common.compat.sdk import AirflowNotFoundException
    from airflow.sdk import BaseHook

    from airflow_kconnect.hooks.services.registry import names_service

    name, conn_type = SparkSubmitHook.default_conn_name, SparkSubmitHook.conn_type
    about = f"Connection {name}"
    create = f"airflow connections add {name} --conn-type {conn_type} --conn-host 'local[*]'"
    try:
        connection = BaseHook.get_connection(name)
    except AirflowNotFoundException:
        return problem("does not exist", f"Create it: {create}", name=about)
    if connection.conn_type != conn_type:
        again = f"Create it again: airflow connections delete {name}; {create}"
        return problem(f"has type `{connection.conn_type}`, expected `{conn_type}`", again, name=about)
    if names_service(connection.host):
        return _service(connection, name, about)
    return ok(f"master {connection.host or 'yarn'}", name=about)


def _service(connection: Connection, name: str, about: str) -> Finding:
    from airflow_kconnect.hooks.services.registry import open_service

    try:
        return ok(f"a job runs on {open_service(connection, name).title}: {connection.host}", name=about)
    except ConfigError as error:
        return problem("; ".join(text for texts in error.errors.values() for text in texts), name=about)


def _answer() -> None:
    wrong = _database()
    findings = [wrong] if wrong else [_kafka_connection(), _spark_connection()]
    lines = [{"name": f.name, "status": f.status, "text": f.text, "cure": f.cure} for f in findings]
    sys.stdout.write(f"{_ANSWER}{json.dumps(lines)}\n")


if __name__ == "__main__":
    _answer()
