"""Writing and publishing of plans: what is written is seen by no one until it is published, each plan once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.errors import DataError, FencedError, RetriableError
from airflow_kconnect.connectors.table.formats.iceberg.access import TableAccess
from airflow_kconnect.connectors.table.formats.iceberg.errors import is_conflict, is_file_missing, understood
from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience
from airflow_kconnect.connectors.table.formats.iceberg.state import ATTEMPT, RANGES, Snapshot, TableState, plan_property
from airflow_kconnect.connectors.table.session_conf import with_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WAP_ID = "spark.wap.id"
_PROPERTY = "spark.sql.iceberg.snapshot-property."
_LONGEST_RANGES = 4000

Write = Callable[[TableState], bool]
"""Writes rows by Spark, into a table that is in this state; returns whether they only count in this very state."""
Check = Callable[[Snapshot], None]
"""Raises an error if what was staged is not all that should be."""


@dataclass(frozen=True)
class Staged:
    """A snapshot that is seen by no one yet.

    :param table: the table's UUID.
    :param is_bound: it may only take the place of the snapshot that it was made on.
    """

    snapshot: Snapshot
    table: str
    is_bound: bool


class Publication:
    """What one plan brings into one table.

    :param spark: the session that writes: no other connector has it.
    :param write: is called again if another writer has changed the table in between.
    :param check: is called for what it has staged, each time.
    """

    def __init__(
        self, spark: SparkSession, access: TableAccess, plan: SinkPlan, write: Write, check: Check, patience: Patience
    ) -> None:
        self._spark, self._access, self._plan, self._write, self._check = spark, access, plan, write, check
        self._patience = patience
        self._staged: Staged | None = None

    def stage(self) -> None:
        """Write the rows, as a snapshot that is not the table's current one.

        :raises RetriableError: other writers are always faster.
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        for _ in self._patience:
            state, attempt = self._access.read().state, uuid.uuid4().hex
            try:
                with _written_as(self._spark, self._plan, attempt):
                    is_bound = self._write(state)
            except (Py4JError, PySparkException) as error:
                if is_conflict(error) or (is_file_missing(error) and self._has_changed_since(state)):
                    continue
                with understood(self._access.subject):
                    raise
            snapshot = self._found(attempt)
            self._check(snapshot)
            if not is_bound or snapshot.parent == state.current:
                self._staged = Staged(snapshot, state.uuid, is_bound)
                return
        raise self._too_slow()

    def _has_changed_since(self, state: TableState) -> bool:
        """Whether others may have removed files that a merge was about to read: compacted, and let expire."""
        return self._access.read().state.snapshots.keys() != state.snapshots.keys()

    def publish(self) -> dict[str, Any]:
        """Make the snapshot visible; returns what it has added. Nothing if another run has published the plan.

        1 the table is read; it refuses a plan that its snapshots or those of a later one show
        2 the staged snapshot replaces the one that it was made on, by a commit that fails if the table has changed
          since it was read
        3 if the table has another one by now, the files of an append are added to it: Iceberg refuses a plan that it
          has by then. What depends on the rows that are there is written again
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        for _ in self._patience:
            staged, view = self._staged, self._access.read()
            assert staged is not None
            if view.state.uuid != staged.table:
                raise self._created_again()
            if (published := self._refused(view.state, staged)) is not None:  # 1
                return published
            if staged.snapshot.id not in view.state.snapshots:
                self.stage()  # it has expired
                continue
            try:
                if view.state.current == staged.snapshot.parent:
                    self._access.exchange(view, staged.snapshot.id, self._mark)  # 2
                elif staged.is_bound:
                    self.stage()  # 3
                else:
                    self._access.copy(view, staged.snapshot.id, self._mark)  # 3
            except (Py4JError, PySparkException) as error:
                if not is_conflict(error):
                    with understood(self._access.subject):
                        raise
        return self._last_look()

    def _last_look(self) -> dict[str, Any]:
        staged = self._staged
        assert staged is not None
        published = self._refused(self._access.read().state, staged)
        if published is None:
            raise self._too_slow()
        return published

    def _refused(self, state: TableState, staged: Staged) -> dict[str, Any] | None:
        """What the plan has added, if the table has it; None: it has not."""
        last = state.last_plan(self._plan.application)
        if last is None or last < self._plan.number:
            return None
        if last > self._plan.number:
            raise FencedError(
                f"{self._access.subject}: it has plan {last} of {self._plan.application}, and this run was about to"
                f" publish plan {self._plan.number}: a newer run has taken over"
            )
        published = state.published(staged.snapshot.id)
        return {} if published is None else {**staged.snapshot.facts(), "snapshots": 1, "snapshot": published.id}

    @property
    def _mark(self) -> dict[str, str]:
        return {plan_property(self._plan.application): str(self._plan.number)}

    def _found(self, attempt: str) -> Snapshot:
        snapshots = self._access.read().state.snapshots.values()
        for snapshot in snapshots:
            if snapshot.summary.get(ATTEMPT) == attempt:
                return snapshot
        raise RetriableError(
            f"{self._access.subject}: what was just written is not in it: it was replaced, or all of its snapshots have"
            " expired. Run again"
        )

    def _too_slow(self) -> RetriableError:
        return RetriableError(
            f"{self._access.subject}: other writers were faster each of {self._patience.attempts} times: run again. If"
            " they never rest, give this connector a time of its own, or append only"
        )

    def _created_again(self) -> DataError:
        return DataError(
            f"{self._access.subject}: while plan {self._plan.identity} was written,"
            " it was restored, replaced or created again. Compare the table with the topics, then alter the connector's"
            " offsets (`kconnect offsets alter`) to where it is to resume"
        )


def _written_as(spark: SparkSession, plan: SinkPlan, attempt: str) -> AbstractContextManager[None]:
    """What the session writes within the block is staged for the plan."""
    conf = {_WAP_ID: plan.identity, _PROPERTY + ATTEMPT: attempt}
    if len(ranges := _ranges(plan)) <= _LONGEST_RANGES:
        conf[_PROPERTY + RANGES] = ranges
    return with_conf(spark, conf)


def _ranges(plan: SinkPlan) -> str:
    """The plan's offsets for people who look at snapshots: topic -> partition -> first, and that after the last."""
    topics: dict[str, dict[str, list[int]]] = {}
    for range_ in plan.ranges:
        topics.setdefault(range_.topic, {})[str(range_.partition)] = [range_.start, range_.end]
    return json.dumps(topics, separators=(",", ":"))
