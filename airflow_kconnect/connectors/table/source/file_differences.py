"""The rows that one of two states of an Iceberg table has and the other may not have: those of files that differ."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FileDifferences:
    """Reads by way of the classes with which Iceberg compacts: a set of chosen files, with what is deleted in them.

    :param table: Iceberg's `Table`, as it is now: rows of older states have its columns too.
    """

    def __init__(self, spark: SparkSession, table: Any) -> None:
        jvm = spark._jvm
        assert jvm is not None
        self._spark, self._table, self._java = spark, table, jvm.java
        self._sets = jvm.org.apache.iceberg.spark.ScanTaskSetManager.get()
        self._tables = self._table_cache(spark)
        self._chosen: list[str] = []

    def between(self, before: int, after: int) -> tuple[DataFrame | None, DataFrame | None]:
        """Rows of files that only one of two snapshots has, or has with other deletions: (before, after)."""
        old, new = self._files(before), self._files(after)
        return (
            self._rows([task for key, task in old.items() if key not in new]),
            self._rows([task for key, task in new.items() if key not in old]),
        )

    def release(self) -> None:
        """Nothing will be read any more."""
        for name in self._chosen:
            self._sets.removeTasks(self._table, name)
            self._tables.remove(name)
        self._chosen.clear()

    def _table_cache(self, spark: SparkSession) -> Any:
        """Iceberg's `SparkTableCache.get()`: py4j does not find it, since objects have a `get` too."""
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        found = self._sets.getClass().getClassLoader().loadClass("org.apache.iceberg.spark.SparkTableCache")
        getter = found.getMethod("get", gateway.new_array(self._java.lang.Class, 0))
        return getter.invoke(None, gateway.new_array(self._java.lang.Object, 0))

    def _files(self, snapshot: int) -> dict[tuple[str, ...], Any]:
        """What is to be read of a state: data file and deletions -> Iceberg's `FileScanTask`."""
        planned = self._table.newScan().useSnapshot(snapshot).planFiles()
        try:
            found, each = {}, planned.iterator()
            while each.hasNext():
                task = each.next()
                deletions = task.deletes()
                marks = [] if deletions.isEmpty() else [f"{one.location()}#{one.contentOffset()}" for one in deletions]
                found[(str(task.file().location()), *sorted(marks))] = task
            return found
        finally:
            planned.close()

    def _rows(self, tasks: list[Any]) -> DataFrame | None:
        if not tasks:
            return None
        chosen, name = self._java.util.ArrayList(), str(uuid.uuid4())
        for task in tasks:
            chosen.add(task)
        self._sets.stageTasks(self._table, name, chosen)
        self._tables.add(name, self._table)
        self._chosen.append(name)
        return self._spark.read.format("iceberg").load(name)
