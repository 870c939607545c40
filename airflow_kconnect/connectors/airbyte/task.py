"""The task of a source: Airbyte's messages, and where its streams resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.connector.task import NewShapes
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.airbyte.catalog import FULL, keys_of, name_of
from airflow_kconnect.connectors.airbyte.settings import MODE, settings_of
from airflow_kconnect.connectors.airbyte.sources import Trouble
from airflow_kconnect.connectors.programs.commands import started
from airflow_kconnect.connectors.programs.known import new_facts
from airflow_kconnect.connectors.programs.messages import Message, Row, Saved, compact
from airflow_kconnect.connectors.programs.running import Program
from airflow_kconnect.connectors.programs.settings import CATALOG_OF_TASK, ProgramSettings
from airflow_kconnect.connectors.programs.task import Offset, ProgramTask

SECRETS_OF_TASK, SCOPE_OF_TASK = "program.task.secrets", "program.task.scope"
SCOPE, OF_SOURCE = "scope", "source"
"""A fact about a source: its states are about all of its streams."""


class AirbyteSourceTask(ProgramTask):
    """Source partition `{"source", "stream"}`, offset `{"state"}`: the state of the stream, as JSON. Of a source whose
    states are about all streams (GLOBAL, LEGACY) it is `{"source"}`.
    """

    @classmethod
    def settings_of(cls, props: Mapping[str, str]) -> ProgramSettings:
        return settings_of(props)

    def start(self, props: Mapping[str, str]) -> None:
        super().start(props)
        self._is_global = props[SCOPE_OF_TASK] == OF_SOURCE
        self._secrets = frozenset(json.loads(props[SECRETS_OF_TASK]))
        self._catalog = json.loads(props[CATALOG_OF_TASK])
        self._whole = {name_of(each["stream"]) for each in self._catalog["streams"] if each[MODE] == FULL}
        self._trouble = Trouble(self.settings)
        for each in self._catalog["streams"]:
            stream = each["stream"]
            self.know(self.described(name_of(stream), stream.get("json_schema") or {}, keys_of(each)).rows)

    def offset_of(self, scope: str | None) -> Offset | None:
        """A state of the last run may say that a stream is complete: nothing would be read from there."""
        return self._reached.get(scope) if scope in self._whole else super().offset_of(scope)

    def launched(self) -> Program:
        self._trouble = Trouble(self.settings)
        files, arguments = {"catalog.json": json.dumps(self._catalog)}, ["--catalog", "catalog.json"]
        if states := self._states():
            files["state.json"] = json.dumps(states)
            arguments += ["--state", "state.json"]
        return started(self.settings, ("read", "--config", "config.json", *arguments), files, self._secrets)

    def _states(self) -> list[dict[str, Any]] | dict[str, Any]:
        """What the source is to resume from."""
        if self._is_global:
            state = _state_in(self.offset_of(None))
            return state.get("data") or {} if state.get("type") == "LEGACY" else [state] if state else []
        found = []
        for each in self._catalog["streams"]:
            stream = each["stream"]
            if state := _state_in(self.offset_of(name_of(stream))):
                descriptor = {name: stream[name] for name in ("name", "namespace") if stream.get(name)}
                found.append({"type": "STREAM", "stream": {"stream_descriptor": descriptor, "stream_state": state}})
        return found

    def scope_of(self, stream: str) -> str | None:
        return None if self._is_global else stream

    def partition_of(self, scope: str | None) -> Mapping[str, Any]:
        return {"source": self.settings.name} | ({} if scope is None else {"stream": scope})

    def message(self, found: Mapping[str, Any]) -> Message:
        kind = found.get("type")
        content = found.get({"RECORD": "record", "STATE": "state"}.get(str(kind), ""))
        if kind == "RECORD" and isinstance(content, Mapping):
            name = name_of({"namespace": content.get("namespace"), "name": content.get("stream")})
            return Row(name, content.get("data") or {}, _epoch_ms(content.get("emitted_at")))
        if kind == "STATE" and isinstance(content, Mapping):
            return self._saved(content)
        if kind in ("RECORD", "STATE") or kind is None:
            raise DataError(f"{self.settings.name} has written a message that does not follow Airbyte's protocol")
        assert self.program is not None
        self._trouble.note(found, self.program)
        return None

    def _saved(self, state: Mapping[str, Any]) -> Saved:
        if state.get("type") == "STREAM":
            stream = state.get("stream") or {}
            value = stream.get("stream_state") or {}
            name = name_of(stream.get("stream_descriptor") or {})
            if self._is_global:
                text = f"{self.settings.name} has told states of all streams before, and now tells one of stream {name}"
                raise DataError(f"{text}: reset its offsets, and it is read from its beginning")
            return Saved(self.scope_of(name), {"state": compact(value)}, resumable=bool(value))
        if not self._is_global:
            raise NewShapes({**new_facts([]), SCOPE: OF_SOURCE})
        kept = {name: state[name] for name in ("type", "global", "data") if state.get(name) is not None}
        kept.setdefault("type", "LEGACY")
        return Saved(None, {"state": compact(kept)})

    def explained(self, error: Exception) -> Exception:
        """What the source has told about its end, in place of its exit code."""
        told = self._trouble.error() if isinstance(error, RetriableError) else None
        return told or error

    def check_end(self) -> None:
        if told := self._trouble.error():
            raise told


def _state_in(offset: Offset | None) -> dict[str, Any]:
    found: dict[str, Any] = {} if offset is None else json.loads(offset["state"])
    return found


def _epoch_ms(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None
