"""A Python source that does everything right, and others that each do one thing wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from airflow_kconnect.conformance.harness import Failure, SourceHarness
from airflow_kconnect.sdk import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConfigDef,
    ConfigError,
    ConnectSchema,
    DataError,
    ExactlyOnceSupport,
    PollSourceConnector,
    RecordShapes,
    RetriableError,
    Shape,
    SourceRecord,
    SourceTask,
    Type,
    struct,
)

LINE = struct(("n", INT64_SCHEMA), ("text", STRING_SCHEMA), name="Line")
_BATCH = 3


class LinesTask(SourceTask):
    """Source partition: the file. Offset: how many of its lines are done."""

    def start(self, props: Mapping[str, str]) -> None:
        self.props = props
        self.file = Path(props["file"])
        self.partition: dict[str, Any] = {"file": "lines"}
        offset = self.context.offset(self.partition)
        self.done = 0 if offset is None else int(offset["lines"])
        self.fail()

    def fail(self) -> None:
        """As the file next to the lines says."""
        wanted = self.file.with_suffix(".fails")
        match wanted.read_text() if wanted.exists() else "":
            case Failure.RETRIABLE:
                raise RetriableError("the server is down")
            case Failure.DATA:
                raise DataError("line 3 is broken")
            case Failure.CONFIG:
                raise ConfigError({"file": ["is not a file of lines"]})
            case Failure.OTHER:
                raise ZeroDivisionError("division by zero")

    def poll(self) -> Sequence[SourceRecord] | None:
        lines = self.file.read_text().splitlines()[self.done : self.done + _BATCH]
        if not lines:
            return None
        self.done += len(lines)
        first = self.done - len(lines)
        return [self.record(first + n, line) for n, line in enumerate(lines)]

    def record(self, number: int, text: str) -> SourceRecord:
        """The record of a line."""
        value: Any = {"n": number, "text": text}
        return SourceRecord(self.partition, self.offset(number), self.props["topic"], value, self.schema())

    def offset(self, number: int) -> dict[str, Any]:
        """The offset of a line."""
        return {"lines": number + 1}

    def schema(self) -> ConnectSchema | None:
        """The schema of a line."""
        return LINE

    def stop(self) -> None:
        """Nothing is open."""


class Lines(PollSourceConnector):
    """Lines of a file, exactly once."""

    task: ClassVar[type[LinesTask]] = LinesTask
    support: ClassVar[ExactlyOnceSupport] = ExactlyOnceSupport.SUPPORTED

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("file", Type.STRING).define("topic", Type.STRING)

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return cls.support

    def task_class(self) -> type[SourceTask]:
        return self.task

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.props]

    def shapes(self) -> RecordShapes:
        return RecordShapes(values=(Shape(LINE),))


class LinesHarness(SourceHarness):
    """A file in the folder."""

    def __init__(self, folder: Path, topic: str) -> None:
        super().__init__(folder, topic)
        self.file = folder / "lines.txt"
        self.file.touch()
        self.count = 0

    def config(self) -> dict[str, str]:
        return {"file": str(self.file), "topic": self.topic}

    def add(self, count: int) -> None:
        with self.file.open("a") as out:
            out.writelines(f"line {n}\n" for n in range(self.count, self.count + count))
        self.count += count

    def expected(self) -> list[dict[str, Any]]:
        return [{"n": n, "text": f"line {n}"} for n in range(self.count)]

    def fail(self, failure: Failure | None) -> None:
        self.file.with_suffix(".fails").write_text(failure or "")


class _OffsetOfItself(LinesTask):
    def offset(self, number: int) -> dict[str, Any]:
        return {"lines": number}


class ResumesAtTheRecord(Lines):
    """Its offset is that of the record and not of what follows: the last one is read again."""

    task = _OffsetOfItself


class _OffsetOfTheNext(LinesTask):
    def offset(self, number: int) -> dict[str, Any]:
        return {"lines": number + 2}


class SkipsARecord(Lines):
    """Its offset claims one record too many."""

    task = _OffsetOfTheNext


class _OffsetOfTheBatch(LinesTask):
    def offset(self, number: int) -> dict[str, Any]:
        return {"lines": self.done}


class OffsetsOfBatches(Lines):
    """All records of a `poll` have the same offset, that of its end: a bound within them loses records."""

    task = _OffsetOfTheBatch


class _OffsetOfTheBatchBefore(LinesTask):
    def offset(self, number: int) -> dict[str, Any]:
        return {"lines": number // _BATCH * _BATCH}


class OffsetsOfBatchesBefore(Lines):
    """All records of a `poll` have the offset of its begin: what was committed of them comes again."""

    task = _OffsetOfTheBatchBefore


class AtLeastOnceOffsets(OffsetsOfBatchesBefore):
    """The same, and it says so."""

    support = ExactlyOnceSupport.UNSUPPORTED


class _KeepsState(LinesTask):
    def start(self, props: Mapping[str, str]) -> None:
        super().start(props)
        self.state = self.file.with_suffix(".state")
        self.done = int(self.state.read_text()) if self.state.exists() else 0

    def poll(self) -> Sequence[SourceRecord] | None:
        records = super().poll()
        self.state.write_text(str(self.done))
        return records


class KeepsItsOwnState(Lines):
    """Where it resumes is in a file of its own, written when records are polled: a kill loses what it had polled."""

    task = _KeepsState


class _Forgets(LinesTask):
    position: ClassVar[int] = 0

    def start(self, props: Mapping[str, str]) -> None:
        super().start(props)
        self.done = type(self).position

    def poll(self) -> Sequence[SourceRecord] | None:
        records = super().poll()
        type(self).position = self.done
        return records


class StateInMemory(Lines):
    """Where it resumes is in memory."""

    task = _Forgets


class _Undeclared(LinesTask):
    def schema(self) -> ConnectSchema | None:
        return struct(("n", INT64_SCHEMA), ("text", STRING_SCHEMA), name="Other")


class UndeclaredSchema(Lines):
    """Its records have a schema that it does not declare."""

    task = _Undeclared


class _NoJson(LinesTask):
    def record(self, number: int, text: str) -> SourceRecord:
        return SourceRecord(self.partition, self.offset(number), self.props["topic"], {"raw": text.encode()})


class BytesWithoutSchema(Lines):
    """Its values are not JSON, and have no schema."""

    task = _NoJson


class _Nested(LinesTask):
    def offset(self, number: int) -> dict[str, Any]:
        return {"lines": number + 1, "seen": [number]}


class NestedOffsets(Lines):
    """Its offsets are not flat."""

    task = _Nested


class _Endless(LinesTask):
    def poll(self) -> Sequence[SourceRecord] | None:
        time.sleep(0.01)
        return super().poll() or []


class NeverCaughtUp(Lines):
    """It never says that it has caught up."""

    task = _Endless


class _Timed(LinesTask):
    def record(self, number: int, text: str) -> SourceRecord:
        value: Any = {"n": number, "text": f"{text} at {time.time_ns()}"}
        return SourceRecord(self.partition, self.offset(number), self.props["topic"], value, LINE)


class TimesInValues(Lines):
    """Its values say when they were read."""

    task = _Timed


class _Swallows(LinesTask):
    def fail(self) -> None:
        try:
            super().fail()
        except Exception as error:
            raise DataError(str(error)) from error


class HidesErrors(Lines):
    """It makes a data error of everything that fails."""

    task = _Swallows


class _FailsWhenEmpty(LinesTask):
    def poll(self) -> Sequence[SourceRecord] | None:
        if not self.file.read_text():
            raise IndexError("list index out of range")
        return super().poll()


class FailsWhenEmpty(Lines):
    """It takes for granted that there is a record."""

    task = _FailsWhenEmpty


class _Ignores(LinesTask):
    def start(self, props: Mapping[str, str]) -> None:
        super().start(props)
        self.done = 0


class IgnoresOffsets(Lines):
    """Each run begins at the beginning."""

    task = _Ignores


class TimesHarness(LinesHarness):
    """Knows what of a value is the same in each run."""

    def expected(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def identity(self, record: Any) -> str:
        return str(json.loads(record.value)["payload"]["n"])
