"""A run of a sink that Spark itself writes: each round is a plan, which its tables take once (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from airflow_kconnect.connect.connector.planned import KnownPlans, PlannedSinkConnector, SinkPlan, UnknownPlansError
from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.sink.plan import OffsetRange
from airflow_kconnect.runtime.sink.plan_errors import altered, contradiction, judged_otherwise, unreadable
from airflow_kconnect.runtime.sink.plan_parts import before, ended_early, ranges_of
from airflow_kconnect.runtime.sink.plan_records import KafkaPlanRecords, stopped
from airflow_kconnect.runtime.sink.run import SinkRun
from airflow_kconnect.runtime.sink.writer import SinkReport
from airflow_kconnect.runtime.spark_jobs import job_error, job_errors
from airflow_kconnect.stores.sink_plans import SinkPlans

_COUNTS = ("written", "filtered", "dead_lettered")


class PlannedRun(SinkRun):
    """As `SinkRun`, but its rounds are plans.

    A plan is written to Kafka before it is moved. It is announced, with the names of its tables, before anything of it
    can be visible; from then on it has to be completed as it is, by this run or the next one: tables that have it are
    left out. What a plan has written counts when the positions after it are committed.
    """

    def __init__(
        self,
        settings: RunSettings,
        connector: PlannedSinkConnector,
        session: LazySession,
        *,
        dead_letters: bool = False,
    ) -> None:
        super().__init__(settings, connector, session, dead_letters=dead_letters)
        self._target, self._round_records = connector, connector.plan_records
        # Replays are other applications: what they leave in tables says nothing about the connector's own plans.
        self._is_extra = settings.replay is not None or dead_letters
        name = f"{settings.name}.replay" if self._is_extra else settings.name
        self._plans = SinkPlans(
            settings.clients, self._admin, settings.offset_topic, self._group, name, self._positions
        )
        self._resumed: SinkPlan | None = None
        self._is_published = self._is_verified = False
        self._opened = False

    def _before_planning(self, producer: TransactionalProducer) -> None:
        """Look for a plan that an interrupted run has announced: this run begins with it, unless all is done by now."""
        state = self._plans.read()
        if state.doubt:
            raise DataError(state.doubt)
        if not state.announced:
            return  # nothing of it can be visible
        plan = state.plan
        self._positions.look_up(plan.topics)
        positions = {tp: position.offset for tp, position in self._positions.read().items()}
        if any(positions.get(tp) != start for tp, start in plan.start.items()):
            self._warnings.append(altered(self._settings.name, state))
            return
        self._open()
        try:
            with job_errors():
                self._is_published = all(self._target.is_published(plan, table) for table in state.announced)
        except DataError:
            if not state.accepted:
                raise
            self._warnings.append(altered(self._settings.name, state))
            return
        if self._is_published:
            self._notes["completed_plans"] = 1
            # What cannot be staged was visible before it was compared with what was read.
            self._is_verified = self._target.staged or not self._is_readable(plan)
        if self._is_verified and not self._settings.errors.reports:
            self._plans.finish(producer, {**positions, **plan.end})
            self._is_published = self._is_verified = False
        else:
            self._resumed = plan

    def _is_readable(self, plan: SinkPlan) -> bool:
        bounds = self._admin.bounds(list(plan.start))
        return all(bounds[tp].begin <= start for tp, start in plan.start.items())

    def _open(self) -> None:
        if not self._opened:
            self._session.start(self._phases)
            with job_errors():
                self._target.open(self._session.spark)
            self._opened = True

    def _in_rounds(self, producer: TransactionalProducer, ranges: list[OffsetRange]) -> list[OffsetRange]:
        left = super()._in_rounds(producer, ranges)
        if self._settings.replay is not None and not left and self._plans.state.number:
            self._end(producer)
        return left

    def _end(self, producer: TransactionalProducer) -> None:
        """The replay has moved everything: no one will ask which plans of it tables have. One that is killed here is
        repeated, and finds nothing else to do.
        """
        application = self._plans.state.application
        if self._plans.state.taken:
            self._open()
        with job_errors():
            for table in self._plans.state.taken:
                self._target.forget(application, table)
        self._plans.forget(producer)

    def _taken(self, left: list[OffsetRange], size: int) -> list[OffsetRange]:
        plan = self._resumed
        if plan is None:
            return super()._taken(left, size)
        found = {range_.topic_partition: range_ for range_ in left}
        for tp, start in plan.start.items():
            range_ = found.get(tp)
            if range_ is None or range_.start != start or range_.end < plan.end[tp]:
                raise unreadable(self._settings.name, self._plans.state, tp)
        return [OffsetRange(tp, start, plan.end[tp]) for tp, start in plan.start.items()]

    def _round(self, producer: TransactionalProducer, splits: list[SinkSplit]) -> dict[TopicPartition, int]:
        """Write the splits as a plan.

        1 the plan goes to Kafka, with the positions before it: a fenced run ends here
        2 Spark writes its good rows; where the format can hide them, no one sees them yet
        3 if there are others, find out what they are: dead letters are written; a record that must not be skipped ends
          the plan before it, and what was written is discarded
        4 the plan is announced: it is completed from now on, and a fenced run ends here. A format that cannot hide what
          it writes announces before it writes
        5 it is published; a table refuses what it has
        6 the positions after the plan go to Kafka
        """
        if self._rounds:
            self._phases.again(self._why_again)
        self._open()
        if not self._rounds:
            self._look_at_samples(splits)
            if self._resumed is None and not self._plans.state.taken:
                self._target.check_takeover(self._admin, self._settings.clients)
            with job_errors(), self._doubts(producer):
                self._target.check_kept(self._known())
        self._rounds, self._splits = self._rounds + 1, self._splits + len(splits)
        resumed, self._resumed = self._resumed, None
        plan = resumed or self._plans.begin(producer, ranges_of(splits), self._reached)  # 1
        failpoint("planned")
        tables: Collection[str]
        if resumed is not None and self._is_verified:
            tables, reports = self._plans.state.announced, self._judged_twice(splits)
        else:
            tables, reports = self._attempt(producer, plan, splits)  # 2, 3
        if not any(map(ended_early, reports)):
            return self._published(producer, plan, tables, splits, reports)
        self._target.discard(plan)
        is_visible = bool(tables) and not self._target.staged
        if resumed is not None or is_visible or len(self._plans.state.announced) > 1:
            self._resumed = plan  # something of it may be visible: it is completed as it is, or not at all
        elif any(report.error for report in reports):
            self._write_before(producer, splits, reports)
        self._raise_or_learn(reports)
        return {}

    def _write_before(
        self, producer: TransactionalProducer, splits: list[SinkSplit], reports: list[SinkReport]
    ) -> None:
        """As a plan of its own, what comes before the records that end the run."""
        splits = before(splits, reports)
        if not splits:
            return
        plan = self._plans.begin(producer, ranges_of(splits), self._reached)
        tables, reports = self._attempt(producer, plan, splits)
        if not any(map(ended_early, reports)):
            self._published(producer, plan, tables, splits, reports)

    def _published(
        self,
        producer: TransactionalProducer,
        plan: SinkPlan,
        tables: Collection[str],
        splits: list[SinkSplit],
        reports: list[SinkReport],
    ) -> dict[TopicPartition, int]:
        self._phases.enter("committing offsets")
        failpoint("before-announcement")
        self._announce(producer, tables)  # 4
        failpoint("before-visible")
        with job_errors():
            facts = self._target.publish(plan)  # 5
        failpoint("after-visible")
        self._take_note(facts, self._target.run_warnings())
        self._reached |= plan.end
        self._plans.finish(producer, self._reached)  # 6
        failpoint("after-final-commit")
        self._count(list(zip(splits, reports, strict=True)), only_bad=self._is_published)
        self._is_published = self._is_verified = False
        self._learned, self._why_again = False, "there are more records"
        return plan.end

    def _attempt(
        self, producer: TransactionalProducer, plan: SinkPlan, splits: list[SinkSplit]
    ) -> tuple[Collection[str], list[SinkReport]]:
        """Write a plan; returns the tables that were written, and the reports of its splits. If one of these has ended
        early, what was written is not what the plan should have, or a broker has failed since.
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        self._phases.enter("preparing the Spark job")
        spark = self._session.spark
        with self._monitor(self._session.driver_host, splits) as monitor:
            records = KafkaPlanRecords(
                plan,
                splits,
                lambda some, originals, expected: self._jobs.frame(
                    spark, some, monitor.address, originals=originals, expected=expected
                ),
                lambda tables: self._announce(producer, tables),
                at_once=not self._target.staged,
                tolerant=self._settings.errors.tolerant,
            )
            self._phases.enter("moving records")
            try:
                with self._doubts(producer):
                    tables = self._target.write(records)
                records.check_complete(self._settings.name)
            except ConnectError:
                self._target.discard(plan)
                raise
            except (PySparkException, Py4JError) as error:
                if self._jobs.learn_from(error):
                    self._target.discard(plan)
                    return self._attempt(producer, plan, splits)
                if not stopped(error):
                    raise job_error(error) from error
                reports = self._judged(splits, reporting=not self._settings.errors.tolerant)
                if not any(map(ended_early, reports)):
                    raise contradiction(self._settings.name, plan) from error
                return (), reports
        failpoint("after-last-write")
        if records.bad:
            return tables, self._judged_after(records, splits)
        reports = [SinkReport(n, split.end, result={}) for n, split in enumerate(splits)]
        reports[0].written, reports[0].filtered = records.written, records.filtered
        return tables, reports

    def _judged_after(self, records: KafkaPlanRecords, splits: list[SinkSplit]) -> list[SinkReport]:
        """What the records are, some of which were bad when they were written.

        :raises RetriableError: those that are good by now are not those that were written.
        """
        reports = self._judged(splits, reporting=not records.unknown)
        if any(map(ended_early, reports)):
            return reports
        judged = tuple(sum(getattr(each, name) for each in reports) for name in _COUNTS)
        if records.counts != judged:
            with job_errors():
                records.count_again()
        if records.counts != judged:
            self._target.discard(records.plan)
            raise judged_otherwise(self._settings.name, records.plan, records.counts, judged)
        return self._judged(splits, reporting=True) if records.unknown else reports

    def _judged_twice(self, splits: list[SinkSplit]) -> list[SinkReport]:
        """What the records are if it is not certain that all are understood: dead letters are written when they are."""
        reports = self._judged(splits, reporting=False)
        return reports if any(map(ended_early, reports)) else self._judged(splits, reporting=True)

    def _announce(self, producer: TransactionalProducer, tables: Collection[str]) -> None:
        self._plans.announce(producer, tables, self._reached)
        failpoint("announced")

    def _known(self) -> KnownPlans:
        state = self._plans.state
        begins = not (state.taken or state.announced or state.accepted or self._is_extra)
        return KnownPlans(state.application, state.number, state.taken, begins, dict(self._reached))

    @contextmanager
    def _doubts(self, producer: TransactionalProducer) -> Iterator[None]:
        """Later runs are to end, too, until the user has said where they begin: numbers will have caught up by then."""
        try:
            yield
        except UnknownPlansError as error:
            self._plans.doubt(producer, str(error))
            raise

    def _judged(self, splits: list[SinkSplit], *, reporting: bool) -> list[SinkReport]:
        """What the records are, without writing any.

        :param reporting: bad records are logged and become dead letters. A job that has to be repeated leaves that to
            the next one.
        """
        failpoint("second-look")
        found = self._by_spark(None, splits, reporting=reporting)
        return sorted((SinkReport(**facts) for facts in found), key=lambda report: report.index)
