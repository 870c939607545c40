"""What an author tells the kit about a connector: its configuration, its data, and how to look at them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_FIELDS = [
    {"field": "id", "type": "int64", "optional": False},
    {"field": "text", "type": "string", "optional": True},
]


class Failure(StrEnum):
    """How a connector fails: by which error, and so with which exit code of its run."""

    RETRIABLE = "retriable"
    DATA = "data"
    CONFIG = "config"
    OTHER = "other"


@dataclass(frozen=True)
class Arrived:
    """A record that a source has written to Kafka."""

    topic: str
    key: bytes | None
    value: bytes | None

    def plain(self) -> Any:
        """The value as JSON data without the envelope that names its schema; a text if it is not JSON."""
        try:
            value = None if self.value is None else json.loads(self.value)
        except ValueError:
            return _text(self.value)
        if isinstance(value, dict) and value.keys() == {"schema", "payload"}:
            return value["payload"]
        return value


class Harness(ABC):
    """A connector under test, with data of its own. A new object is made for each check.

    :param folder: empty, for files; removed after the check.
    :param topic: a topic that no other check uses: what a source may write to, and what a sink reads.
    """

    def __init__(self, folder: Path, topic: str) -> None:
        self.folder, self.topic = folder, topic

    @abstractmethod
    def config(self) -> Mapping[str, Any]:
        """The configuration, without `name` and `connector.class`. Called once, before anything else."""

    @cached_property
    def configured(self) -> Mapping[str, Any]:
        """What `config` has returned: it may have made what it names, which cannot be made twice."""
        return self.config()

    def fail(self, failure: Failure | None) -> None:
        """Make the next runs fail by this kind of error; None: let them succeed again. Optional."""
        raise NotImplementedError

    def close(self) -> None:
        """Called last."""


class SourceHarness(Harness):
    """A source under test."""

    def add(self, count: int) -> None:
        """Put this many more records into the source. The same calls add the same records, each time.

        Without this method the source has what it has, and checks that need new data do not apply.
        """
        raise NotImplementedError

    def expected(self) -> Iterable[Any] | None:
        """The values that should be in Kafka by now, as JSON data; None: what an undisturbed run writes."""
        return None

    def identity(self, record: Arrived) -> str:
        """What is the same for a record whenever it is written, and differs between records; here key and value.

        To be overridden if a value has something that differs in each run, such as the time at which it was read.
        """
        return f"{_text(record.key)}: {_text(record.value)}"


class SinkHarness(Harness):
    """A sink under test. `topics` of its configuration is the harness' topic."""

    def record(self, number: int, text: str | None) -> tuple[bytes | None, bytes | None]:
        """Key and value of a record, in the bytes that the converters of the configuration read.

        By default the key is the number, and the value an object: `{"id": number, "text": text}`. To be overridden if
        the sink wants other records, or has other converters than those for JSON and strings.
        """
        value: Any = {"id": number, "text": text}
        if has_schemas(self.configured):
            value = {"schema": {"type": "struct", "fields": _FIELDS, "optional": False}, "payload": value}
        return str(number).encode(), json.dumps(value, ensure_ascii=False).encode()

    def arrived(self) -> Iterable[Any]:
        """What is in the target by now: of each record its number, or an object with its `id` and `text`.

        As often as it is there. Without this method nothing is counted: only exit codes are checked.
        """
        raise NotImplementedError


class ConfigOnly(SourceHarness, SinkHarness):
    """A harness of which only the configuration is known."""

    def __init__(self, folder: Path, topic: str, config: Mapping[str, Any]) -> None:
        super().__init__(folder, topic)
        self._config = config

    def config(self) -> Mapping[str, Any]:
        return self._config


def has(harness: Harness, method: str) -> bool:
    """Whether the author has written a method."""
    own = getattr(type(harness), method)
    return all(own is not getattr(base, method, None) for base in (Harness, SourceHarness, SinkHarness))


def with_converters(config: Mapping[str, Any], *, own_records: bool) -> dict[str, Any]:
    """The configuration of a sink that reads what the kit writes, whatever converters the worker has.

    :param own_records: whether the author writes the records: their values are for the author's converter.
    """
    return {"key.converter": _STRING, **({} if own_records else {"value.converter": _JSON}), **config}


def has_schemas(config: Mapping[str, Any]) -> bool:
    """Whether a sink with this configuration reads values in JSON's envelopes with a schema."""
    converter = str(config.get("value.converter", "JsonConverter"))
    return converter.endswith("JsonConverter") and str(config.get("value.converter.schemas.enable")).lower() != "false"


def _text(data: bytes | None) -> str:
    return "null" if data is None else data.decode("utf-8", "backslashreplace")
