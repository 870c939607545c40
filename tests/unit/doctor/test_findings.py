"""The registry of checks: order, dependencies, time limits, errors and secrets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.doctor.findings import Checks, Finding, Status, ok, skipped
from airflow_kconnect.doctor.subject import Subject

SUBJECT = Subject(lambda: None)


def _only(checks: Checks, subject: Subject = SUBJECT) -> Finding:
    (finding,) = checks.run(subject)
    return finding


def test_findings_have_the_name_of_their_check_unless_they_have_their_own() -> None:
    checks = Checks()
    checks.add("disk")(lambda _: [ok("fine"), ok("fine too", name="other disk")])
    assert [finding.name for finding in checks.run(SUBJECT)] == ["disk", "other disk"]


@pytest.mark.parametrize("first", [Finding(Status.PROBLEM, "broken"), skipped("not looked at")])
def test_what_needs_a_check_that_failed_is_skipped(first: Finding) -> None:
    checks = Checks()
    checks.add("first")(lambda _: [first])
    checks.add("second", needs=["first"])(lambda _: pytest.fail("was examined"))
    assert [finding.status for finding in checks.run(SUBJECT)] == [first.status, Status.SKIPPED]


def test_a_warning_stops_nothing() -> None:
    checks = Checks()
    checks.add("first")(lambda _: [Finding(Status.WARNING, "hm")])
    checks.add("second", needs=["first"])(lambda _: [ok("fine")])
    assert [finding.status for finding in checks.run(SUBJECT)] == [Status.WARNING, Status.OK]


def test_a_check_that_hangs_is_a_problem_and_the_next_one_runs() -> None:
    checks = Checks()

    def hang(_: Subject) -> Iterator[Finding]:
        time.sleep(5)
        yield ok("too late")

    checks.add("slow", limit_s=0.05)(hang)
    checks.add("quick")(lambda _: [ok("fine")])
    slow, quick = checks.run(SUBJECT)
    assert (slow.status, slow.text, quick.status) == (Status.PROBLEM, "no answer within 0 s", Status.OK)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RetriableError("no broker"), "no broker"),
        (ConfigError({"name": ["is missing"]}), "`name`: is missing"),
        (ValueError("oops"), "the check itself failed: ValueError: oops"),
    ],
)
def test_an_error_is_a_problem(error: Exception, text: str) -> None:
    checks = Checks()

    def fail(_: Subject) -> Any:
        raise error

    checks.add("failing")(fail)
    finding = _only(checks)
    assert (finding.status, finding.text) == (Status.PROBLEM, text)


def test_secrets_of_the_worker_are_hidden() -> None:
    subject = Subject(lambda: {"bootstrap.servers": "b:9092", "sasl.password": "hunter22"})
    checks = Checks()
    checks.add("chatty")(lambda subject: [ok(f"the keys are {subject.worker_props}")])
    assert "hunter22" not in _only(checks, subject).text


def test_values_of_variables_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_USER", "secret-agent")
    subject = Subject(
        lambda: {
            "bootstrap.servers": "b:9092",
            "sasl.username": "${env:BROKER_USER}",
            "config.providers": "env",
            "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        }
    )
    checks = Checks()
    checks.add("chatty")(lambda subject: [ok(f"the user is {subject.worker.props['sasl.username']}")])
    assert _only(checks, subject).text == "the user is ***"
