"""The test button of a connection, as Airflow's API server presses it: with a real broker, and with none."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from airflow.models.connection import Connection
from confluent_kafka.admin import AdminClient

from airflow_kconnect.local.ports import free_port

Press = Callable[..., tuple[bool, str]]


@pytest.fixture
def tested(monkeypatch: pytest.MonkeyPatch) -> Press:
    """Outcome of the test of a connection that is in no database yet."""

    def test(extra: dict[str, str] | None = None, **fields: str) -> tuple[bool, str]:
        connection = Connection("being_tested", "kconnect", extra=json.dumps(extra or {}), **fields)  # type: ignore[arg-type]
        monkeypatch.setenv("AIRFLOW_CONN_BEING_TESTED", connection.get_uri())
        done, message = connection.test_connection()  # type: ignore[no-untyped-call]
        return done, message

    return test


def test_a_broker_that_answers_is_named_by_its_cluster(tested: Press, bootstrap: str) -> None:
    cluster = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).cluster_id

    assert tested(host=bootstrap) == (True, f"Kafka cluster {cluster} answers; it has 1 broker")


def test_one_broker_of_the_list_suffices(tested: Press, bootstrap: str) -> None:
    assert tested(host=f"127.0.0.1:{free_port()},{bootstrap}")[0]


def test_no_broker_is_an_answer_within_seconds(tested: Press) -> None:
    started = time.monotonic()
    host = f"127.0.0.1:{free_port()}"

    done, message = tested(host=host)

    assert not done
    assert f"no Kafka broker answers at {host}" in message
    assert time.monotonic() - started < 25


def test_a_login_that_is_refused_is_told_without_the_password(tested: Press, bootstrap: str) -> None:
    extra = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}

    done, message = tested(extra, host=bootstrap, login="etl", password="form-pass-61")

    assert not done
    assert "authentication failed; check user, password and mechanism" in message
    assert "form-pass-61" not in message
