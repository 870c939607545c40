"""Metrics of runs, named like Connect's JMX metrics, in Airflow's own: StatsD, Datadog or OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.providers.common.compat.sdk import Stats

PREFIX = "kconnect"

_COUNTERS = {
    "source": {"source-record-poll-total": "read", "source-record-write-total": "written"},
    "sink": {"sink-record-read-total": "read", "sink-record-send-total": "written"},
}
"""Kind -> metric -> count of the report."""

# There is one attempt per record, so all of them count the same; a record that is not tolerated ends the run.
_ERRORS = ("total-record-failures", "total-record-errors", "total-records-skipped")


def report_metrics(report: Mapping[str, Any], tags: Mapping[str, str], *, dead_letter_queue: bool) -> None:
    """Count what a run has done. Called once per run, in the task's process.

    :param tags: those that Airflow adds to its own metrics of the task.
    :param dead_letter_queue: whether bad records went to a topic.
    """
    own = {**tags, "connector": report["connector"], "kind": report["kind"]}
    records = report["records"]
    for metric, count in _COUNTERS[report["kind"]].items():
        Stats.incr(f"{PREFIX}.{metric}", records.get(count, 0), tags=own)
    bad = records.get("dead_lettered", 0)
    for metric in (*_ERRORS, *(["deadletterqueue-produce-requests"] if dead_letter_queue else [])):
        Stats.incr(f"{PREFIX}.{metric}", bad, tags=own)
    if report["lag_max"] is not None:
        Stats.gauge(f"{PREFIX}.sink-record-lag-max", report["lag_max"], tags=own)
        blocked = sum(report["notes"].get("blocked", {}).values())
        Stats.gauge(f"{PREFIX}.sink-record-blocked", blocked, tags=own)
    for topic, lag in report["lag"].items():
        Stats.gauge(f"{PREFIX}.sink-record-lag", lag, tags={**own, "topic": topic})
