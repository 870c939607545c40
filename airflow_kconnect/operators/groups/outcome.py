"""How a group has ended: what its task returns, its table in the log, and the error with which the task fails."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException

from airflow_kconnect.errors import ConnectorConfigError, ConnectorRetriableError, connector_error
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.runs.end import is_idle
from airflow_kconnect.runs.group import MemberEnd
from airflow_kconnect.submit.group import HEADER, end_rows, problem_of, table_lines

# Airflow keeps what tasks return in its database, and pages show it.
_MOST_RETURNED = 200_000
_MOST_LISTED = 20
_MOST_ROWS = 50
_MOST_OF_CELL = 300

_CUT = ("topics", "warnings", "warning_kinds", "ranges", "offsets")


def returned(reports: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """What the task returns: the reports by connector; of a large group without what may be long."""
    whole = dict(reports)
    if len(json.dumps(whole)) <= _MOST_RETURNED:
        return whole
    return {
        name: {
            **{key: report[key] for key in ("connector", "kind", "run_id", "records", "complete", "replay")},
            **{key: list(report[key])[:3] for key in ("warnings", "warning_kinds", "incomplete")},
        }
        for name, report in reports.items()
    }


def in_short(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report with at most 20 offsets, ranges, topics and warnings."""
    return {**report, **{key: list(report[key])[:_MOST_LISTED] for key in _CUT}, "notes": {}}


def masked_end(end: MemberEnd) -> MemberEnd:
    """An end as it may be stored: secrets in the text of its error are masked."""
    if end.error is None:
        return end
    errors = {key: [masked(text) for text in texts] for key, texts in (end.error["errors"] or {}).items()}
    error = {**end.error, "message": masked(str(end.error["message"])), "errors": errors or None}
    return replace(end, error=error)


def failures_of(ends: Iterable[MemberEnd], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """What callbacks and later tasks get of each connector that failed, secrets masked; see `ReportingOperator`.

    :param kinds: by connector, as far as they are known.
    """
    failures = []
    for end in ends:
        if end.error is None:
            continue
        error = connector_error(end.exit_code, str(end.error["message"]), str(end.error["error"]))
        name = type(error).__name__
        text = masked(str(error))
        failures.append({"connector": end.connector, "kind": kinds.get(end.connector), "error": name, "message": text})
    return failures


def group_error(ends: Sequence[MemberEnd]) -> AirflowException:
    """The error of a task of which some connectors have failed; a retry may help some of them, or not."""
    failures = [end for end in ends if end.error is not None]
    rows = [_row(end) for end in failures[:_MOST_ROWS]]
    more = [f"and {len(failures) - _MOST_ROWS:,} more"] if len(failures) > _MOST_ROWS else []
    again = sum(1 for end in failures if end.retried)
    head = f"{len(failures):,} of {len(ends):,} connectors failed"
    head += f"; a retry runs {again:,} of them again:" if again else "; a retry would not help:"
    text = "\n".join([head, *table_lines(("Connector", "Error", ""), rows), *more])
    return (ConnectorRetriableError if again else ConnectorConfigError)(masked(text))


def _row(end: MemberEnd) -> tuple[str, str, str]:
    assert end.error is not None
    error = connector_error(end.exit_code, "", str(end.error["error"]))
    return end.connector, type(error).__name__, problem_of(end.error)[:_MOST_OF_CELL]


def log_lines(ends: Sequence[MemberEnd]) -> list[str]:
    """The table of a group; of a large one without those that had nothing to do."""
    told, idle = list(ends), 0
    if len(ends) > _MOST_ROWS:
        told = [end for end in ends if end.error is not None or end.report is None or not is_idle(end.report)]
        idle = len(ends) - len(told)
    lines = table_lines(HEADER, end_rows(told)) if told else []
    return [masked(line) for line in lines] + ([f"{idle:,} connectors had nothing new"] if idle else [])
