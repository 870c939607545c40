"""The rows that one of two states of an Iceberg table has and the other may not have: those of files that differ."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SEPARATOR = "\0"


class FileDifferences:
    """Reads by way of the classes with which Iceberg compacts: a set of chosen files, with what is deleted in them.

    :param table: Iceberg's `Table`, as it is now: rows of older states have its columns too.
    """

    def __init__(self, spark: SparkSession, table: Any) -> None:
        jvm = spark._jvm
        assert jvm is not None
        self._spark, self._table, self._java = spark, table, jvm.java
        self._iterables = jvm.org.apache.iceberg.relocated.com.google.common.collect.Iterables
        self._sets = jvm.org.apache.iceberg.spark.ScanTaskSetManager.get()
        self._tables = self._table_cache(spark)
        self._chosen: list[str] = []

    def between(self, before: int, after: int) -> tuple[DataFrame | None, DataFrame | None]:
        """Rows of files that only one of two snapshots has, or has with other deletions: (before, after)."""
        old, new = self._tasks(before), self._tasks(after)
        old_keys, new_keys = self._keys(old), self._keys(new)
        return (
            self._rows(old.get(place) for key, place in old_keys.items() if key not in new_keys),
            self._rows(new.get(place) for key, place in new_keys.items() if key not in old_keys),
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
        getter = self._class("org.apache.iceberg.spark.SparkTableCache").getMethod(
            "get", gateway.new_array(self._java.lang.Class, 0)
        )
        return getter.invoke(None, gateway.new_array(self._java.lang.Object, 0))

    def _class(self, name: str) -> Any:
        return self._sets.getClass().getClassLoader().loadClass(name)

    def _tasks(self, snapshot: int) -> Any:
        """What is to be read of a state: a Java list of Iceberg's `FileScanTask`."""
        planned, tasks = self._table.newScan().useSnapshot(snapshot).planFiles(), self._java.util.ArrayList()
        try:
            self._iterables.addAll(tasks, planned)
            return tasks
        finally:
            planned.close()

    def _keys(self, tasks: Any) -> dict[tuple[str, str], int]:
        """Data file and deletions of each task -> its place in the list."""
        if tasks.isEmpty():
            return {}
        handles, type_ = self._java.lang.invoke.MethodHandles, self._java.lang.invoke.MethodType.methodType
        text, list_ = self._class("java.lang.String"), self._class("java.util.List")
        task, file = self._class("org.apache.iceberg.FileScanTask"), self._class("org.apache.iceberg.ContentFile")
        find = handles.publicLookup()
        location = find.findVirtual(file, "location", type_(text))
        shown = find.findStatic(text, "valueOf", type_(text, self._class("java.lang.Object")))
        files = handles.filterReturnValue(find.findVirtual(task, "file", type_(file)), location)
        deletions = find.findVirtual(task, "deletes", type_(list_)).asType(type_(self._class("java.lang.Object"), task))
        keys = zip(
            self._texts(tasks, files), self._texts(tasks, handles.filterReturnValue(deletions, shown)), strict=True
        )
        return {key: place for place, key in enumerate(keys)}

    def _texts(self, tasks: Any, handle: Any) -> list[str]:
        """What a method of Java says of each task. Java calls it: a call from here for each of many files is slow."""
        proxies, texts = self._java.lang.invoke.MethodHandleProxies, self._java.util.ArrayList(tasks)
        texts.replaceAll(proxies.asInterfaceInstance(self._class("java.util.function.UnaryOperator"), handle))
        return str(self._java.lang.String.join(_SEPARATOR, texts)).split(_SEPARATOR)

    def _rows(self, tasks: Iterable[Any]) -> DataFrame | None:
        chosen, name = self._java.util.ArrayList(), str(uuid.uuid4())
        for task in tasks:
            chosen.add(task)
        if chosen.isEmpty():
            return None
        self._sets.stageTasks(self._table, name, chosen)
        self._tables.add(name, self._table)
        self._chosen.append(name)
        return self._spark.read.format("iceberg").load(name)
