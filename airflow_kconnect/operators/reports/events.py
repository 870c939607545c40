"""Asset events of a run: for the topics that a source has written to, and for the outlets that a user has declared."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetAlias

from airflow_kconnect.operators.reports.assets import topic_asset
from airflow_kconnect.runs.moments import moment_of

if TYPE_CHECKING:
    from airflow.sdk import Context

_MOST = 20
"""Airflow stores the facts with each event: of a connector with thousands of tables it gets this many positions."""

_OF_TABLE = ("snapshot", "partitions", "location")

# As `CronPartitionTimetable` writes them.
_KEY = "%Y-%m-%dT%H:%M:%S"

log = logging.getLogger(__name__)


def event_facts(report: Mapping[str, Any], topic: str | None = None) -> dict[str, Any]:
    """The `extra` of an event.

    :param topic: ranges of other topics are left out.
    """
    positions, ranges = report["offsets"], [r for r in report["ranges"] if topic in (None, r["topic"])]
    return {
        "connector": report["connector"],
        "run": report["run_id"],
        "records": report["records"],
        "complete": report["complete"],
        "offsets": positions[:_MOST],
        "partitions": len(positions),
        "guarantee": report["guarantee"],
        **({"replay": report["replay"], "ranges": ranges[:_MOST]} if report["replay"] else {}),
        **({"tables": tables} if (tables := _tables(report)) else {}),
        **({"lag": dict(list(report["lag"].items())[:_MOST])} if report["lag"] else {}),
    }


def _tables(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Of each table its newest snapshot, and the partitions that got rows, as far as they are known."""
    tables = report.get("notes", {}).get("tables")
    if not isinstance(tables, dict):  # JDBC sinks name theirs
        return {}
    facts_of = list(tables.items())[:_MOST]
    return {table: {name: facts[name] for name in _OF_TABLE if name in facts} for table, facts in facts_of}


def add_topic_events(context: Context, alias: AssetAlias, server: str, report: Mapping[str, Any]) -> None:
    """Have Airflow record an event for each topic that received records, when the task succeeds."""
    events = context.get("outlet_events")
    if events is None:  # `execute` was not called by Airflow, as in tests of DAGs
        return
    for topic in report["topics"]:
        events[alias].add(topic_asset(topic, server), extra=event_facts(report, topic))


def add_outlet_facts(
    context: Context, outlets: Iterable[Any], report: Mapping[str, Any], *, partitions: bool = False
) -> None:
    """Say in the events of a user's own outlets what the run was; what the user has put there wins.

    :param partitions: whether they are events of the partition of the run's interval. Airflow records those of an alias
        without one.
    """
    _add_facts(context, outlets, event_facts(report), report["replay"], partitions=partitions)


def add_group_facts(
    context: Context, outlets: Iterable[Any], reports: Sequence[Mapping[str, Any]], *, partitions: bool = False
) -> None:
    """`add_outlet_facts` for the connectors of a group: what all of them have moved."""
    replay = next((report["replay"] for report in reports if report["replay"]), None)
    records: Counter[str] = Counter()
    for report in reports:
        records.update(report["records"])
    facts = {
        "connectors": [report["connector"] for report in reports][:_MOST],
        "count": len(reports),
        "records": dict(records),
        "complete": all(report["complete"] for report in reports),
        **({"replay": replay} if replay else {}),
    }
    _add_facts(context, outlets, facts, replay, partitions=partitions)


def _add_facts(
    context: Context, outlets: Iterable[Any], facts: Mapping[str, Any], replay: str | None, *, partitions: bool
) -> None:
    events = context.get("outlet_events")
    if events is None:
        return
    key = _partition_key(context, replay) if partitions else None
    for asset in outlets:
        if not isinstance(asset, Asset):
            continue
        event = events[asset]
        event.extra = {**facts, **event.extra}
        if key is None:
            continue
        if not hasattr(event, "add_partitions"):
            log.warning("Airflow 3.3 or newer is needed for partitions of assets: these events have none")
            return
        event.add_partitions(key)


def _partition_key(context: Context, replay: str | None) -> str | None:
    """The start of the interval, in UTC; None if the run has none, or if it is a partition's by its timetable."""
    run = context["dag_run"]
    if getattr(run, "partition_key", None):
        return None
    if replay:
        start: datetime | None = moment_of(replay.partition("/")[0])
    else:
        start = getattr(run, "data_interval_start", None)
    if start is None:
        log.info("The run has no data interval, and its events no partition")
        return None
    return start.astimezone(UTC).strftime(_KEY)
