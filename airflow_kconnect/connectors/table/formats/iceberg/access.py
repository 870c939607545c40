"""An Iceberg table by way of Iceberg's own Java classes: read, created, changed, and its current snapshot exchanged."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.table.formats.iceberg.errors import (
    is_invalid,
    is_missing,
    is_namespace_missing,
    is_there,
    text_of,
    understood,
)
from airflow_kconnect.connectors.table.formats.iceberg.partitions import Transform
from airflow_kconnect.connectors.table.formats.iceberg.state import TableState
from airflow_kconnect.connectors.table.identifiers import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql import types as T

_MAIN = "main"
_FILES_MAX, _PARTITIONS_MAX = 500, 20
"""Each file takes a millisecond."""

log = logging.getLogger("kconnect.tables")


@dataclass(frozen=True)
class View:
    """A table as it was when it was read.

    :param table: Iceberg's `Table`. :param metadata: Iceberg's `TableMetadata`, which `state` was parsed from.
    """

    table: Any
    metadata: Any
    state: TableState


class TableAccess:
    """One table. Errors of Java are those of the project, as far as they are known.

    :param name: the identifier in Spark's SQL.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        assert spark._jvm is not None
        self._spark, self._name = spark, name
        self._iceberg = spark._jvm.org.apache.iceberg

    @property
    def subject(self) -> str:
        """What errors are about."""
        return f"table {self._name}"

    def table(self) -> Any | None:
        """Iceberg's `Table` as it is now, and as Spark will see it; None: there is none.

        :raises ConfigError: it is a table of another format.
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import IllegalArgumentException, PySparkException

        catalog, identifier = self._place.catalog(), self._place.identifier()
        with understood(self.subject):
            try:
                catalog.invalidateTable(identifier)  # cached, it may be another table that had this name
                return self._iceberg.spark.Spark3Util.toIcebergTable(catalog.loadTable(identifier))
            except IllegalArgumentException as error:
                raise ConfigError(
                    {"table.format": [f"{self.subject} is not a table of Iceberg: choose its format, or another name"]}
                ) from error
            except (Py4JError, PySparkException) as error:
                if is_missing(error):
                    return None
                raise

    def read(self) -> View:
        """As `look`. :raises DataError: there is no such table."""
        view = self.look()
        if view is None:
            raise DataError(
                f"{self.subject} was there a moment ago, and does not exist any more: restore it, or alter the"
                " connector's offsets (`kconnect offsets alter`) to where a new table is to begin"
            )
        return view

    def look(self) -> View | None:
        """The table, and what it says of itself; None: there is none."""
        table = self.table()
        if table is None:
            return None
        with understood(self.subject):
            metadata = table.operations().current()
            text = self._iceberg.TableMetadataParser.toJson(metadata)
        return View(table, metadata, TableState.parse(str(text)))

    def columns(self, table: Any) -> T.StructType:
        """Its columns as Spark's. :raises ConfigError: Spark has no type for one of them."""
        from pyspark.errors import PySparkException
        from pyspark.sql import types as T

        try:
            found = self._iceberg.spark.SparkSchemaUtil.convert(table.schema())
        except PySparkException as error:
            raise ConfigError(
                {"table.format": [f"{self.subject} has a column that Spark cannot write: {text_of(error)}"]}
            ) from error
        columns = T._parse_datatype_json_string(found.json())
        assert isinstance(columns, T.StructType)
        return columns

    def exchange(self, view: View, snapshot: int, properties: Mapping[str, str]) -> None:
        """Make a staged snapshot the current one and set properties, if the table has not changed since it was read.

        Raises py4j's error as it is: see `is_conflict`.
        """
        builder = self._iceberg.TableMetadata.buildFrom(view.metadata)
        changed = builder.setBranchSnapshot(snapshot, _MAIN).setProperties(dict(properties)).build()
        view.table.operations().commit(view.metadata, changed)

    def copy(self, view: View, snapshot: int, properties: Mapping[str, str]) -> None:
        """Append the files of a staged append to the current state, unless its plan is there, and set properties.

        Raises py4j's error as it is: see `is_conflict`.
        """
        transaction = view.table.newTransaction()
        transaction.manageSnapshots().cherrypick(snapshot).commit()
        update = transaction.updateProperties()
        for key, value in properties.items():
            update.set(key, value)
        update.commit()
        transaction.commitTransaction()

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set properties of the table that need not be read before."""
        with understood(self.subject):
            update = self.read().table.updateProperties()
            for key, value in properties.items():
                update.set(key, value)
            update.commit()

    def remove_property(self, key: str) -> None:
        """Remove a property of the table."""
        with understood(self.subject):
            self.read().table.updateProperties().remove(key).commit()

    def partitions(self, snapshot: int) -> list[str]:
        """Those to which a snapshot has added files, as their paths: the first ones, and none if it cannot be read."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        found: set[str] = set()
        try:
            table = self.table()
            if table is None or table.spec().isUnpartitioned():
                return []
            files = table.snapshot(snapshot).addedDataFiles(table.io()).iterator()
            for _ in range(_FILES_MAX):
                if len(found) == _PARTITIONS_MAX or not files.hasNext():
                    break
                file = files.next()
                found.add(str(table.specs().get(file.specId()).partitionToPath(file.partition())))
        except (Py4JError, PySparkException) as error:
            log.warning("%s: the partitions of snapshot %s: %s", self.subject, snapshot, text_of(error))
        return sorted(found)

    def create(
        self,
        columns: T.StructType,
        keys: Iterable[str],
        partition_by: Sequence[Transform],
        location: str | None,
        properties: Mapping[str, str],
    ) -> None:
        """Create it, and its namespaces; one that is there by now is not an error."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        schema = self._identified(self.schema(columns), set(keys))
        identifier = self._iceberg.spark.Spark3Util.identifierToTableIdentifier(self._place.identifier())
        spec = self._spec(schema, partition_by)
        with understood(self.subject):
            try:
                builder = self._catalog.buildTable(identifier, schema).withPartitionSpec(spec)
                builder = builder.withProperties(dict(properties))
                if location is not None:
                    builder = builder.withLocation(location)
                try:
                    builder.create()
                except (Py4JError, PySparkException) as error:
                    if not is_namespace_missing(error):
                        raise
                    self._create_namespaces()
                    builder.create()
            except (Py4JError, PySparkException) as error:
                if is_invalid(error):
                    what = f"{self.subject} cannot be created: {text_of(error)}"
                    text = f"{what}: choose a name and properties that the catalog allows"
                    raise ConfigError({"table.name.format": [text]}) from error
                if not is_there(error):
                    raise

    def schema(self, columns: T.StructType) -> Any:
        """Iceberg's schema for Spark's columns: comments and nullability as they are."""
        parsed = self._spark._jsparkSession.parseDataType(columns.json())
        return self._iceberg.spark.SparkSchemaUtil.convert(parsed)

    def _identified(self, schema: Any, keys: set[str]) -> Any:
        fields = list(schema.columns())
        ids = {int(field.fieldId()) for field in fields if field.name() in keys}
        return self._iceberg.Schema(schema.columns(), ids) if ids else schema

    def _spec(self, schema: Any, partition_by: Sequence[Transform]) -> Any:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        builder = self._iceberg.PartitionSpec.builderFor(schema)
        try:
            for transform in partition_by:
                arguments = [transform.column] if transform.width is None else [transform.column, transform.width]
                getattr(builder, transform.name)(*arguments)
            return builder.build()
        except (Py4JError, PySparkException) as error:
            raise ConfigError({"table.partition.by": [f"{self.subject}: {text_of(error)}"]}) from error

    def _create_namespaces(self) -> None:
        levels = list(self._place.identifier().namespace())
        catalog = quoted(self._place.catalog().name())
        for depth in range(1, len(levels) + 1):
            path = ".".join(map(quoted, levels[:depth]))
            self._spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {catalog}.{path}")

    @cached_property
    def _place(self) -> Any:
        """Spark's catalog, and the identifier within it."""
        session = self._spark._jsparkSession
        assert self._spark._jvm is not None
        # Catalogs are created with the settings of the thread's session: in a new thread there is none.
        getattr(self._spark._jvm, "org.apache.spark.sql.classic.SparkSession").setActiveSession(session)
        with understood(self.subject):
            state = session.sessionState()
            first = state.sqlParser().parseMultipartIdentifier(self._name).head()
            # Fails if the catalog is there and cannot be used; what follows would take its name for a namespace then.
            state.catalogManager().isCatalogRegistered(first)
            return self._iceberg.spark.Spark3Util.catalogAndIdentifier(session, self._name)

    @property
    def _catalog(self) -> Any:
        """Iceberg's catalog."""
        from py4j.java_gateway import is_instance_of

        catalog = self._place.catalog()
        if not is_instance_of(self._spark._sc._gateway, catalog, "org.apache.iceberg.spark.source.HasIcebergCatalog"):
            raise ConfigError(
                {
                    "table.catalog": [
                        f"{self.subject}: Spark's catalog {catalog.name()} has no tables of Iceberg: its class is"
                        f" {catalog.getClass().getName()}. Configure another, and name it"
                    ]
                }
            )
        return catalog.icebergCatalog()
