"""The sink connector of a function that takes DataFrames of Spark: each batch is a plan, which the function writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector, PlanRecords, SinkPlan
from airflow_kconnect.connect.error_cells import stage_prefix
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.functions.failures import failure
from airflow_kconnect.functions.parameters import arguments
from airflow_kconnect.functions.sink_spec import BATCH_ID, BATCH_SIZE, SinkSpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.connectors.table.columns.columns import ColumnSettings

TABLE = "the function's"
"""What Kafka calls the target of a plan: a function does not say what it writes to."""


class FunctionFrameSinkConnector(PlannedSinkConnector):
    """What `@sink` makes of a function of a DataFrame; `spec` is in a subclass for each.

    The rows of a plan are kept by Spark, in memory or on disk, until the function has returned: so bad records are
    known before it is called, and it may use the rows as often as it wants. A plan that a killed run has announced is
    written again as it was, under the same identity.
    """

    spec: ClassVar[SinkSpec]
    needs = frozenset()

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self.plan_records = self.config_values[BATCH_SIZE]
        self.exactly_once = self.spec.idempotent
        self._columns: StructType | None = None
        self._kept: DataFrame | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return cls.spec.config()

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        if BATCH_ID in cls.spec.given:
            return f"recognises batches by `{BATCH_ID}`, and those of a replay are others"
        return cls.spec.replay_problem()

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    def is_published(self, plan: SinkPlan, table: str) -> bool:
        """Only the function can know: it gets the plan again."""
        return False

    def judged(self, frame: RecordFrame) -> DataFrame:
        return self._rows(frame, self._columns or self._wanted(frame))

    def write(self, records: PlanRecords) -> Collection[str]:
        from airflow_kconnect.connectors.table.identifiers import quoted

        self.discard(records.plan)
        self._columns = columns = self._wanted(records.look())
        good, _ = records.good(self._rows(records.frame(), columns))
        self._kept = good.select(*map(quoted, columns.names)).persist()
        if self._kept.count():  # the records are read and judged here, once
            return [TABLE]
        self.discard(records.plan)
        return []

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        if self._kept is None:
            return {}
        given = dict.fromkeys(self.spec.given, plan.identity.replace(":", "-"))
        try:
            self.spec.function(self._kept, **arguments(self.spec.parameters, self.config_values), **given)
        except (PySparkException, Py4JError):  # the run is retried
            raise
        except Exception as error:
            raise failure(self.spec.name, error) from error
        finally:
            self.discard(plan)
        return {}

    def discard(self, plan: SinkPlan) -> None:
        if self._kept is not None:
            self._kept.unpersist()
            self._kept = None

    def _wanted(self, frame: RecordFrame) -> StructType:
        """The columns for the records: their fields. Values without a schema are looked at by a job of its own."""
        from airflow_kconnect.connectors.table.columns.columns import wanted_columns

        return wanted_columns(frame, self._column_settings(), None)

    def _rows(self, frame: RecordFrame, columns: StructType) -> DataFrame:
        """The columns, those that the frame carries, and ``error`` with what does not fit."""
        from pyspark.sql import functions as F

        from airflow_kconnect.connectors.table.columns.rows import rows_of

        is_null = reduce(and_, (F.col(name).isNull() for name in frame.value.columns), F.lit(True))
        text = f"{stage_prefix('TASK_PUT', self.spec.name)}it is a tombstone, and {self.spec.name} takes values only"
        error = F.coalesce(F.col("error"), F.when(is_null, F.lit(text)))
        return rows_of(frame.with_columns({"error": error}), columns, self._column_settings())

    def _column_settings(self) -> ColumnSettings:
        from airflow_kconnect.connectors.table.columns.columns import ColumnSettings

        return ColumnSettings(optional=True, executing=self.spec.name)
