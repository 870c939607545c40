"""ExtractNewRecordState: answers that Debezium 3.3 gives as well, and those for events without schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectSchema,
    struct,
)
from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.testing import transform
from airflow_kconnect.transforms.debezium.extract_new_record_state import ExtractNewRecordState
from airflow_kconnect.transforms.predicates.record_is_tombstone import RecordIsTombstone

pytestmark = pytest.mark.usefixtures("spark")

MODE = "delete.tombstone.handling.mode"
ROW = struct(("id", INT32_SCHEMA), ("to", OPTIONAL_STRING_SCHEMA), name="db.T.Value", optional=True)
SOURCE = struct(("lsn", replace(INT32_SCHEMA, doc="position", default=7)), ("ts_ms", INT64_SCHEMA.as_optional()))
TRANSACTION = struct(("id", STRING_SCHEMA), optional=True)
EVENT = struct(
    ("before", ROW),
    ("after", ROW),
    ("source", SOURCE),
    ("op", STRING_SCHEMA),
    ("transaction", TRANSACTION),
    name="db.T.Envelope",
)
NEW, OLD = {"id": 1, "to": "there"}, {"id": 1, "to": None}
PLAIN = replace(ROW, optional=False)
MARKED = struct(
    ("id", INT32_SCHEMA), ("to", OPTIONAL_STRING_SCHEMA), ("__deleted", OPTIONAL_STRING_SCHEMA), name="db.T.Value"
)

Answer = tuple[ConnectSchema | None, Any] | str


def _event(op: str, before: Any, after: Any, transaction: Any = None) -> dict[str, Any]:
    source = {"lsn": 5, "ts_ms": 11}
    return {"before": before, "after": after, "source": source, "op": op, "transaction": transaction}


CREATE, UPDATE = _event("c", None, NEW), _event("u", OLD, NEW, {"id": "tx"})
DELETE, TRUNCATE = _event("d", OLD, None), _event("t", None, None)
RECORDS = [(EVENT, CREATE), (EVENT, UPDATE), (EVENT, DELETE), (None, None), (EVENT, TRUNCATE), (STRING_SCHEMA, "x")]


def _record(schema: ConnectSchema | None, value: Any) -> SinkRecord:
    return SinkRecord("t", 0, 0, None, value, value_schema=schema)


def _results(config: dict[str, str], records: list[Any]) -> list[SinkRecord | RecordError | None]:
    return transform(ExtractNewRecordState(config), [_record(*record) for record in records])


def _answers(config: dict[str, str], records: list[Any]) -> list[Answer]:
    return [_answer(result) for result in _results(config, records)]


def _answer(result: SinkRecord | RecordError | None) -> Answer:
    if result is None:
        return "dropped"
    if isinstance(result, RecordError):
        return f"{result.exception.rpartition('.')[2]}: {result.message}"
    return result.value_schema, result.value


def _marked(row: dict[str, Any], deleted: str) -> Answer:
    return MARKED, row | {"__deleted": deleted}


@pytest.mark.parametrize(
    ("mode", "row", "deletion", "tombstone"),
    [
        ("tombstone", (PLAIN, NEW), (ROW, None), "dropped"),
        ("delete-to-tombstone", (PLAIN, NEW), (None, None), "dropped"),
        ("drop", (PLAIN, NEW), "dropped", "dropped"),
        ("rewrite", _marked(NEW, "false"), _marked(OLD, "true"), "dropped"),
        ("rewrite-with-tombstone", _marked(NEW, "false"), _marked(OLD, "true"), (None, None)),
    ],
)
def test_modes(mode: str, row: Answer, deletion: Answer, tombstone: Answer) -> None:
    expected = [row, row, deletion, tombstone, "dropped", (STRING_SCHEMA, "x")]
    assert _answers({MODE: mode}, RECORDS) == expected


def test_facts_become_fields_that_are_optional() -> None:
    config = {MODE: "rewrite", "add.fields": "op, source.ts_ms,nothing,lsn:LSN,transaction.id,source.op"}
    added = (
        ("__op", OPTIONAL_STRING_SCHEMA),
        ("__source_ts_ms", INT64_SCHEMA.as_optional()),
        ("__LSN", replace(INT32_SCHEMA, doc="position", optional=True)),
        ("__transaction_id", OPTIONAL_STRING_SCHEMA),
        ("__source_op", OPTIONAL_STRING_SCHEMA),
    )
    schema = struct(*((field.name, field.schema) for field in MARKED.fields), *added, name="db.T.Value")
    facts = {"__source_ts_ms": 11, "__LSN": 5}
    assert _answers(config, [(EVENT, UPDATE), (EVENT, DELETE)]) == [
        (schema, NEW | {"__deleted": "false", "__op": "u", "__transaction_id": "tx", "__source_op": "u"} | facts),
        (schema, OLD | {"__deleted": "true", "__op": "d", "__transaction_id": None, "__source_op": "d"} | facts),
    ]


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (
            {"add.fields": "source.lsn:id", "add.fields.prefix": ""},
            "SchemaBuilderException: Cannot create field because of field name duplication id",
        ),
        ({"add.fields": "source"}, "DataException: Struct schemas do not match."),
        ({"add.fields": "op.x"}, "DataException: Cannot look up fields on non-struct type"),
        ({"add.headers": "other.x"}, "NullPointerException: Cannot invoke"),
        ({"route.by.field": "id"}, "DataException: Field 'id' is not of type STRING"),
        ({"route.by.field": "none"}, "DataException: none is not a valid field name"),
    ],
)
def test_facts_and_topics_that_there_are_not(config: dict[str, str], error: str) -> None:
    (answer,) = _answers(config, [(EVENT, CREATE)])
    assert str(answer).startswith(error)


def test_only_the_schemas_name_tells_an_event_whatever_its_fields_are() -> None:
    row, text = ("after", ROW), ("after", OPTIONAL_STRING_SCHEMA)
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((), {}, "IllegalArgumentException: Unknown field: after"),
        ((row,), {"after": None}, "IllegalArgumentException: Unknown field: before"),
        (
            (text, ("before", ROW), ("op", STRING_SCHEMA)),
            {"after": "{}", "before": None, "op": "c"},
            "DataException: Only Struct objects supported for [source field insertion], found: java.lang.String",
        ),
        ((row, ("before", ROW)), {"after": NEW, "before": None}, "DataException: op is not a valid field name"),
    ]
    records = [(struct(*fields, name="x.Envelope"), data) for fields, data, _ in cases]
    other = (replace(EVENT, name="db.T.Other"), CREATE)
    assert _answers({}, [*records, other]) == [*(error for _, _, error in cases), other]


def test_facts_become_headers_after_those_that_there_are() -> None:
    config = {MODE: "rewrite-with-tombstone", "add.headers": "op,source.lsn,nothing", "add.headers.prefix": "x-"}
    records = [replace(_record(*record), headers=(("old", "h"),)) for record in [RECORDS[0], RECORDS[3], RECORDS[5]]]
    results = transform(ExtractNewRecordState(config), records)
    headers = [result.headers for result in results if isinstance(result, SinkRecord)]
    assert headers == [
        (("old", "h"), ("x-op", "c"), ("x-source_lsn", 5)),
        (("old", "h"), ("x-op", "d")),
        (("old", "h"),),
    ]


def test_rows_go_to_the_topic_in_a_field_if_there_is_one() -> None:
    blank = _event("u", OLD, {"id": 1, "to": " "})
    gone = _event("d", {"id": 1, "to": "away"}, None)
    results = _results({"route.by.field": "to"}, [(EVENT, CREATE), (EVENT, blank), (EVENT, gone), (STRING_SCHEMA, "x")])
    assert [result.topic for result in results if isinstance(result, SinkRecord)] == ["there", "t", "away", "t"]


def test_other_records_than_a_predicate_names_stay() -> None:
    records = [_record(*RECORDS[0]), _record(None, None)]
    results = transform(ExtractNewRecordState({}), records, RecordIsTombstone({}), negate=True)
    assert [_answer(result) for result in results] == [(PLAIN, NEW), (None, None)]


def test_events_without_schema_are_told_by_their_members() -> None:
    config = {MODE: "rewrite", "add.fields": "op,lsn,nothing", "add.headers": "op,nothing", "route.by.field": "to"}
    near = [CREATE | {"source": "x"}, CREATE | {"op": None}, {"op": "c", "source": {}}, [1]]
    events = [CREATE, DELETE, TRUNCATE, _event("c", None, "row"), _event("c", None, {"to": 1})]
    create, delete, truncate, text, number, *others = _results(config, [(None, data) for data in [*events, *near]])
    facts = {"__lsn": 5}
    assert _answer(create) == (None, NEW | {"__deleted": "false", "__op": "c"} | facts)
    assert _answer(delete) == (None, OLD | {"__deleted": "true", "__op": "d"} | facts)
    assert isinstance(create, SinkRecord) and (create.topic, create.headers) == ("there", (("__op", "c"),))
    assert _answer(truncate) == "dropped"
    assert "Only Map objects supported" in str(_answer(text))
    assert _answer(number) == "DataException: Field 'to' is not of type STRING"
    assert [_answer(result) for result in others] == [(None, data) for data in near]


def test_deletions_without_schema_become_tombstones() -> None:
    assert _answers({}, [(None, DELETE), (None, json.loads(json.dumps(CREATE)))]) == [(None, None), (None, NEW)]
