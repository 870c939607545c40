"""Previews: what the converters and transformations of a connector make of sample records, or of those in its topics.

Each preview is a process of its own, in which Spark runs; one at a time, and a few may wait.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.control import secrets, shown
from airflow_kconnect.control.configurations import RequestError, named
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.watching.latest_records import LatestRecords
from airflow_kconnect.submit.previewing import previewed_steps

MOST_RECORDS = 100

_TIMEOUT_S = 120.0
_MOST_WAITING = 4
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_ROLES = ("key", "value")
# All that a preview needs: other keys, such as passwords of databases, are not given to its process.
_CONVERTERS = ("key.converter", "value.converter", "header.converter")
# A transformation could show the value of a variable in disguise, and it would be that of a file of this machine.
_UNRESOLVED = ("transforms", "predicates")
_ENVELOPE = {"schema", "payload"}

_turn = threading.Lock()
_places = threading.BoundedSemaphore(_MOST_WAITING)


def of_samples(
    plane: ControlPlane,
    name: str,
    config: Mapping[str, Any] | None,
    records: Sequence[Mapping[str, Any]],
    *,
    schemas: bool = False,
) -> dict[str, Any]:
    """A preview of records that the caller gives.

    :param config: instead of the registered configuration; `[hidden]` stands for what is registered.
    :param records: as for `runtime.preview.preview`; of a source: as it would give them to its first transformation, as
        JSON or in the envelope of JsonConverter.
    :param schemas: show keys and values in the envelope of JsonConverter, with their schemas.
    :returns: `transformations`, and `records`: each with `before`, `read` (what the converters made of it) and `after`
        (what each transformation did: the record, `dropped` or `error`; nothing follows those two).
    :raises NotFoundError: there is no such connector, and no configuration was given.
    :raises ConfigError: the configuration or the records are wrong; with all errors.
    :raises RetriableError: other previews are in progress.
    """
    chosen = _configuration(plane, name, config)
    return _preview(plane, chosen, [dict(record) for record in records], schemas=schemas)


def of_latest(
    plane: ControlPlane,
    name: str,
    config: Mapping[str, Any] | None,
    most: int,
    topic: str | None = None,
    *,
    schemas: bool = False,
) -> dict[str, Any]:
    """A preview of the latest records in the topics of a sink; see `of_samples`.

    :param topic: only those of this one.
    :raises ConfigError: the connector is not a sink, or does not read the topic; what else `of_samples` raises.
    """
    chosen = _configuration(plane, name, config)
    if shown.kind(chosen) != "sink":
        text = f"{name} is not a sink: only the records of sinks are in Kafka; give `records`"
        raise RequestError({"latest": [text]})
    with plane.resolved(chosen) as found:
        records = LatestRecords(found.worker).of({**found.config, "name": name}, most, topic)
    return _preview(plane, chosen, [asdict(record) for record in records], schemas=schemas)


def _configuration(plane: ControlPlane, name: str, config: Mapping[str, Any] | None) -> dict[str, str]:
    registered = plane.registered().get(name)
    if config is None:
        if registered is None:
            raise NotFoundError(f"Connector {name} not found")
        return dict(registered.texts)
    texts, errors = texts_of(secrets.restored(named(config, name), registered.texts if registered else {}))
    for key, messages in secrets.still_hidden(texts).items():
        errors.setdefault(key, []).extend(messages)
    if errors:
        raise RequestError(errors)
    return texts


def _preview(plane: ControlPlane, config: Mapping[str, str], records: list[Any], *, schemas: bool) -> dict[str, Any]:
    is_sink = shown.kind(config) != "source"
    chain = {key: value for key, value in config.items() if key.startswith(_UNRESOLVED)}
    converters = {key: value for key, value in config.items() if key.startswith(_CONVERTERS)}
    converters |= {} if is_sink else _read_as_json(records)
    worker = {key: str(value) for key, value in plane.worker_props.items() if key.startswith(_CONVERTERS)}
    with plane.resolved({**converters, **_written_as_json(schemas=schemas)}) as found, _place():
        of_worker = {key: found.worker.props[key] for key in worker}
        try:
            answer = previewed_steps(found.config | chain, records, of_worker, is_sink=is_sink, timeout_s=_TIMEOUT_S)
        except DataError as error:
            raise RequestError({"records": [str(error)]}) from None
        except ConfigError as error:
            raise RequestError(error.errors) from None
        answers = json.loads(found.hide(json.dumps(answer["records"], ensure_ascii=False)))
    shown_records = [
        {"before": _readable(record), "read": steps[0], "after": steps[1:]}
        for record, steps in zip(records, _readable(answers), strict=True)
    ]
    return {"transformations": answer["transformations"], "records": shown_records}


def _written_as_json(*, schemas: bool) -> dict[str, str]:
    """What people read, whatever the connector would write: Connect's data."""
    keys: dict[str, str] = {}
    for role in _ROLES:
        prefix = f"preview.output.{role}.converter"
        keys |= {prefix: _JSON, f"{prefix}.schemas.enable": str(schemas).lower(), f"{prefix}.decimal.format": "NUMERIC"}
    return keys


def _read_as_json(records: Sequence[Any]) -> dict[str, str]:
    """Converters for samples of a source, whose records are not bytes yet."""
    keys: dict[str, str] = {}
    for role in _ROLES:
        found = [_parsed(record[role]) for record in records if isinstance(record, Mapping) and role in record]
        enveloped = any(isinstance(each, dict) and each.keys() == _ENVELOPE for each in found)
        keys |= {f"{role}.converter": _JSON, f"{role}.converter.schemas.enable": str(enveloped).lower()}
    return keys


def _parsed(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


@contextmanager
def _place() -> Iterator[None]:
    """A process with Spark takes a gigabyte and a core."""
    if not _places.acquire(blocking=False):
        raise RetriableError(f"{_MOST_WAITING} previews are in progress or waiting; try again in a moment")
    try:
        with _turn:
            yield
    finally:
        _places.release()


def _readable(value: Any) -> Any:
    """JSON data whose texts can be sent: bytes that are not UTF-8 are escaped."""
    if isinstance(value, str):
        return value.encode(errors="surrogateescape").decode(errors="backslashreplace")
    if isinstance(value, Mapping):
        return {key: _readable(each) for key, each in value.items()}
    return [_readable(each) for each in value] if isinstance(value, list) else value
