"""FilesSource: records of CSV, JSON, Avro, Parquet, ORC and text files in a folder or a store, each file once.

A file is a source partition. It is read as it was when the run was planned, and never again while the offsets have it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    NativeSourceConnector,
    Offset,
    PlanContext,
    ResumePoint,
    SourcePlan,
    Split,
    Tidied,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.record_files.config import (
    READ,
    RESTART,
    FileSettings,
    files_config,
    is_tolerant,
    problems,
    settings_of,
)
from airflow_kconnect.connectors.record_files.offsets import (
    END,
    changed_meanwhile,
    offset_after,
    offset_problems,
    partition_of,
    with_bad,
)
from airflow_kconnect.connectors.record_files.selection import Rules, Selected, Start, select, still_there
from airflow_kconnect.connectors.record_files.tidying import Tidier, Tidying, excluded, path_problems, tidying_of
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.places.address import LOCAL, address, dataset
from airflow_kconnect.places.base import Place, PlacedFile
from airflow_kconnect.places.keys import check_connection
from airflow_kconnect.places.registry import open_place

if TYPE_CHECKING:
    from airflow_kconnect.connect.frame import BatchFrame
    from airflow_kconnect.connectors.record_files.opening import Source
    from airflow_kconnect.connectors.record_files.planning import KnownTypes

log = logging.getLogger(__name__)

_PLAN_BYTES = 600_000
"""What a plan may say about its splits, so that it fits into a record of Kafka: names and columns may be long."""
_FILE_BYTES = 200_000
"""What those of one file may say at most: there are fewer of them, and larger ones, if it has many columns."""


class FilesSourceConnector(NativeSourceConnector):
    """Its splits are files, or parts of large ones."""

    summary = "Reads records from CSV, JSON, Avro, Parquet, ORC or text files in a folder or a store, each file once."
    first_keys: ClassVar[tuple[str, ...]] = ("directory", "input.file.pattern", "format", "topic")

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._renamed: dict[str, str] = {}  # since an unfinished plan was made
        self._rest: Selected | None = None
        """What the last plan of this run did not hold: files are not listed for each plan."""

    @classmethod
    def config(cls) -> ConfigDef:
        return files_config()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return problems(props) | path_problems(props)

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """The folder, or the prefix."""
        return [dataset(address(props["directory"]))]

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        """Offsets of any file may be altered; a file of another version is a changed one."""
        cls.refuse_wrong_offsets(props, offsets, offset_problems)
        return True

    @cached_property
    def _place(self) -> Place:
        return open_place(self.config_values["directory"], self.config_values)

    @cached_property
    def _settings(self) -> FileSettings:
        return self.settings()

    def settings(self) -> FileSettings:
        """How files are read."""
        return settings_of(self.config_values, tolerant=is_tolerant(self.props))

    @cached_property
    def _tidying(self) -> Tidying:
        return tidying_of(self.config_values)

    @cached_property
    def _tidier(self) -> Tidier:
        return Tidier(self._place, self._tidying)

    @property
    def _on_changed(self) -> str:
        return str(self.config_values["on.changed"])

    @cached_property
    def _rules(self) -> Rules:
        return self.rules()

    def rules(self) -> Rules:
        """Which files are read."""
        others = [place.at for place in (self._tidying.finished, self._tidying.error) if place is not None]
        values = self.config_values
        return Rules(
            pattern=values["input.file.pattern"],
            on_changed=self._on_changed,
            on_renamed=values["on.renamed"],
            minimum_age_ms=values["file.minimum.age.ms"],
            order=tuple(values["files.sort.attributes"]),
            excluded=excluded(self._place.at, others),
            leaves=self._tidying.wants,
        )

    def check(self) -> None:
        """:raises ConfigError: there is no such folder, or its files must not be listed."""
        check_connection(self.props)
        self.check_folder()
        self._tidying.check(self._place)
        next(iter(self._place.files()), None)

    def check_folder(self) -> None:
        """Called before files are listed: a folder that is gone, perhaps with its disk, would pass for an empty one.

        :raises ConfigError: there is none.
        """
        at = self._place.at
        if at.scheme == LOCAL and not Path(at.path).is_dir():
            raise ConfigError({"directory": [f"there is no folder {at}"]}, self.props.get("name"))

    def nothing_new(self, context: PlanContext) -> SourcePlan | None:
        """Files are listed, and none of them is opened."""
        self.check_folder()
        selected = self._selected(context)
        is_left = bool(selected.gone) or any(self._tidying.wants(offset) for _, offset in selected.read)
        return None if selected.to_read or is_left else SourcePlan((), dict(selected.notes))

    def unread(self, context: PlanContext) -> list[str]:
        """Names of files that a run would read; none is opened. A folder may come with its first file.

        :raises DataError: one has changed, and the user must decide.
        """
        try:
            self.check_folder()
        except ConfigError as error:
            log.warning("%s; it is waited for", error)
        return [start.file.name for start in self._selected(context).to_read if start.begin is not None]

    def plan(self, context: PlanContext) -> SourcePlan:
        from airflow_kconnect.connectors.record_files.planning import KnownTypes

        self.check_folder()
        self._renamed.clear()  # a new plan knows files by the names that they have now
        known = KnownTypes(self._settings, context.facts)
        rest, self._rest = self._rest, None
        selected = self._selected(context) if rest is None else still_there(self._place, rest, context.plan_splits)
        splits: list[Split] = []
        taken, held = 0, 0
        for start in selected.to_read:
            if len(splits) >= (context.plan_splits or len(splits) + 1) or held > _PLAN_BYTES:
                self._rest = selected.after(taken)
                break
            parts = list(self._splits(start, known, context))
            taken, held = taken + 1, held + len(json.dumps([asdict(part) for part in parts]))
            splits += parts
        full = self._rest is not None or rest is not None  # a last listing finds what was changed meanwhile
        notes: dict[str, Any] = {**selected.notes, "more": True} if full else dict(selected.notes)
        new = ((split.source_partition, self.facts(split)) for split in splits)
        facts = {partition_identity(partition): facts for partition, facts in new if facts}
        self._tidier.planned(selected, {**context.facts, **facts})
        return SourcePlan(tuple(splits), notes, full)

    def _selected(self, context: PlanContext) -> Selected:
        return select(self._place, self._rules, context)

    def _splits(self, start: Start, known: KnownTypes, context: PlanContext) -> Iterator[Split]:
        from airflow_kconnect.connectors.record_files.opening import UnreadableFile, detail_of
        from airflow_kconnect.connectors.record_files.planning import planned

        file, begin, rows = start.file, start.begin, start.rows
        detail = with_bad(detail_of(file), int(start.offset.get("bad", 0)))
        if begin is None:
            yield Split(partition_of(file.name), 0, END, {**detail, "begin": 0, "end": 0, "more": False})
            return
        try:
            columns, cuts = planned(self._source(file), begin, known)
        except UnreadableFile as error:
            if not self._settings.tolerant:
                raise
            detail |= {"unreadable": str(error)}
            columns, cuts = None, [begin, begin]
        if columns is not None:
            detail |= {"columns": columns, "kept": known.are_kept(columns)}
        room = max(1, _FILE_BYTES // len(json.dumps([file.name, detail])))
        # Rows that were read are counted from there on: in one part, however files were cut then.
        cuts = _fewer(cuts, 1 if rows else min(room, context.splits_max or room))
        for first, last in pairwise(cuts):
            own = {"begin": first, "end": last, "more": last != cuts[-1]}
            yield Split(partition_of(file.name), rows if first == begin else 0, END, detail | own)

    def _source(self, file: PlacedFile) -> Source:
        from airflow_kconnect.connectors.record_files.opening import Source

        return Source(self._place, file, self._settings)

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        """A file that has changed since a plan was made is read from its beginning, or fails the run."""
        versions: dict[str, str | None] = {}
        names: dict[str, str] | None = None
        given_up = set()
        self._renamed.clear()
        for index, split in splits:
            name = split.source_partition["file"]
            if name not in versions:
                found = self._place.find(name)
                versions[name] = None if found is None else found.version
            if versions[name] == split.detail["version"]:
                continue
            names = self._names() if names is None else names
            if (other := names.get(split.detail["version"])) is not None:
                self._renamed[name] = other
                continue
            if self._on_changed != RESTART:
                raise changed_meanwhile(self._place.uri(name), gone=versions[name] is None)
            given_up.add(index)
        return given_up

    def _names(self) -> dict[str, str]:
        """The names of files by their versions, by which one that was renamed is found in a folder."""
        if self._place.at.scheme != LOCAL or self.config_values["on.renamed"] == READ:
            return {}
        return {file.version: file.name for file in self._place.files()}

    def batches(self, splits: Sequence[tuple[int, Split, ResumePoint]]) -> BatchFrame:
        from airflow_kconnect.connectors.record_files.opening import file_of
        from airflow_kconnect.connectors.record_files.reading import Part, frame_of

        parts = []
        for _, split, resume_point in splits:
            detail = split.detail
            name = split.source_partition["file"]
            source = self._source(file_of(self._renamed.get(name, name), detail))
            bounds = (detail["begin"], detail["end"], int(resume_point))
            parts.append(Part(source, detail.get("columns"), *bounds, detail.get("unreadable")))
        return frame_of(parts, self.config_values["topic"])

    def size(self, split: Split) -> int | None:
        return int(split.detail["size"]) if not split.detail["more"] and split.detail["begin"] == 0 else None

    def offset(self, split: Split, resume_point: ResumePoint) -> Offset:
        return offset_after(split, resume_point)

    def with_bad_records(self, offset: Offset, count: int) -> Offset:
        return with_bad(offset, count)

    def tidy(self, offsets: Sequence[tuple[dict[str, Any], Offset]]) -> Tidied | None:
        return self._tidier.tidied(offsets)

    def facts(self, split: Split) -> dict[str, Any] | None:
        columns = split.detail.get("columns")
        return {"columns": json.dumps(columns)} if columns and not split.detail.get("kept") else None  # facts are flat

    def finished(self) -> None:
        self._place.close()
        self._tidying.close()


def _fewer(cuts: list[int], splits_max: int) -> list[int]:
    """The bounds of at most that many parts."""
    parts = len(cuts) - 1
    wanted = min(parts, splits_max)
    return [cuts[part * parts // wanted] for part in range(wanted + 1)]
