"""What the three sinks share: they write topics into folders of a bucket as Confluent's connectors do, exactly once.

Splits of a topic-partition are not written in parallel: one split per round continues its files until they are full, so
that they have the bounds that Confluent's connectors give them. At the end of a round all files end.
"""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.sink import BatchRenderer, NativeSinkConnector, SinkSplit, SplitWriter
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connectors.cloud_storage.keys.classes import Format
from airflow_kconnect.connectors.cloud_storage.keys.settings import Settings, problems, settings_of, warnings
from airflow_kconnect.connectors.cloud_storage.left_behind import LeftBehind, start_problems
from airflow_kconnect.connectors.cloud_storage.rules.layout import Part
from airflow_kconnect.kafka.sink_topics import named_topics
from airflow_kconnect.places.address import Address, dataset
from airflow_kconnect.places.base import Place, StagedFile
from airflow_kconnect.places.keys import check_connection
from airflow_kconnect.places.registry import open_place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.data import Shape
    from airflow_kconnect.connect.frame import RecordFrame

REPLAYS = "_replays"

Results = Sequence[tuple[SinkSplit, dict[str, Any]]]


class CloudStorageSinkConnector(NativeSinkConnector):
    """Subclasses say where the store is and how it is reached."""

    exactly_once = True
    ordered = True
    check_is_quick = False
    bucket_key: ClassVar[str]
    """The key with the bucket's name, for messages."""
    part_key: ClassVar[str]
    """The key with the bytes that are sent at once."""
    compression_keys: ClassVar[str]
    """What precedes ``type`` and ``level`` in the keys of its compression."""

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = self.settings(self.config_values)
        self.needs = self._settings.needs
        self._began_ms = int(time.time() * 1000)

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef: ...

    @classmethod
    def settings(cls, values: Mapping[str, Any]) -> Settings:
        """How files are written."""
        compression = values[f"{cls.compression_keys}type"], values[f"{cls.compression_keys}level"]
        return settings_of(values, part_bytes=values[cls.part_key], compression=compression)

    @classmethod
    @abstractmethod
    def address(cls, values: Mapping[str, Any]) -> Address:
        """Of the bucket."""

    @classmethod
    @abstractmethod
    def store_values(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """How it is reached: the keys of `places.keys`."""

    @classmethod
    def store_problems(cls, values: Mapping[str, Any]) -> dict[str, list[str]]:
        """Key -> messages about its own keys."""
        return {}

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        try:
            values = cls.config().parse(props)
        except ConfigError:
            return {}  # these keys are named already
        return {**problems(values), **cls.store_problems(values)}

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return warnings(cls.config().parse(props))

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    @classmethod
    def start_problems(
        cls, props: Mapping[str, str], starts: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]
    ) -> list[str]:
        """A run replaces whole files: one that begins before its start would keep records that are written again.

        If the bucket is not accessible here, nothing is known about its files.
        """
        connector = cls(props)
        earlier = {tp: start for tp, start in starts.items() if start < committed.get(tp, start)}
        delim = connector._settings.layout.directory_delim
        problems: list[str] = []
        with connector._place:
            for topic in dict.fromkeys(tp.topic for tp in earlier):
                with contextlib.suppress(ConnectError):
                    found = connector._left_behind.visible(topic)
                    at_topic = {tp: at for tp, at in earlier.items() if tp.topic == topic}
                    problems += start_problems(found, at_topic, delim)
        return problems

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """A folder per topic; for a replay the folder of replays."""
        values = cls.config().parse(props)
        root = cls.address(values).below(values["topics.dir"] or "")
        if report and report["replay"]:
            return [dataset(root.below(REPLAYS))]
        return [dataset(root.below(topic)) for topic in (report["topics"] if report else named_topics(props))]

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """A replay has its own folder."""
        return None

    def replay(self, replay: Replay) -> None:
        """A replay's files begin at other offsets than existing files: together they would hold records twice."""
        own = self.config_values["directory.delim"].join((REPLAYS, replay.folder))
        parts = [part for part in (self.config_values["topics.dir"], own) if part]
        self.config_values["topics.dir"] = self.config_values["directory.delim"].join(parts)
        self._settings = self.settings(self.config_values)

    @cached_property
    def _place(self) -> Place:
        values = {**self.config_values, **self.store_values(self.config_values)}
        return open_place(str(self.address(values)), values, self.bucket_key)

    @cached_property
    def _left_behind(self) -> LeftBehind:
        return LeftBehind(self._place, self._settings.layout)

    def check(self) -> None:
        check_connection(self.props)
        try:
            self._place.check()
        except ConfigError as error:  # a place calls its key `directory`
            texts = [text for key, of_key in error.errors.items() if key == "directory" for text in of_key]
            raise ConfigError({self.bucket_key: texts}) if texts else error from error

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        self._left_behind.discard_staged(start)

    def render(self, frame: RecordFrame) -> DataFrame:
        from airflow_kconnect.connectors.cloud_storage.rendering import rows, with_schemas

        self._settings = replace(self._settings, kinds=with_schemas(self._settings, frame))
        return rows(frame, self._settings, self._began_ms, f"{type(self).__module__}.{type(self).__name__}")

    def batch_renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        from airflow_kconnect.connectors.cloud_storage.avro_files import schema_of
        from airflow_kconnect.connectors.cloud_storage.plain import plain_rows

        renderer = plain_rows(self._settings, values, self._began_ms)
        kind = self._settings.kinds[Part.VALUES]
        if renderer is not None and kind.format is Format.AVRO:
            schema = schema_of(values, alone="value", may_be_null=False)
            self._settings = replace(self._settings, kinds={Part.VALUES: replace(kind, schema=schema)})
        return renderer

    def writer(self) -> SplitWriter:
        from airflow_kconnect.connectors.cloud_storage.writer import CloudStorageWriter

        return CloudStorageWriter(self._place, self._settings)

    def before_commit(self) -> None:
        self._left_behind.look()

    def commit(self, results: Results) -> dict[str, Any]:
        """Make the files of a round visible; what was visible at these offsets is removed, whether it has files or not.

        1 Publish: each file appears complete. One that is missing was removed by a newer run when that run began.
        2 Remove the files that a killed run left at the same offsets: it may have had other settings, or another time
          of the day, so they may be in other folders.

        :raises FencedError: a staged file is missing.
        """
        files = [file for _, facts in results for file in facts["files"]]
        staged = [StagedFile.from_json(each) for file in files for each in file["staged"]]
        left = [each for split, facts in results for each in self._left_behind.passed(split, facts["end"])]
        replaced = self._place.replace(staged, left)  # 1, 2
        records = sum(file["records"] for file in files)
        return {"files": len(staged), "records": records, "replaced_files": replaced}
