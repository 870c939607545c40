"""The next records of a source, and what each transformation makes of them: read as by a run, which moves nothing.

Nothing is claimed, fenced, written or committed: a run may be in progress at the same time. What was read stays in this
job's Spark; the connector learns of no commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.source import SourceConnector
from airflow_kconnect.connect.error_cells import PADDING
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.runs.spec import RecordsShown
from airflow_kconnect.runtime.dead_letters import with_error_column
from airflow_kconnect.runtime.preview import INTERPRETED, Plan
from airflow_kconnect.runtime.preview_steps import steps_of, transformations_of
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.source.kinds import SourceKind, kind_of
from airflow_kconnect.runtime.source.work import Work
from airflow_kconnect.stores.offset_topic.view import OffsetView

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A task of a quiet source may wait for its next record as long as it likes.
_POLLED_FOR_S = 20.0
_PARTS = ("transforms", "predicates", "key.converter", "value.converter", "header.converter")


class SourcePreview:
    """The next records of one source connector.

    :param settings: with a limit of records in `settings.max_records`.
    """

    def __init__(
        self, settings: RunSettings, connector: SourceConnector, session: LazySession, shown: RecordsShown
    ) -> None:
        self._settings, self._session, self._shown = settings, session, shown
        self._kind: SourceKind = kind_of(settings, connector, session)
        self._kind.commits_at_offsets = False  # nothing is committed, so it may end anywhere
        props = settings.config.props
        parts = {key: text for key, text in props.items() if key.startswith(_PARTS)}
        self._plan = Plan({**parts, **shown.output}, _converters_of(settings.worker.props))

    def answer(self) -> dict[str, Any]:
        """As that of `runtime.preview_steps.preview_steps`; no records if there is nothing new."""
        with self._kind:
            work = self._work()
            splits = work.to_do
            records = []
            if splits:
                frame = self._kind.frame(work, splits, _POLLED_FOR_S)
                records = steps_of(self._plan, self._kept(frame, self._session.spark), is_sink=False)
        return {"transformations": transformations_of(self._plan), "records": records}

    def _work(self) -> Work:
        """What the next run would read: the rest of an unfinished plan, or what is new."""
        view = self._view()
        resumed = self._kind.resume(view, view.plan) if view.plan is not None else None
        return resumed or self._kind.plan(view)

    def _view(self) -> OffsetView:
        """What is committed; a run in progress is not waited for."""
        settings = self._settings
        view = OffsetView(settings.offsets_name)
        admin = KafkaAdmin(settings.clients.admin())
        partitions = admin.check_reachable().get(settings.offset_topic, 0)
        if partitions:
            consumer = settings.clients.consumer(f"connect-{settings.name}-previews")
            topic = CompactedLog(admin, consumer, settings.offset_topic, settings.clients.patience_s)
            view.read(topic, range(partitions), committed=True)
        return view

    def _kept(self, frame: RecordFrame, spark: SparkSession) -> RecordFrame:
        """The first records in their order, read once: each step looks at the same ones."""
        from pyspark.sql import functions as F

        for key, value in INTERPRETED.items():
            spark.conf.set(key, value)
        frame = with_error_column(frame)
        records = frame.df.where(~F.coalesce(F.col("error").startswith(PADDING), F.lit(False)))
        rows = records.withColumn("n", F.monotonically_increasing_id()).limit(self._shown.most)
        return replace(frame, df=rows.localCheckpoint(), carried=(*frame.carried, "n"))


def _converters_of(worker: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in worker.items() if key.startswith(_PARTS)}
