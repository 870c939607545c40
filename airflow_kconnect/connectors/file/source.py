"""FileStreamSource: lines of files, in parallel byte ranges, resumed at the exact byte.

Keys, topic, source partition and offset are those of ``org.apache.kafka.connect.file.FileStreamSourceConnector``.
Differences: positions count bytes throughout (Connect counts characters and skips bytes), a truncated or replaced file
is detected, a folder or pattern of files can be read, an invalid byte is an error instead of U+FFFD.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset, files
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    NativeSourceConnector,
    Offset,
    PlanContext,
    ResumePoint,
    SourcePlan,
    Split,
)
from airflow_kconnect.connect.data import STRING_SCHEMA, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import BatchFrame, single
from airflow_kconnect.connectors.file.inputs import (
    InputFile,
    Inputs,
    change_of,
    find_inputs,
    fingerprint,
    identity_of,
    is_line_start,
    is_same_file,
    offset_problems,
    open_input,
    root_of,
)
from airflow_kconnect.connectors.file.opening import Location
from airflow_kconnect.connectors.file.renames import Renames, copy_of, renamed_to
from airflow_kconnect.connectors.file.source_config import COPIED, source_config
from airflow_kconnect.runs.warnings import Kind, RunWarning

log = logging.getLogger(__name__)

_SPLITS_MAX = 32
_WARNINGS_MAX = 20
_RESTART = "Set `on.replaced=restart` to read it from the beginning, or reset the connector's offset"
_SET_OFFSET = (
    "Set the offset to the first byte of a line: Connect counts characters, which are fewer than bytes if some are not"
    " ASCII"
)


class FileStreamSourceConnector(NativeSourceConnector):
    """Reads text files line by line into one topic; key null, value STRING, timestamp now."""

    summary = "Reads the lines of text files, of one or of a whole folder, and resumes at the exact byte."

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._renamed: dict[str, str] = {}  # since an unfinished plan was made

    @classmethod
    def config(cls) -> ConfigDef:
        return source_config()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        present = [key for key in ("file", "files") if props.get(key)]
        if len(present) != 1:
            problem = "both are set" if present else "neither is set"
            return {"file": [f"exactly one of `file` and `files` is needed, but {problem}"]}
        if present == ["file"] and props.get("on.replaced") == COPIED:
            text = "is copytruncate, and `file` has no copies: set `files` to a pattern that matches them and the log"
            return {"on.replaced": [text]}
        return {}

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """An interval comprises whole files: those last modified within it."""
        return None

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """The file, or the folder; for a pattern, which may match any number of files, the folder before its first
        wildcard.
        """
        pattern = props.get("files", "")
        wildcard = re.search(r"[*?\[]", pattern)
        return files([props.get("file"), pattern[: wildcard.start()].rpartition("/")[0] if wildcard else pattern])

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        """Offsets of any file may be altered; the next run checks the file."""
        cls.refuse_wrong_offsets(props, offsets, offset_problems)
        return True

    def _inputs(self) -> Inputs:
        name, links = self.config_values["file"], self.config_values["files.follow.links"]
        return (
            Inputs((open_input("file", name),))
            if name
            else find_inputs(self.config_values["files"], follow_links=links)
        )

    def _at(self, name: str) -> Location:
        files, links = self.config_values["files"], self.config_values["files.follow.links"]
        return Location(name, root_of(files) if files and not links else None)

    def check(self) -> None:
        self._inputs()

    def nothing_new(self, context: PlanContext) -> SourcePlan | None:
        """Each file is as long as its offset says, apart from a line that has not ended, and begins and ends likewise.

        What other files were renamed to is for a run: it commits their offsets under their new names.
        """
        plan = self.plan(context)
        return None if plan.splits else plan

    def plan(self, context: PlanContext) -> SourcePlan:
        """Byte ranges from each file's offset to the end of its last terminated line.

        A run with a record limit ends exactly after that many lines: the driver looks for that byte beforehand.
        """
        from airflow_kconnect.connectors.file.lines import last_line_end, position_after_lines

        self._renamed.clear()  # a new plan knows files by the names that they have now
        splits: list[Split] = []
        held_back, lines_left, more = 0, context.max_records, False
        inputs = self._inputs()
        warnings: list[str] = []
        renames = Renames(inputs.files, context, self._at, copied=self.config_values["on.replaced"] == COPIED)
        for file in renames.moved_first(inputs.files):
            if context.replay and not context.replay.start_ms <= file.changed_ms < context.replay.end_ms:
                continue
            is_full = context.plan_splits is not None and len(splits) >= context.plan_splits
            if is_full and not renames.is_truncated(file):
                more = True
                break
            moved = renames.position_of(file)
            start = self._start(file, context, renames, warnings) if moved is None else moved
            end = last_line_end(self._at(file.name), start, file.size)
            held_back += file.size - end
            if lines_left is not None and end > start:
                full_end = end
                end, lines = position_after_lines(self._at(file.name), start, end, lines_left)
                lines_left, more = lines_left - lines, more or end < full_end
            # An empty one gets an offset, too: later its predecessor may be gone, which says that it is new.
            if end > start or moved is not None or (end == 0 and renames.has_left(file)):
                splits += self._cut(file, start, end, context)
        notes: dict[str, Any] = {"held_back_bytes": held_back} if held_back else {}
        if warnings := [*_warnings(inputs.skipped), *warnings]:
            notes["warnings"] = warnings
        return SourcePlan(tuple(splits), {**notes, "more": True} if more else notes)

    def _start(self, file: InputFile, context: PlanContext, renames: Renames, warnings: list[str]) -> int:
        """Where reading begins.

        :raises DataError: the file is not the one that was read, and the user must decide.
        """
        facts = dict(context.facts_of(file.partition) or {})
        offset = context.offset(file.partition)
        if offset is None or context.replay:
            return 0
        position = _position(file.name, offset)
        if renames.has_left(file):  # whatever it begins with: short logs often begin alike
            log.info("%s is a new file: the one that had this name has another one", file.name)
            return 0
        problem = self._problem(file, position, facts)
        if problem is None:
            return position
        from airflow_kconnect.connectors.file.lines import last_line_end

        # What Connect or a user has committed says nothing about the file.
        is_ours = bool(facts) or position > file.size
        rotated = renamed_to(file.name, facts)
        if self._restarts(file, facts) and is_ours:
            if rotated is not None and last_line_end(rotated, position, rotated.stat().st_size) > position:
                text = f"{file.name} was replaced: what was written to it after byte {position} is in {rotated}, unread"
                warnings.append(RunWarning(Kind.LOST, text))
            return 0
        raise DataError(
            f"file {file.name}: {problem}{f'; it is {rotated} now' if rotated else ''}."
            f" {_RESTART if is_ours else _SET_OFFSET}"
        )

    def _restarts(self, file: InputFile, facts: Mapping[str, Any]) -> bool:
        """Whether a replaced file is read from its beginning. Rotation leaves the names of removed logs to others."""
        policy = self.config_values["on.replaced"]
        return policy == "restart" or (policy == COPIED and identity_of(facts) not in (None, file.identity))

    def _problem(self, file: InputFile, position: int, facts: Mapping[str, Any]) -> str | None:
        """Why an offset cannot be that of the file."""
        if position > file.size:
            return f"its offset is {position}, its size is {file.size} bytes: it was truncated or replaced"
        at = self._at(file.name)
        match change_of(at, facts) if facts else None:
            case "beginning":
                return f"it no longer begins as it did when offset {position} was committed: it was replaced"
            case "end":
                return f"the lines before offset {position} are no longer those that were read: it was replaced"
        return None if is_line_start(at, position) else f"no line ends at its offset {position}"

    def _pieces(self, size: int, context: PlanContext) -> int:
        """Whole waves of parallel pieces, each of one to two times `split.bytes`: no core waits for a last one."""
        piece: int = self.config_values["split.bytes"]
        if size < 2 * piece:
            return 1
        parallel = context.parallelism()
        return min(size // piece, parallel * -(-size // (2 * piece * parallel)))

    def _cut(self, file: InputFile, start: int, end: int, context: PlanContext) -> Iterator[Split]:
        """Cut a range at line starts."""
        from airflow_kconnect.connectors.file.lines import line_start_at_or_after

        pieces = min(self._pieces(end - start, context), context.splits_max or _SPLITS_MAX)
        cuts = [start]
        for piece in range(1, pieces):
            cut = line_start_at_or_after(self._at(file.name), start + (end - start) * piece // pieces, end)
            if cuts[-1] < cut < end:
                cuts.append(cut)
        detail = fingerprint(self._at(file.name), end)
        for first, last in zip(cuts, [*cuts[1:], end], strict=True):
            yield Split(file.partition, first, last, detail)

    def size(self, split: Split) -> int:
        return int(split.end) - int(split.start)

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        replaced = set()
        copies = self._inputs().files if self.config_values["on.replaced"] == COPIED else ()
        for index, split in splits:
            name = split.source_partition["filename"]
            there = Path(name).exists()
            if there:
                file = open_input("file", name)
                if file.size >= int(split.end) and is_same_file(self._at(name), split.detail):
                    continue
            if (rotated := renamed_to(name, split.detail)) is not None:
                self._renamed[name] = str(rotated)
                continue
            others = [file for file in copies if file.name != name]
            if (copy := copy_of(split.detail, int(split.end), others, self._at)) is not None:
                self._renamed[name] = copy
                continue
            if self.config_values["on.replaced"] != "restart":
                what, new = ("was truncated or replaced", "read the new one from its beginning") if there else (
                    "is gone", "skip the rest of it"
                )  # fmt: skip
                raise DataError(
                    f"file {name} {what} while a run over its bytes {split.start} to {split.end} was unfinished; put"
                    f" {'the old file' if there else 'it'} back, or set `on.replaced=restart` to {new}"
                )
            replaced.add(index)
        return replaced

    def batches(self, splits: Sequence[tuple[int, Split, ResumePoint]]) -> BatchFrame:
        from airflow_kconnect.connectors.file.reading import ROWS, RangeReader

        names = [split.source_partition["filename"] for _, split, _ in splits]
        at_names = [self._at(self._renamed.get(name, name)) for name in names]
        ranges = [(where, int(at), int(split.end)) for where, (_, split, at) in zip(at_names, splits, strict=True)]
        return BatchFrame(
            RangeReader(tuple(ranges), self.config_values["max.line.bytes"]),
            ROWS,
            value=single(Shape(STRING_SCHEMA), "value"),
            constant_topic=self.config_values["topic"],
            carried=("progress", "error"),
        )

    def offset(self, split: Split, resume_point: ResumePoint) -> Offset:
        return {"position": int(resume_point)}

    def facts(self, split: Split) -> dict[str, Any]:
        return split.detail


def _warnings(skipped: Sequence[str]) -> list[str]:
    """A folder may have any number of them; the log and the report show a few."""
    for text in skipped[:_WARNINGS_MAX]:
        log.warning("%s", text)
    more = len(skipped) - _WARNINGS_MAX
    texts = [*skipped[:_WARNINGS_MAX], *([f"{more} more are skipped likewise"] if more > 0 else [])]
    return [RunWarning(Kind.SOURCE, text) for text in texts]


def _position(name: str, offset: Offset) -> int:
    position = offset.get("position")
    if not isinstance(position, int) or isinstance(position, bool) or position < 0:
        raise DataError(
            f'the committed offset of file {name} is {offset}, expected {{"position": <bytes, at least 0>}};'
            " alter or reset the connector's offset"
        )
    return position
