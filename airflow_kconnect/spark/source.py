"""The data source `kconnect` of PySpark: a Spark partition for each task of a connector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceWriter,
    InputPartition,
)
from pyspark.sql.types import StructType

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.plugins.files import carrying
from airflow_kconnect.spark.ahead import Schemas, schemas_of
from airflow_kconnect.spark.opened import ErrorsNamed, OpenedSource, opened
from airflow_kconnect.spark.options import AHEAD
from airflow_kconnect.spark.plugins import Registered
from airflow_kconnect.spark.polling import ShapesFound, TaskPoller
from airflow_kconnect.spark.rows import Rows
from airflow_kconnect.variables.hidden_values import HiddenValues

FORMAT = "kconnect"
_OWN_SCHEMA = "the source says which schema its records have: leave out .schema(...), and select and cast columns"
_NO_STREAM = (
    "a source cannot be asked for the same records again, as a stream of Spark has to: read it with spark.read, or run"
    ' it with `kconnect run` and stream its topic with spark.readStream.format("kafka")'
)
_NO_SINK = (
    'rows have no offsets by which a sink knows what it has: write with format("kafka"), and run the sink on the topic'
)


class KConnectDataSource(DataSource):
    """Made in a process next to Spark's driver for each read, and pickled: it has no values of variables."""

    given: ClassVar[Registered]
    _schemas: Schemas | None = None

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        source = opened(self.options, self.given)
        with source.errors_named:
            self._schemas = schemas_of(source)
            return _rows(source, self._schemas).spark_schema

    def reader(self, schema: StructType) -> DataSourceReader:
        if self._schemas is None:
            raise ConfigError({"schema": [_OWN_SCHEMA]}, self.options.get("name"))
        source = opened(self.options, self.given)
        with source.errors_named:
            source.connector.learn(self._schemas.known)
            poller = TaskPoller(source.polling(), source.errors)
            return KConnectReader(source.name, poller, _rows(source, self._schemas), source.hidden)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        raise ConfigError({"format": [_NO_STREAM]}, self.options.get("name"))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        raise ConfigError({"format": [_NO_SINK]}, self.options.get("name"))


@dataclass
class KConnectReader(DataSourceReader):
    """Pickled into the tasks, with the values of variables: only their processes unpickle it."""

    name: str
    poller: TaskPoller
    rows: Rows
    hidden: HiddenValues = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "poller": carrying(self.poller)}

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(task) for task in range(len(self.poller.settings.configs))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition is None or partition.value is None:
            return  # Spark's, in place of no partition
        with ErrorsNamed(self.name, self.hidden):
            try:
                for batch in self.poller.batches(partition.value):
                    yield self.rows.of(batch)
            except ShapesFound:
                text = "later records have more than the first ones, in which the schema was found: read further by the"
                raise DataError(f"{text} option `{AHEAD}`, or declare the schema, @source(schema=...)") from None


def data_source(given: Registered) -> type[DataSource]:
    """The data source with the plug-ins of a user. It has no name in a module, so it is pickled with them."""
    return type("RegisteredDataSource", (KConnectDataSource,), {"given": given, "__module__": __name__})


def _rows(source: OpenedSource, schemas: Schemas) -> Rows:
    options = source.options
    return Rows(source.connector.shapes(), schemas.value, schemas.key, options.metadata, options.topics)
