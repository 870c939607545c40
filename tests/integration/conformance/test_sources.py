"""Sources that are wrong in one way fail the check for that, for the reason that it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import SourceHarness
from airflow_kconnect.conformance.source_checks import SOURCE_CHECKS
from tests.integration.conformance.conftest import Find
from tests.support.connectors import lines
from tests.support.connectors.lines import Lines, LinesHarness

WRONG_TASKS = [
    (lines.OffsetsOfBatches, "offsets", "two records of a source partition have the same offset"),
    (lines.NestedOffsets, "offsets", "only texts, numbers, booleans and null"),
    (lines.ResumesAtTheRecord, "same-again", "delivers {'n': 0, 'text': 'line 0'} and not {'n': 1"),
    (lines.SkipsARecord, "same-again", "delivers {'n': 2, 'text': 'line 2'} and not {'n': 1"),
    (lines.KeepsItsOwnState, "same-again", "starts without offsets delivers nothing and not {'n': 0"),
    (lines.StateInMemory, "same-again", "where it begins must depend on `context.offset(...)` alone"),
    (lines.UndeclaredSchema, "schemas", "a schema that `shapes` does not declare"),
    (lines.BytesWithoutSchema, "schemas", "without a schema is not JSON"),
    (lines.NeverCaughtUp, "poll", "return None once all is read"),
]
WRONG_RUNS = [
    (lines.IgnoresOffsets, "second-run", "wrote 5 of the records again"),
    (lines.SkipsARecord, "killed:before-final-commit", "1 record is (null: "),
    (lines.TimesInValues, "repeats", "leave it out in the harness' `identity(record)`"),
    (lines.HidesErrors, "errors", "ended a run with exit code 1 and not 3: raise RetriableError"),
    (lines.FailsWhenEmpty, "empty", "IndexError: list index out of range"),
    (lines.OffsetsOfBatches, "bounds", "missing"),
    (lines.OffsetsOfBatchesBefore, "killed:before-final-commit", "more than once"),
    (lines.OffsetsOfBatchesBefore, "each-record", "write the same records again and again"),
    (lines.KeepsItsOwnState, "killed:mid-produce", "missing"),
]
IN_CI = 1


@pytest.mark.parametrize(("connector", "check", "reason"), WRONG_TASKS)
def test_a_wrong_task_fails_for_its_reason(
    find: Find, monkeypatch: pytest.MonkeyPatch, connector: type[Lines], check: str, reason: str
) -> None:
    monkeypatch.setattr("airflow_kconnect.conformance.task_checks._POLLS_S", 0.5)
    finding = find(connector, LinesHarness, check)
    assert (finding.status, reason in finding.text) == (Status.FAILED, True), finding


@pytest.mark.parametrize("check", ["offsets", "same-again", "schemas", "poll"])
def test_a_right_task_passes(find: Find, check: str) -> None:
    assert find(Lines, LinesHarness, check).status is Status.PASSED


@pytest.mark.parametrize(
    ("connector", "check", "reason"),
    [*WRONG_RUNS[:IN_CI], *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in WRONG_RUNS[IN_CI:])],
)
def test_a_source_that_is_wrong_from_run_to_run_fails_for_its_reason(
    find: Find, connector: type[Lines], check: str, reason: str
) -> None:
    finding = find(connector, LinesHarness, check)
    assert (finding.status, reason in finding.text) == (Status.FAILED, True), finding


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "check",
    [check.name for check in SOURCE_CHECKS],
)
def test_a_right_source_passes(find: Find, check: str) -> None:
    finding = find(Lines, LinesHarness, check)
    assert finding.status is Status.PASSED, finding


@pytest.mark.exhaustive
@pytest.mark.parametrize("check", ["offsets", "same-again", "schemas", "second-run", "killed:during-commit"])
def test_the_page_shows_what_is_found(find: Find, check: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guides" / "conformance.md").read_text(encoding="utf-8")
    finding = find(lines.ResumesAtTheRecord, LinesHarness, check)
    assert f"{check} {finding.status} {finding.text}" in " ".join(page.split())


@pytest.mark.exhaustive
def test_what_comes_twice_is_no_failure_of_a_source_that_claims_at_least_once(find: Find) -> None:
    finding = find(lines.AtLeastOnceOffsets, LinesHarness, "killed:before-final-commit")
    assert (finding.status, finding.doubled > 0) == (Status.PASSED, True), finding


class _WrongExpectations(LinesHarness):
    def expected(self) -> list[dict[str, Any]]:
        return [*super().expected(), {"n": 10, "text": "line 10"}]


@pytest.mark.exhaustive
def test_a_source_that_does_not_deliver_what_is_expected_has_not_moved_everything(find: Find) -> None:
    finding = find(Lines, _WrongExpectations, "runs")
    assert (finding.status, finding.missing) == (Status.FAILED, 1), finding


class _Fixed(SourceHarness):
    def config(self) -> dict[str, str]:
        file = self.folder / "lines.txt"
        file.write_text("only line\n")
        return {"file": str(file), "topic": self.topic}


@pytest.mark.parametrize(("check", "reason"), [("empty", "the method `add`"), ("errors", "the method `fail`")])
def test_checks_that_need_more_than_a_configuration_say_what(find: Find, check: str, reason: str) -> None:
    finding = find(Lines, _Fixed, check)
    assert (finding.status, reason in finding.text) == (Status.DOES_NOT_APPLY, True)
