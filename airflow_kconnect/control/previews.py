"""Previews: what a connector's converters and transformations make of sample records, of those in the topics of a sink,
or of those that a source would read next.

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
from airflow_kconnect.control import secrets
from airflow_kconnect.control.configurations import RequestError, named
from airflow_kconnect.control.errors import ForbiddenError
from airflow_kconnect.control.kinds import kind
from airflow_kconnect.control.overview.latest_records import LatestRecords
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.kafka.connector_keys import kafka_keys
from airflow_kconnect.runs.spec import RecordsShown, RunSpec
from airflow_kconnect.submit.previewing import previewed_source, previewed_steps
from airflow_kconnect.worker_config.keys import PREVIEW_SOURCES
from airflow_kconnect.worker_config.spark_keys import spark_settings

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
    chosen = configuration(plane, name, config)
    return _preview(plane, chosen, [dict(record) for record in records], schemas=schemas)


def of_live(
    plane: ControlPlane,
    name: str,
    config: Mapping[str, Any] | None,
    most: int,
    topic: str | None = None,
    *,
    schemas: bool = False,
) -> dict[str, Any]:
    """A preview of the latest records in the topics of a sink, or of the next ones of a source; see `of_samples`.

    What a source gives has no `before`: it was never bytes.

    :param topic: only those of this one.
    :raises ConfigError: the connector is a Java source, or a sink that does not read the topic; what else `of_samples`
        raises.
    :raises ForbiddenError: the worker does not let this server read sources.
    """
    chosen = configuration(plane, name, config)
    match kind(chosen, plane.worker):
        case "sink":
            return _of_latest(plane, name, chosen, most, topic, schemas=schemas)
        case "source":
            if topic is not None:
                raise RequestError({"topic": [f"{name} is a source: only sinks read topics"]})
            return _of_next(plane, name, chosen, most, schemas=schemas)
        case _:
            raise RequestError({"connector.class": [f"the class of {name} is not known here; give `records`"]})


def reads_source(plane: ControlPlane, config: Mapping[str, str]) -> bool:
    """Whether `of_live` reads what a source with this configuration would read next."""
    return kind(config, plane.worker) == "source" and unread_source(plane, config) is None


def unread_source(plane: ControlPlane, config: Mapping[str, str]) -> str | None:
    """Why `of_live` does not read what a source would read next; None if it does, and for sinks."""
    if kind(config, plane.worker) != "source":
        return None
    if looks_hosted(config):
        return "It is a Java connector, which reads its source only in runs."
    if not plane.worker.get(PREVIEW_SOURCES):
        return (
            f"This server does not read its source: `{PREVIEW_SOURCES}` of the worker is false. `kconnect preview` "
            "shows the next records where runs of the connector could be."
        )
    return None


def _of_latest(
    plane: ControlPlane, name: str, config: Mapping[str, str], most: int, topic: str | None, *, schemas: bool
) -> dict[str, Any]:
    with plane.resolved(kafka_keys(config)) as found:
        records = LatestRecords(found.worker).of({**found.config, "name": name}, most, topic)
    return _preview(plane, config, [asdict(record) for record in records], schemas=schemas)


def _of_next(plane: ControlPlane, name: str, config: Mapping[str, str], most: int, *, schemas: bool) -> dict[str, Any]:
    if looks_hosted(config):
        text = f"{name} is a Java connector, which reads its source only in runs: give `records`"
        raise RequestError({"connector.class": [text]})
    if not plane.worker.get(PREVIEW_SOURCES):
        raise ForbiddenError(
            f"this server does not read the source of {name}, see `{PREVIEW_SOURCES}` of the worker: give `records`, or"
            " use `kconnect preview` where runs of the connector could be"
        )
    wanted = RecordsShown(most, _written_as_json(schemas=schemas))
    props, variables = plane.for_run({**config, "name": name})
    spec = RunSpec(props, plane.worker_props, "source", preview=wanted, variables=variables)
    with place():
        try:
            answer = previewed_source(spec, spark_settings(props), _TIMEOUT_S)
        except ConfigError as error:
            raise RequestError(error.errors) from None
    records = [{"before": None, "read": steps[0], "after": steps[1:]} for steps in _readable(answer["records"])]
    return {"transformations": answer["transformations"], "records": records}


def configuration(plane: ControlPlane, name: str, config: Mapping[str, Any] | None) -> dict[str, str]:
    """The configuration to try: a given one, whose `[hidden]` values are those that are registered, or the registered.

    :raises ConfigError: a value stays hidden, or is not a text. :raises NotFoundError: none is given or registered.
    """
    if config is None:
        return plane.registered_config(name)
    known = plane.registered().get(name) if secrets.HIDDEN in config.values() else None
    texts, errors = texts_of(secrets.restored(named(config, name), known.texts if known else {}))
    for key, messages in secrets.still_hidden(texts).items():
        errors.setdefault(key, []).extend(messages)
    if errors:
        raise RequestError(errors)
    return texts


def _preview(plane: ControlPlane, config: Mapping[str, str], records: list[Any], *, schemas: bool) -> dict[str, Any]:
    is_sink = kind(config, plane.worker) != "source"
    chain = {key: value for key, value in config.items() if key.startswith(_UNRESOLVED)}
    converters = {key: value for key, value in config.items() if key.startswith(_CONVERTERS)}
    converters |= {} if is_sink else _read_as_json(records)
    worker = {key: str(value) for key, value in plane.worker_props.items() if key.startswith(_CONVERTERS)}
    with plane.resolved({**converters, **_written_as_json(schemas=schemas)}) as found, place():
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
def place() -> Iterator[None]:
    """A turn, for a process with Spark: it takes a gigabyte and a core. :raises RetriableError: others wait already."""
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
