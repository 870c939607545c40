"""FileStreamSink: the values of records as lines at the end of one file, at least once.

Key and behaviour are those of ``org.apache.kafka.connect.file.FileStreamSinkConnector``. Differences: splits are
written in parallel to hidden files and appended in the order of (topic, partition, offset); a run that fails while
writing leaves no lines behind. For the text of a value see `text`. The driver and all executors must have access to the
file's folder.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type
from airflow_kconnect.connect.connector.datasets import Dataset, files
from airflow_kconnect.connect.connector.sink import BatchRenderer, NativeSinkConnector, SinkSplit, SplitWriter
from airflow_kconnect.connect.errors import ConfigError, FencedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.file.segments import Segments, SegmentWriter
from airflow_kconnect.places.address import is_in_store
from airflow_kconnect.places.folders import named_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.data import Shape
    from airflow_kconnect.connect.frame import RecordFrame


_LOCK_PATIENCE_S = 30.0
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}
"""Errors of file systems without locks."""


class FileStreamSinkConnector(NativeSinkConnector):
    """Appends to one file, or prints to the standard output of the job."""

    summary = "Appends the values of records to one file, a line each: for trying something out."

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
        """There are no offsets besides the group's."""
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

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        name = props.get("file") or ""
        if not is_in_store(name):
            return {}
        return {"file": [f"is {name}, and nothing can be appended to an object of a store: use DirectorySink"]}

    @property
    def _target(self) -> Path | None:
        name = self.config_values["file"]
        return Path(name).absolute() if name else None

    @cached_property
    def _segments(self) -> Segments:
        """They are next to the target; those for standard output are in a folder that only this user may enter."""
        if self._target:
            return Segments(self._target.parent, (self.props["name"], str(self._target)))
        self._private = tempfile.TemporaryDirectory(prefix=self._private_prefix, ignore_cleanup_errors=True)
        return Segments(Path(self._private.name), (self.props["name"],))

    @property
    def _private_prefix(self) -> str:
        return f"kconnect-stdout-{hashlib.sha256(self.props['name'].encode()).hexdigest()[:16]}-"

    def check(self) -> None:
        if self._target and (problem := _problem_with(self._target)):
            raise ConfigError({"file": [f"{self._target} {problem}"]})

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        """Remove segments of killed runs: they will be written again."""
        with named_errors(self._target or tempfile.gettempdir()):
            if self._target is None:
                self._remove_private_folders()
            for path in self._segments.of(start):
                path.unlink(missing_ok=True)

    def _remove_private_folders(self) -> None:
        for folder in Path(tempfile.gettempdir()).glob(f"{self._private_prefix}*"):
            with contextlib.suppress(FileNotFoundError):
                if folder.lstat().st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)

    def render(self, frame: RecordFrame) -> DataFrame:
        from airflow_kconnect.connectors.file.text import text_lines

        return text_lines(frame)

    def batch_renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        from airflow_kconnect.connectors.file.plain_text import plain_text

        return plain_text(values)

    def writer(self) -> SplitWriter:
        return SegmentWriter(self._segments)

    def commit(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> dict[str, Any]:
        """Append the segments in order.

        :raises FencedError: a segment is missing: a newer run has removed it.
        """
        ordered = sorted(results, key=lambda item: (item[0].topic_partition, item[0].start))
        segments = [Path(facts["segment"]) for _, facts in ordered]
        with _standard_output() if self._target is None else _appending(self._target) as out:
            for segment in segments:
                _copy(segment, out)
        for segment in segments:
            segment.unlink(missing_ok=True)
        return {"file": self.config_values["file"], "records": sum(facts["records"] for _, facts in results)}


def _copy(segment: Path, out: BinaryIO) -> None:
    try:
        file = segment.open("rb", buffering=0)
    except FileNotFoundError as error:
        raise FencedError(f"{segment} has disappeared: another run of this connector has removed it") from error
    with file:
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
    """The target, for this run alone; after an error it is truncated to its former length, so that no partial line
    remains. Without a lock it is not: another run may have appended lines meanwhile.
    """
    with named_errors(target), target.open("ab", buffering=0) as out:
        is_alone = _lock(out, target)
        size = os.fstat(out.fileno()).st_size
        try:
            yield out
            os.fsync(out.fileno())
        except BaseException:
            if is_alone:
                out.truncate(size)
            raise


def _lock(out: BinaryIO, target: Path) -> bool:
    """The lines of two runs that append at once would mix, and one could truncate those of the other.

    :returns: False: the file system has no locks.
    :raises RetriableError: another process has held the lock for too long.
    """
    deadline = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise RetriableError(
                    f"another process has been appending to {target} for {_LOCK_PATIENCE_S:.0f} s: if it is an older"
                    " run of this connector that does not end, end it; then run again"
                ) from None
            time.sleep(0.1)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False


@contextlib.contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
