"""The task of a tap: Singer's messages, and where the tap resumes."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.programs.commands import started
from airflow_kconnect.connectors.programs.messages import Message, Row, Saved, compact
from airflow_kconnect.connectors.programs.running import Program
from airflow_kconnect.connectors.programs.settings import CATALOG_OF_TASK, PREFIX, ProgramSettings
from airflow_kconnect.connectors.programs.task import ProgramTask
from airflow_kconnect.connectors.singer.catalog import hints_of, names_of, shared_names
from airflow_kconnect.connectors.singer.settings import KEY_COLUMNS, settings_of

log = logging.getLogger("kconnect.source")

_NOT_RESUMABLE = "progress_markers"
"""A member of the states of taps whose records do not come in the order of their bookmark: it says of itself that it is
not resumable. The state at the end of the stream has none.
"""


class SingerSourceTask(ProgramTask):
    """Source partition `{"tap"}`, offset `{"state"}`: the value of STATE, as JSON."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: set[str] = set()

    @classmethod
    def settings_of(cls, props: Mapping[str, str]) -> ProgramSettings:
        return settings_of(props)

    def start(self, props: Mapping[str, str]) -> None:
        super().start(props)
        catalog = props.get(CATALOG_OF_TASK)
        streams = json.loads(catalog)["streams"] if catalog else []
        selected = [each for each in streams if each["selected"]]
        read = {name: each for each in selected for name in names_of(each)}
        self._left_out = {name for each in streams for name in names_of(each)} - read.keys() if catalog else None
        self._shared = shared_names(selected)
        self._hints = {**self.settings.hints, **{name: hints_of(each, self.settings) for name, each in read.items()}}

    def wants(self, stream: str) -> bool:
        """Some taps have other names in messages than in catalogs (`public-orders`): they read what is selected."""
        return super().wants(stream) if self._left_out is None else stream not in self._left_out

    def launched(self) -> Program:
        files, arguments = {}, []
        catalog = self.props.get(CATALOG_OF_TASK)
        if catalog:
            files["catalog.json"] = catalog
            arguments += ["--catalog", "catalog.json"]
        offset = self.offset_of(None)
        if offset is not None and offset["state"] != "{}":
            files["state.json"] = str(offset["state"])
            arguments += ["--state", "state.json"]
        return started(self.settings, ("--config", "config.json", *arguments), files)

    def scope_of(self, stream: str) -> None:
        """A state is about all streams."""
        return None

    def partition_of(self, scope: str | None) -> Mapping[str, Any]:
        return {"tap": self.settings.name}

    def message(self, found: Mapping[str, Any]) -> Message:
        match found.get("type"):
            case "RECORD":
                stream, values = self._members(found, "stream", "record")
                return Row(stream, values, _epoch_ms(found.get("time_extracted")))
            case "STATE":
                (value,) = self._members(found, "value")
                return Saved(None, {"state": compact(value)}, resumable=_is_resumable(value))
            case "SCHEMA":
                stream, schema = self._members(found, "stream", "schema")
                self._refuse_shared(stream)
                hinted = self._hints.get(stream, {}).get(KEY_COLUMNS)
                return self.described(stream, schema, hinted or found.get("key_properties") or ())
            case "ACTIVATE_VERSION":
                self._note_replaced(str(found.get("stream")))
            case "BATCH":
                text = f"{self.settings.name} writes records to files (BATCH), which this connector does not read"
                raise DataError(f"{text}: take `batch_config` out of its configuration")
            case kind:
                log.warning("%s has written a message of type %s, which is left out", self.settings.name, kind)
        return None

    def _members(self, found: Mapping[str, Any], *names: str) -> list[Any]:
        missing = [name for name in names if found.get(name) is None]
        if missing:
            text = f"{self.settings.name} has written a message of type {found['type']} without `{missing[0]}`"
            raise DataError(f"{text}: it does not follow Singer's specification")
        return [found[name] for name in names]

    def _refuse_shared(self, stream: str) -> None:
        """Records of two tables would be mixed, and those with the same key replace each other."""
        if ids := self._shared.get(stream):
            keys = self.settings.keys
            text = f"{self.settings.name} calls several of its streams `{stream}`: {', '.join(ids)}"
            cure = f"name one of these in `{keys.streams}`, and read the others by connectors with another `{PREFIX}`"
            raise ConfigError({keys.streams: [f"{text}: {cure}"]})

    def _note_replaced(self, stream: str) -> None:
        if stream not in self._replaced:
            self._replaced.add(stream)
            text = "%s has replaced stream %s as a whole (ACTIVATE_VERSION): what is no longer in it stays in the topic"
            log.warning(text, self.settings.name, stream)


def _epoch_ms(text: Any) -> int | None:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except (TypeError, ValueError):
        return None


def _is_resumable(state: Any) -> bool:
    """A state in which nothing is, such as that of streams that are read as a whole, resumes at the beginning."""
    return not _is_empty(state) and not _has(state, _NOT_RESUMABLE)


def _is_empty(value: Any) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return value is None or (isinstance(value, Mapping | list) and all(map(_is_empty, inner)))


def _has(value: Any, member: str) -> bool:
    if isinstance(value, Mapping):
        return member in value or any(_has(each, member) for each in value.values())
    return isinstance(value, list) and any(_has(each, member) for each in value)
