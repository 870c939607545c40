"""A table of any format of Spark: what is written is visible when Spark's job ends, and it keeps no plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.row_counts import RowCount, soon
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.base import Table, TableDefinition, counted
from airflow_kconnect.connectors.table.formats.plain.options import describes_itself, place_of, with_table
from airflow_kconnect.connectors.table.session_conf import with_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter
    from pyspark.sql import types as T

_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"
_NOT_ALL = (
    "They are visible, and no offsets were committed: a later run adds them again. An extension of Spark"
    " (`spark.sql.extensions`) takes rows away, or adds some: remove it, remove these rows, then run again"
)
_NO_FILES = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


class PlainTable(Table):
    """Files in a folder (`table.location`), what options of the format name (``${table}``), or a table of a catalog."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._place = place_of(self.settings, self.name)
        self._options = with_table(self.settings.write_options, self.name)
        self._has_name = self._place is None and self._options == dict(self.settings.write_options)

    def columns(self) -> T.StructType | None:
        if self._has_name:
            return self.spark.table(self.name).schema if self.spark.catalog.tableExists(self.name) else None
        if self._place is None or not describes_itself(self.settings.format):
            return None
        from pyspark.errors import AnalysisException

        with with_conf(self.spark, {_INFERENCE: "false"}):  # else a folder day=01 would have the number 1
            try:
                return self.spark.read.format(self.settings.format).load(self._place).schema
            except AnalysisException as error:
                if error.getCondition() in _NO_FILES:
                    return None
                raise

    def create(self, definition: TableDefinition) -> None:
        if self._has_name:
            empty = self.spark.createDataFrame([], definition.columns)
            self._written(empty, definition.partition_by).mode("ignore").saveAsTable(self.name)

    def change(self, changes: Sequence[Change]) -> None:
        raise ConfigError({"kconnect.schema.change": [f"tables of {self.settings.format} cannot be changed"]})

    def has(self, plan: SinkPlan) -> bool:
        return False

    def last_plan(self, application: str) -> int | None:
        return None

    def append(self, plan: SinkPlan, rows: DataFrame, count: RowCount | None = None) -> None:
        rows, last = counted(rows)
        if self._has_name:
            rows.write.mode("append").options(**self._options).insertInto(self.name)
        else:
            self._written(rows, self.settings.partition_by).mode("append").save(self._place)
        # The format does not say what it has written: this is what Spark's writer has got.
        written = soon(last.observed) or 0
        if count is not None and (given := count.unlike(written)) is not None:
            raise self.miscounted(plan, written, given, _NOT_ALL)

    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        raise ConfigError({"insert.mode": [f"is upsert, but rows are only appended to {self.settings.format}"]})

    def _written(self, rows: DataFrame, partition_by: Sequence[str]) -> DataFrameWriter:
        writer = rows.write.format(self.settings.format).options(**self._options)
        return writer.partitionBy(*partition_by) if partition_by else writer
