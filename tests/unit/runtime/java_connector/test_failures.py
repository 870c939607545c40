"""Which error a Java stack trace becomes."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.hosted.worker.herder import TaskState
from airflow_kconnect.runtime.java_connector.failures import failure

_FRAME = "\tat org.acme.Task.poll(Task.java:42)\n"


def trace(*causes: str) -> str:
    first, *others = causes
    return first + "\n" + _FRAME + "".join(f"Caused by: {cause}\n{_FRAME}\t... 9 more\n" for cause in others)


@pytest.mark.parametrize(
    ("causes", "kind"),
    [
        (["org.apache.kafka.connect.errors.ConnectException: no"], RetriableError),
        (["java.net.ConnectException: Connection refused"], RetriableError),
        (["org.apache.kafka.connect.errors.ConnectException: x", "java.sql.SQLException: gone"], RetriableError),
        (["org.apache.kafka.connect.errors.DataException: bad"], DataError),
        (["org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler"], DataError),
        (["org.apache.kafka.common.config.ConfigException: Missing"], ConfigError),
        (["java.lang.NoClassDefFoundError: org/acme/Thing"], ConfigError),
        (["x.y.ConnectException: a", "org.apache.kafka.common.errors.ProducerFencedException: b"], FencedError),
        (["x.y.ConnectException: a", "org.apache.kafka.common.errors.InvalidProducerEpochException: b"], FencedError),
    ],
)
def test_the_exceptions_say_what_the_caller_does(causes: list[str], kind: type[ConnectError]) -> None:
    assert type(failure("orders", TaskState("task 0", "FAILED", trace(*causes)))) is kind


def test_the_text_has_the_first_line_and_the_cause() -> None:
    error = failure(
        "orders", TaskState("task 1", "FAILED", trace("a.b.ConnectException: stop", "c.d.E: mid", "f.G: why"))
    )
    assert str(error) == "connector orders: task 1 failed: ConnectException: stop; caused by G: why"


def test_a_missing_class_is_named_with_what_to_look_for() -> None:
    error = failure("orders", TaskState("connector", "FAILED", trace("java.lang.NoClassDefFoundError: org/acme/Thing")))
    assert "NoClassDefFoundError: org/acme/Thing. A library is missing in the plug-in's folder" in str(error)


def test_a_failure_without_a_trace_is_said_so() -> None:
    assert "Java tells no reason" in str(failure("orders", TaskState("task 0", "FAILED")))
