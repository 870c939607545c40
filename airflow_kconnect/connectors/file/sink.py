"""FileStreamSink: the values of records as lines at the end of one file, at least once.

Key and behaviour are those of ``org.apache.kafka.connect.file.FileStreamSinkConnector``. Differences: splits are
written in parallel to hidden files and appended in the order of (topic, partition, offset); a run that fails while
writing leaves no line behind. For the text of a value see `text`. The driver and all executors must see the file's
folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type
from airflow_kconnect.connect.connector import NativeSinkConnector, SinkSplit, SplitWriter
from airflow_kconnect.connect.datasets import Dataset, files
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.file.output import HIDDEN_SUFFIX, named_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame


class FileStreamSinkConnector(NativeSinkConnector):
    """Appends to one file, or prints to the standard output of the job."""

    exactly_once = False
    needs = frozenset[str]()
    ordered = True

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        return "appends to one file, in which replayed lines would stand twice: use DirectorySink"

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        return files([props.get("file")])

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """The group's offsets are all there are."""
        return True

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define(
            "file",
            Type.STRING,
            None,
            Importance.HIGH,
            "Destination filename. If not specified, the standard output will be used.",
            validator=NonEmptyString(),
        )

    @property
    def _target(self) -> Path | None:
        name = self.config_values["file"]
        return Path(name).absolute() if name else None

    @property
    def _stem(self) -> Path:
        """What segments are named after. Executors need not have the driver's working folder: it is absolute."""
        return self._target or Path(tempfile.gettempdir(), f"{self.props['name']}.stdout")

    def check(self) -> None:
        if self._target and (problem := _problem_with(self._target)):
            raise ConfigError({"file": [f"{self._target} {problem}"]})

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        """Remove segments of runs that were killed: they will be written again."""
        for partition in start:
            name = rf"\.{re.escape(self._stem.name)}\.{re.escape(partition.topic)}\+{partition.partition}\+\d+"
            for path in self._stem.parent.iterdir():
                if re.fullmatch(name + HIDDEN_SUFFIX, path.name, re.ASCII):
                    with named_errors(path):
                        path.unlink(missing_ok=True)

    def render(self, frame: RecordFrame) -> DataFrame:
        from airflow_kconnect.connectors.file.text import text_lines

        return text_lines(frame)

    def writer(self) -> SplitWriter:
        from airflow_kconnect.connectors.file.segments import SegmentWriter

        return SegmentWriter(self._stem)

    def commit(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> dict[str, Any]:
        """Append the segments in order; those that have gone were appended before."""
        ordered = sorted(results, key=lambda item: (item[0].topic_partition, item[0].start))
        segments = [path for _, facts in ordered if (path := Path(facts["segment"])).exists()]
        with _standard_output() if self._target is None else _appending(self._target) as out:
            for segment in segments:
                _copy(segment, out)
        for segment in segments:
            segment.unlink(missing_ok=True)
        return {"file": self.config_values["file"], "records": sum(facts["records"] for _, facts in results)}


def _copy(source: Path, out: BinaryIO) -> None:
    with source.open("rb", buffering=0) as file:
        while block := file.read(1024 * 1024):
            rest = memoryview(block)
            while rest:
                rest = rest[out.write(rest) :]


def _problem_with(target: Path) -> str | None:
    """Why a file cannot be appended to."""
    if not target.parent.is_dir():
        return f"cannot be created: there is no folder {target.parent}"
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        writable = os.access(target.parent, os.W_OK | os.X_OK)
        return None if writable else "cannot be created: the user of this job may not write to its folder"
    except OSError as error:
        return f"cannot be examined: {error.strerror}"
    if not stat.S_ISREG(mode):
        return "is not a regular file"
    return None if os.access(target, os.W_OK) else "may not be written by the user of this job"


@contextlib.contextmanager
def _appending(target: Path) -> Iterator[BinaryIO]:
    """The target, open for appending; after an error it is as long as it was, so that no half line stays."""
    with named_errors(target), target.open("ab", buffering=0) as out:
        size = out.tell()
        try:
            yield out
            os.fsync(out.fileno())
        except BaseException:
            out.truncate(size)
            raise


@contextlib.contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
