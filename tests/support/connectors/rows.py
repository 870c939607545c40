"""Python sinks that write into a table of SQLite: one that is right, and others that do one thing wrong."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from airflow_kconnect.conformance.harness import Failure, SinkHarness
from airflow_kconnect.sdk import (
    ConfigDef,
    ConfigError,
    DataError,
    PollSinkConnector,
    RetriableError,
    SinkRecord,
    SinkTask,
    TopicPartition,
    Type,
)

_TABLE = "CREATE TABLE IF NOT EXISTS records (place TEXT PRIMARY KEY, value TEXT)"
_LARGE = 1_000_000


class RowsTask(SinkTask):
    """Values by topic, partition and offset: a record that is put again replaces itself."""

    def start(self, props: Mapping[str, str]) -> None:
        self.props = props
        self.connection = sqlite3.connect(props["database"], timeout=60)
        self.connection.execute(_TABLE)
        self.fail()

    def fail(self) -> None:
        """As the file next to the database says."""
        wanted = Path(self.props["database"]).with_suffix(".fails")
        match wanted.read_text() if wanted.exists() else "":
            case Failure.RETRIABLE:
                raise RetriableError("the server is down")
            case Failure.DATA:
                raise DataError("row 3 is broken")
            case Failure.CONFIG:
                raise ConfigError({"database": ["has no such table"]})
            case Failure.OTHER:
                raise ZeroDivisionError("division by zero")

    def put(self, records: Sequence[SinkRecord]) -> None:
        rows = [(self.place(record), json.dumps(self.value(record))) for record in records if record.value is not None]
        with self.connection:
            self.connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?)", rows)

    def place(self, record: SinkRecord) -> str:
        """What identifies a record."""
        return f"{record.topic}-{record.partition}-{record.kafka_offset}"

    def value(self, record: SinkRecord) -> Any:
        """What is written of a record."""
        return record.value

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Each `put` has committed."""

    def stop(self) -> None:
        self.connection.close()


class Rows(PollSinkConnector):
    """Rows of a table: putting records again does no harm."""

    task: ClassVar[type[RowsTask]] = RowsTask
    harmless: ClassVar[bool] = True

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("database", Type.STRING)

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        return None if cls.harmless else super().replay_problem(props)

    def task_class(self) -> type[SinkTask]:
        return self.task

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.props]


class RowsHarness(SinkHarness):
    """A database in the folder."""

    def __init__(self, folder: Path, topic: str) -> None:
        super().__init__(folder, topic)
        self.database = folder / "rows.db"

    def config(self) -> dict[str, str]:
        return {"database": str(self.database), "value.converter": "org.apache.kafka.connect.json.JsonConverter"}

    def arrived(self) -> Iterator[str]:
        with closing(sqlite3.connect(self.database)) as connection:
            connection.execute(_TABLE)
            yield from (value for (value,) in connection.execute("SELECT value FROM records"))

    def fail(self, failure: Failure | None) -> None:
        self.database.with_suffix(".fails").write_text(failure or "")


class _Appends(RowsTask):
    def place(self, record: SinkRecord) -> str:
        return str(time.time_ns())


class Appends(Rows):
    """It appends rows, and says that putting records again does no harm."""

    task = _Appends


class AppendsAndSaysSo(Appends):
    """The same, and it says nothing of the kind."""

    harmless = False


class _Buffers(RowsTask):
    def start(self, props: Mapping[str, str]) -> None:
        super().start(props)
        self.waiting: list[SinkRecord] = []

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.waiting += records
        if len(self.waiting) >= 1000:
            super().put(self.waiting)


class BuffersWithoutFlush(Rows):
    """It waits for a thousand records, and `flush` does not write the others."""

    task = _Buffers


class _Latin(RowsTask):
    def value(self, record: SinkRecord) -> Any:
        return {**record.value, "text": record.value["text"].encode("latin-1", "replace").decode("latin-1")}


class LatinOnly(Rows):
    """It cannot write all characters, and takes for granted that there is a text."""

    task = _Latin


class _Cuts(RowsTask):
    def value(self, record: SinkRecord) -> Any:
        return {**record.value, "text": (record.value["text"] or "")[:_LARGE]}


class CutsLargeTexts(Rows):
    """It cuts what is too large for its column."""

    task = _Cuts


class _Chokes(RowsTask):
    def put(self, records: Sequence[SinkRecord]) -> None:
        if any(record.value is None for record in records):
            raise RetriableError("the server does not take it")
        super().put(records)


class RetriesTombstones(Rows):
    """It asks to be run again for what will never work."""

    task = _Chokes


class _Hides(RowsTask):
    def fail(self) -> None:
        try:
            super().fail()
        except Exception as error:
            raise DataError(str(error)) from error


class HidesErrors(Rows):
    """It makes a data error of everything that fails."""

    task = _Hides
