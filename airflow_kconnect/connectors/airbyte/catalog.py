"""A source's catalog, and which of its streams are to be read how: Airbyte's configured catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.airbyte.settings import CURSOR, MODE, PRIMARY_KEY
from airflow_kconnect.connectors.programs.settings import (
    ProgramSettings,
    refuse_shared_topics,
    refuse_unknown_streams,
)
from airflow_kconnect.runs.warnings import Kind, RunWarning

INCREMENTAL, FULL = "incremental", "full_refresh"


class Catalog:
    """The streams that are selected.

    :param document: the catalog as the source has written it.
    :raises ConfigError: there are no streams in it, not those that are named, two that share a name or a topic, or a
        hint that does not fit.
    """

    def __init__(self, document: Mapping[str, Any], settings: ProgramSettings) -> None:
        streams = document.get("streams")
        if not isinstance(streams, list) or not all(isinstance(each, dict) for each in streams):
            raise ConfigError({settings.keys.catalog: ["is not a catalog of Airbyte: it has no list `streams`"]})
        found = {name_of(each): each for each in streams}
        refuse_unknown_streams(settings, {name: (name,) for name in found})
        _refuse_shared_names(settings, streams)
        self.streams = {
            name: _configured(name, stream, settings) for name, stream in found.items() if settings.wants(name)
        }
        refuse_shared_topics(settings, self.streams)

    @property
    def configured(self) -> dict[str, Any]:
        """What the source is to read, as it expects it."""
        return {"streams": list(self.streams.values())}

    def warnings(self) -> list[RunWarning]:
        """Streams that are read as a whole in each run."""
        return [
            RunWarning(
                Kind.DOUBLED,
                f"stream {name} is read as a whole ({FULL}), so each run writes all of its records again",
            )
            for name, stream in self.streams.items()
            if stream[MODE] == FULL
        ]


def name_of(described: Mapping[str, Any]) -> str:
    """The name of a stream, which has that of its namespace before it if there is one."""
    namespace, name = described.get("namespace"), str(described.get("name") or "")
    return f"{namespace}.{name}" if namespace else name


def keys_of(configured: Mapping[str, Any]) -> list[str]:
    """The columns of its key; a column within another one cannot be one."""
    paths = configured.get(PRIMARY_KEY) or []
    return [path[0] for path in paths] if all(len(path) == 1 for path in paths) else []


def _refuse_shared_names(settings: ProgramSettings, streams: Sequence[Mapping[str, Any]]) -> None:
    """Records and states of streams that are called the same, such as `b.c` of `a` and `c` of `a.b`, would be mixed."""
    first: dict[str, Mapping[str, Any]] = {}
    for each in streams:
        name = name_of(each)
        if settings.wants(name) and first.setdefault(name, each) != each:
            keys = settings.keys
            text = (
                f"`{name}` is the name of several streams of {settings.name}, with the namespace before it: leave "
                f"them out (`!{name}`), or set `{keys.catalog}` to a catalog with one of them"
            )
            raise ConfigError({keys.streams: [f"{text}, and read the others by other connectors"]})


def _configured(name: str, stream: Mapping[str, Any], settings: ProgramSettings) -> dict[str, Any]:
    hints = settings.hints.get(name, {})
    cursor = _path(hints.get(CURSOR) or stream.get("default_cursor_field") or [])
    modes = stream.get("supported_sync_modes") or [FULL]
    knows_cursor = bool(cursor) or bool(stream.get("source_defined_cursor"))
    mode = hints.get(MODE) or (INCREMENTAL if INCREMENTAL in modes and knows_cursor else FULL)
    if mode not in modes:
        text = f"`{MODE}` {mode} is not one that the stream supports: {', '.join(modes)}"
        raise ConfigError({f"{settings.keys.hints}{name}": [text]})
    keys = [_path(each) for each in hints.get(PRIMARY_KEY) or stream.get("source_defined_primary_key") or []]
    return {
        "stream": dict(stream),
        MODE: mode,
        CURSOR: cursor,
        PRIMARY_KEY: keys,
        "destination_sync_mode": "append",
        # Of syncs that replace a table; a topic is never replaced.
        "generation_id": 0,
        "minimum_generation_id": 0,
        "sync_id": 0,
    }


def _path(column: Any) -> list[str]:
    return [str(each) for each in column] if isinstance(column, list) else [str(column)]
