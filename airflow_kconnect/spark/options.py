"""Options of a read: the keys of a connector, and what only the data source knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from airflow_kconnect.connect.config import coerce
from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.validation.inspection import inspect_keys
from airflow_kconnect.worker_config.keys import WorkerConfig

CONFIG, METADATA, OFFSETS, TOPICS, AHEAD = "config", "includeMetadata", "startingOffsets", "subscribe", "readAhead"
_OWN = (CONFIG, METADATA, OFFSETS, TOPICS, AHEAD)
_OWN_NAMES = {option.lower() for option in _OWN}
_AHEAD_RECORDS = 1000
_OFFSETS_FORM = (
    "expected `earliest`, or the JSON of what metadata columns have, such as"
    ' [{"partition": {"source": "orders"}, "offset": {"id": 7}}]'
)

T = TypeVar("T")


@dataclass(frozen=True)
class ReadOptions:
    """What only the data source knows.

    :param metadata: whether a row has all parts of its record. :param offsets: by `partition_identity`, where to begin.
    :param topics: whose records are wanted; None: all.
    :param ahead: how many records of each task are read to find the schema.
    """

    metadata: bool = False
    offsets: Mapping[str, Offset] | None = None
    topics: tuple[str, ...] | None = None
    ahead: int = _AHEAD_RECORDS


def split(options: Mapping[str, str]) -> tuple[ReadOptions, dict[str, str], dict[str, str]]:
    """The options of the data source, the keys of a whole configuration among them, and the other options, which are
    keys of the connector in lower case: Spark does not keep theirs.

    :raises ConfigError: with all errors.
    """
    errors: dict[str, list[str]] = {}

    def read(option: str, parse: Callable[[str], T], otherwise: T) -> T:
        text = options.get(option.lower())
        if text is None:
            return otherwise
        try:
            return parse(text)
        except ValueError as error:
            errors[option] = [str(error)]
            return otherwise

    no_config: dict[str, str] = {}
    own = ReadOptions(
        metadata=read(METADATA, _boolean, False),
        offsets=read(OFFSETS, _offsets, None),
        topics=read(TOPICS, _topics, None),
        ahead=read(AHEAD, _count, _AHEAD_RECORDS),
    )
    config = read(CONFIG, _config, no_config)
    if "endingoffsets" in options:
        errors["endingOffsets"] = ["a source does not know it: bound the read by `kconnect.max.records`"]
    if errors:
        raise ConfigError(errors)
    return own, config, {key.lower(): text for key, text in options.items() if key.lower() not in _OWN_NAMES}


def in_their_case(config: Mapping[str, str], options: Mapping[str, str], worker: WorkerConfig) -> dict[str, str]:
    """The configuration with the other options, whose names get the case in which the connector or the framework
    defines them. Options win.

    :raises ConfigError: keys that differ in nothing else; keys of the connector that are options of the data source.
    """
    known: dict[str, list[str]] = {}
    for key in inspect_keys({**config, **options}, worker=worker).definition.keys:
        known.setdefault(key.lower(), []).append(key)
    errors, found = {}, dict(config)
    for key, text in options.items():
        names = known.get(key, [key])
        if len(names) > 1:
            errors[key] = [f"options do not tell {' from '.join(names)}: set both by the option `{CONFIG}`, as JSON"]
        found[names[0]] = text
    for key in (key for name in _OWN_NAMES for key in known.get(name, [])):
        errors[key] = ["is an option of the data source: it cannot read a source with this key"]
    if errors:
        raise ConfigError(errors)
    return found


def _boolean(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError(f"is {text!r}, expected true or false")
    return text.strip().lower() == "true"


def _count(text: str) -> int:
    if not text.strip().isdecimal() or int(text) == 0:
        raise ValueError(f"is {text!r}, expected a number of records")
    return int(text)


def _topics(text: str) -> tuple[str, ...]:
    topics = tuple(filter(None, (topic.strip() for topic in text.split(","))))
    if not topics:
        raise ValueError("names no topic")
    return topics


def _offsets(text: str) -> Mapping[str, Offset] | None:
    if text.strip() == "earliest":
        return None
    given = _json(text)
    given = given.get("offsets") if isinstance(given, dict) else given
    if not isinstance(given, list) or not all(map(_is_offset, given)):
        raise ValueError(_OFFSETS_FORM)
    return {partition_identity(each["partition"]): each["offset"] for each in given if each["offset"] is not None}


def _is_offset(each: Any) -> bool:
    if not isinstance(each, dict) or set(each) != {"partition", "offset"} or not isinstance(each["partition"], dict):
        return False
    return each["offset"] is None or isinstance(each["offset"], dict)


def _config(text: str) -> dict[str, str]:
    """A connector's JSON, flat or with its name outside."""
    given = _json(text)
    if isinstance(given, dict) and isinstance(given.get("config"), dict):
        given = {**({"name": given["name"]} if "name" in given else {}), **given["config"]}
    if not isinstance(given, dict):
        raise ValueError("is not a JSON object of keys and values")
    if own := [key for key in given if key.lower() in _OWN_NAMES]:
        raise ValueError(f"has {own[0]}, which is not a key of the connector: set it as an option")
    return {str(key): coerce(value) for key, value in given.items()}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
