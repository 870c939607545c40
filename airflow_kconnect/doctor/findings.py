"""The doctor's findings and the registry of its checks, which are run one by one, each with a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from airflow_kconnect.connect.errors import ConfigError, ConnectError, named
from airflow_kconnect.doctor.subject import Subject


class Status(StrEnum):
    """How a check ended; only a problem makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    :param text: the finding. :param cure: what to do about it; empty if nothing has to be done.
    :param name: what it is about; empty: the name of the check.
    """

    status: Status
    text: str
    cure: str = ""
    name: str = ""


def ok(text: str, *, name: str = "") -> Finding:
    """Everything is fine."""
    return Finding(Status.OK, text, name=name)


def warning(text: str, cure: str = "") -> Finding:
    """It works, with a drawback."""
    return Finding(Status.WARNING, text, cure)


def problem(text: str, cure: str = "", *, name: str = "") -> Finding:
    """A run would fail."""
    return Finding(Status.PROBLEM, text, cure, name)


def skipped(text: str, cure: str = "") -> Finding:
    """It was not checked."""
    return Finding(Status.SKIPPED, text, cure)


Examine = Callable[[Subject], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """A registered check.

    :param needs: names of checks; if one of them found a problem or was skipped, this one is skipped.
    :param limit_s: seconds after which it is abandoned and reported as a problem.
    """

    name: str
    examine: Examine
    needs: tuple[str, ...] = ()
    limit_s: float = 15.0


class Checks:
    """A registry of checks, run in the order in which they were registered."""

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def add(self, name: str, *, needs: Iterable[str] = (), limit_s: float = 15.0) -> Callable[[Examine], Examine]:
        """Decorator for a function `(Subject) -> Iterable[Finding]`. An error that it raises is a problem."""

        def register(examine: Examine) -> Examine:
            self._checks.append(Check(name, examine, tuple(needs), limit_s))
            return examine

        return register

    def run(self, subject: Subject) -> Iterator[Finding]:
        """The findings of all checks, as they come. Secrets from the configurations are hidden in them."""
        failed: set[str] = set()
        for check in self._checks:
            missing = next((name for name in check.needs if name in failed), None)
            findings = _limited(check, subject) if missing is None else [skipped(f"needs: {missing}")]
            if any(finding.status in (Status.PROBLEM, Status.SKIPPED) for finding in findings):
                failed.add(check.name)
            for finding in findings:
                yield replace(
                    finding,
                    name=finding.name or check.name,
                    text=subject.without_secrets(finding.text),
                    cure=subject.without_secrets(finding.cure),
                )


def _limited(check: Check, subject: Subject) -> list[Finding]:
    """A check that hangs is abandoned in a thread that does not keep the process alive."""
    findings: list[Finding] = []
    thread = threading.Thread(target=lambda: findings.extend(_examined(check, subject)), name=check.name, daemon=True)
    thread.start()
    thread.join(check.limit_s)
    if thread.is_alive():
        return [problem(f"no answer within {check.limit_s:.0f} s")]
    return findings


def _examined(check: Check, subject: Subject) -> list[Finding]:
    try:
        return list(check.examine(subject))
    except ConfigError as error:
        return [problem(f"`{key}`: {message}") for key, messages in error.errors.items() for message in messages]
    except ConnectError as error:
        return [problem(str(error))]
    except Exception as error:
        return [problem(f"the check itself failed: {named(error)}", "Please report this.")]
