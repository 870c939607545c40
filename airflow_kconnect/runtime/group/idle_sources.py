"""Sources of a group that say themselves that they have nothing new, as their committed offsets are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    NativeSourceConnector,
    PlanContext,
    SourceConnector,
    SourcePlan,
)
from airflow_kconnect.connect.errors import InternalError
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.end import left_by_plan, waiting
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.group.member import Member
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.stores.offset_topic.view import OffsetView

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COUNTS = ("read", "written", "filtered", "dead_lettered", "already_done")


def by_offset_topic(members: Iterable[Member], existing: Mapping[str, int]) -> dict[str, list[Member]]:
    """The sources for which offset topics are worth reading, by those topics: several of one, or one that may say that
    it has nothing new.
    """
    found: dict[str, list[Member]] = {}
    for member in members:
        topic = member.worker.offset_topic_of(member.config.common)
        if member.config.kind == "source" and member.config.hosted is None and topic in existing:
            found.setdefault(topic, []).append(member)
    return {topic: some for topic, some in found.items() if len(some) > 1 or _may_say(some[0])}


def _may_say(member: Member) -> bool:
    says = registry().connector(member.config.connector_class)
    return issubclass(says, SourceConnector) and says.nothing_new is not SourceConnector.nothing_new


def idle_source_report(member: Member, view: OffsetView, has_written: Callable[[str], bool]) -> RunReport | None:
    """The report of a run that finds nothing new; None if there may be something to do.

    An unfinished plan is left to a run, and so are offsets that were lost.

    :param view: what the offset topic holds, read to its uncommitted end.
    :param has_written: whether runs of a connector have written to topics before; asked if there is no trace of them.
    :raises ConnectError: what a run would raise.
    """
    view.check_readable()
    if view.plan is not None or not _may_say(member) or (view.is_new and has_written(member.name)):
        return None
    config = member.config
    settings = run_settings(config, member.worker, member.spec.run_id)
    connector = registry().connector(config.connector_class)(config.props)
    assert isinstance(connector, SourceConnector)
    plan = _plan(connector, view)
    if plan is None or plan.splits or left_by_plan(plan.notes, max_records=None, given_up=False):
        return None
    exact = settings.exactly_once and connector.exactly_once_support(config.props) is ExactlyOnceSupport.SUPPORTED
    return RunReport(
        connector=config.name,
        kind="source",
        connector_class=config.connector_class,
        run_id=settings.run_id,
        guarantee="exactly_once" if exact else "at_least_once",
        records=dict.fromkeys(_COUNTS, 0),
        offsets=[{"partition": partition, "offset": offset} for partition, offset in view.committed()],
        notes={name: note for name, note in plan.notes.items() if name != "warnings"},
        warnings=[*config.warnings, *dict.fromkeys(plan.notes.get("warnings", ())), *waiting(plan.notes)],
    )


def _plan(connector: SourceConnector, view: OffsetView) -> SourcePlan | None:
    context = PlanContext(
        offsets=view.offsets,
        facts=view.facts,
        max_records=None,
        splits_max=1,
        parallelism=lambda: 1,
        spark=_no_spark,
        plan_splits=1,
    )
    try:
        return connector.nothing_new(context)
    finally:
        if isinstance(connector, NativeSourceConnector):
            connector.finished()


def _no_spark() -> SparkSession:
    raise InternalError("`nothing_new` must not start Spark")
