"""A tap's catalog: which streams there are, and which of them it is to read, as taps of all ages understand it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.programs.settings import (
    ProgramSettings,
    refuse_shared_topics,
    refuse_unknown_streams,
)
from airflow_kconnect.connectors.singer.settings import KEY_COLUMNS, METHOD, REPLICATION_KEY
from airflow_kconnect.runs.warnings import Kind, RunWarning


class Catalog:
    """A catalog with its streams selected.

    :param document: as the tap has written it.
    :raises ConfigError: there are no streams in it, not those that are named, or two that share a topic.
    """

    def __init__(self, document: Mapping[str, Any], settings: ProgramSettings) -> None:
        self.document: dict[str, Any] = deepcopy(dict(document))
        streams = self.document.get("streams")
        key = settings.keys.catalog
        if not isinstance(streams, list) or not all(isinstance(each, dict) for each in streams):
            raise ConfigError({key: ["is not a catalog of Singer: it has no list `streams`"]})
        self._streams = [(name_of(each), each) for each in streams]  # two tables may have one name
        refuse_unknown_streams(settings, {_label(each): names_of(each) for each in streams})
        for each in streams:
            _apply_hints(each, hints_of(each, settings))
            _select(each, settings.wants(*names_of(each)) and _of_stream(each).get("inclusion") != "unsupported")
        refuse_shared_topics(settings, (name for name, _ in self.selected()))

    def selected(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The streams to read, by their names."""
        return ((name, each) for name, each in self._streams if each["selected"])

    def warnings(self) -> list[RunWarning]:
        """Streams that are read as a whole in each run."""
        return [
            RunWarning(
                Kind.DOUBLED,
                f"stream {name} is read as a whole (FULL_TABLE), so each run writes all of its records again: give it "
                f"a `{METHOD}` and a `{REPLICATION_KEY}` by `singer.hints.{name}`, if the tap can do that",
            )
            for name, stream in self.selected()
            if replication_of(stream) == "FULL_TABLE"
        ]


def name_of(stream: Mapping[str, Any]) -> str:
    """The name of the stream. Its messages have it, or its id, or both with something before it: taps differ."""
    return str(stream.get("stream") or stream.get("tap_stream_id") or "")


def names_of(stream: Mapping[str, Any]) -> tuple[str, ...]:
    """By what users may name it: its name, which tables of several schemas may have, and its id, which is its own."""
    return tuple(dict.fromkeys([name_of(stream), _id_of(stream)]))


def hints_of(stream: Mapping[str, Any], settings: ProgramSettings) -> dict[str, Any]:
    """What the user says of the stream; what is said by its id wins."""
    return {member: value for name in names_of(stream) for member, value in settings.hints.get(name, {}).items()}


def shared_names(streams: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The names that several streams have, with the ids of these."""
    ids: dict[str, list[str]] = {}
    for each in streams:
        ids.setdefault(name_of(each), []).append(_id_of(each))
    return {name: found for name, found in ids.items() if len(found) > 1}


def _id_of(stream: Mapping[str, Any]) -> str:
    return str(stream.get("tap_stream_id") or stream.get("stream") or "")


def _label(stream: Mapping[str, Any]) -> str:
    name, *others = names_of(stream)
    return f"{name} ({others[0]})" if others else name


def keys_of(stream: Mapping[str, Any]) -> list[str]:
    """The columns of its key."""
    own = _of_stream(stream)
    found = stream.get("key_properties") or own.get("table-key-properties") or own.get("view-key-properties") or ()
    return [str(each) for each in found]


def replication_of(stream: Mapping[str, Any]) -> str | None:
    """How the stream is read, as far as its catalog says it."""
    own = _of_stream(stream)
    found = stream.get("replication_method") or own.get("replication-method") or own.get("forced-replication-method")
    return None if found is None else str(found)


def _entries(stream: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = stream.get("metadata")
    return [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []


def _of_stream(stream: Mapping[str, Any]) -> dict[str, Any]:
    found = next((each.get("metadata") for each in _entries(stream) if not each.get("breadcrumb")), None)
    return found if isinstance(found, dict) else {}


def _own_metadata(stream: dict[str, Any]) -> dict[str, Any]:
    """That of the stream, which it has from now on."""
    stream["metadata"] = entries = _entries(stream)
    own = next((each for each in entries if not each.get("breadcrumb")), None)
    if own is None:
        entries.append(own := {"breadcrumb": []})
    metadata: dict[str, Any] = own.setdefault("metadata", {})
    return metadata


def _apply_hints(stream: dict[str, Any], hints: Mapping[str, Any]) -> None:
    if hints:
        stream.update(hints)
        _own_metadata(stream).update({_HYPHENATED[name]: value for name, value in hints.items()})


_HYPHENATED = {
    METHOD: "replication-method",
    REPLICATION_KEY: "replication-key",
    KEY_COLUMNS: "table-key-properties",
}


def _select(stream: dict[str, Any], selected: bool) -> None:
    """In each of the places in which taps look for it. Columns that the catalog leaves out stay left out."""
    stream["selected"] = selected
    if isinstance(stream.get("schema"), dict):
        stream["schema"]["selected"] = selected
    _own_metadata(stream)["selected"] = selected
    for entry in _entries(stream) if selected else ():
        column = entry.get("metadata")
        if entry.get("breadcrumb") and isinstance(column, dict) and column.get("inclusion") != "unsupported":
            column.setdefault("selected", column.get("selected-by-default", True))
