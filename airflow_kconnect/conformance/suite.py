"""All checks of a connector, one after the other, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from airflow_kconnect.conformance.checks import Check, chosen
from airflow_kconnect.conformance.findings import Finding, Verdict
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.sink_checks import SINK_CHECKS
from airflow_kconnect.conformance.source_checks import SOURCE_CHECKS
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.task_checks import TASK_CHECKS
from airflow_kconnect.connect.connector.sink import SinkConnector
from airflow_kconnect.connect.errors import ConfigError


def checks_of(subject: Subject, only: Sequence[str] = ()) -> tuple[Check, ...]:
    """The checks for a connector. :raises ConfigError: there are none of these names."""
    known = SINK_CHECKS if issubclass(subject.connector, SinkConnector) else (*TASK_CHECKS, *SOURCE_CHECKS)
    unknown = [name for name in only if not chosen(known, [name])]
    if unknown:
        names = ", ".join(check.name for check in known)
        raise ConfigError({"--only": [f"names {', '.join(unknown)}, which it does not have; there are {names}"]})
    return chosen(known, list(only))


def examined(
    lab: Lab,
    checks: Sequence[Check],
    on_check: Callable[[Check], None] = lambda _: None,
    on_finding: Callable[[Finding], None] = lambda _: None,
) -> Verdict:
    """Make the checks.

    :raises RetriableError: Kafka cannot be used. :raises ConfigError: the connector or its harness cannot be used.
    """
    claims, findings = lab.claims, []
    for check in checks:
        on_check(check)
        findings.append(check.finding(lab))
        on_finding(findings[-1])
    return Verdict.of(claims, findings, complete=len(checks) == len(checks_of(lab.subject)))
