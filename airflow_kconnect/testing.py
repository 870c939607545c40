"""A test kit for user-defined transformations and predicates: typed records in, typed records out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.converters.json.schemas import from_json_schema, to_json_schema
from airflow_kconnect.converters.json.values import from_json_value, to_json_value
from airflow_kconnect.runtime import preview
from airflow_kconnect.transforms.base import Predicate, Transformation
from airflow_kconnect.transforms.chain import Chain, ChainLink

__all__ = ["transform"]

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_CONVERTERS = {f"{role}.converter": _JSON for role in ("key", "value", "header")}


def transform(
    transformation: Transformation,
    records: Sequence[SinkRecord],
    predicate: Predicate | None = None,
    *,
    negate: bool = False,
) -> list[SinkRecord | RecordError | None]:
    """Run a transformation over records, as a job does; no entry point is needed.

    :param predicate: selects the records to change; None: all.
    :param negate: change the records for which the predicate is false.
    :returns: in the same order, the record, its error, or None if it was dropped.
    """
    name = f"{type(transformation).__module__}.{type(transformation).__qualname__}"
    plan = preview.Plan(_CONVERTERS)
    plan.chain = Chain((ChainLink(name, transformation, predicate, negate),))
    answers = plan.answers([_as_in_kafka(record) for record in records])
    return [_result(answer, record, name) for answer, record in zip(answers, records, strict=True)]


def _as_in_kafka(record: SinkRecord) -> preview.Record:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.kafka_offset,
        "timestamp": record.timestamp,
        "key": _envelope(record.key_schema, record.key),
        "value": _envelope(record.value_schema, record.value),
        "headers": [{"key": key, "value": _envelope(None, value)} for key, value in record.headers],
    }


def _envelope(schema: ConnectSchema | None, data: Any) -> preview.Record | None:
    if schema is None:
        return None if data is None else {"schema": None, "payload": data}
    return {"schema": to_json_schema(schema), "payload": to_json_value(schema, data)}


def _result(answer: preview.Record, record: SinkRecord, name: str) -> SinkRecord | RecordError | None:
    if "dropped" in answer:
        return None
    if error := answer.get("error"):
        return RecordError(error["stage"], name, error["class"], error["message"])
    key_schema, key = _data(answer["key"])
    value_schema, value = _data(answer["value"])
    return SinkRecord(
        topic=answer["topic"],
        partition=answer["partition"],
        kafka_offset=record.kafka_offset,
        key=key,
        value=value,
        key_schema=key_schema,
        value_schema=value_schema,
        timestamp=answer["timestamp"],
        headers=tuple((header["key"], _data(header["value"])[1]) for header in answer["headers"]),
    )


def _data(text: str | None) -> tuple[ConnectSchema | None, Any]:
    """Schema and data of an envelope."""
    envelope = {} if text is None else json.loads(text)
    schema, data = from_json_schema(envelope.get("schema")), envelope.get("payload")
    return schema, data if schema is None else _with_lists(from_json_value(schema, data))


def _with_lists(data: Any) -> Any:
    """Schema defaults must be hashable, so arrays were read as tuples."""
    if isinstance(data, dict):
        return {key: _with_lists(value) for key, value in data.items()}
    return [_with_lists(item) for item in data] if isinstance(data, tuple) else data
