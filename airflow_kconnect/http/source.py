"""The HTTP source: REST APIs by configuration alone, on top of what functions have for cursors, states and schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Type,
    ValidString,
    nullable,
)
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.converters.json.schemas import from_json_schema
from airflow_kconnect.functions.source import FunctionSourceConnector
from airflow_kconnect.functions.source_spec import INFERRED, SourceSpec
from airflow_kconnect.http import keys, pages
from airflow_kconnect.http.connection import open_client
from airflow_kconnect.validation.connector_keys import KCONNECT

TOPIC, KEY, SCHEMA, TIMESTAMP = "topic", "kconnect.http.key.fields", "kconnect.http.schema", "kconnect.http.timestamp"
_WITHOUT = "none"
_HIGH, _MEDIUM, _LOW = Importance
_TEXT = NonEmptyString()


def _schema_problem(name: str, value: str) -> str | None:
    try:
        _schema(value)
    except (ValueError, DataError) as error:
        return f"Must be {INFERRED}, {_WITHOUT}, or a schema as in the envelopes of JsonConverter: {error}"
    return None


def _schema(text: str) -> ConnectSchema | str | None:
    """:raises ValueError, DataError: it is none."""
    if text in (INFERRED, _WITHOUT):
        return INFERRED if text == INFERRED else None
    return from_json_schema(json.loads(text))


def _pointer_problem(name: str, value: str) -> str | None:
    return None if value in ("", "/") or value.startswith("/") else "Must begin with /, as in /data/items"


_POINTER = LambdaValidator(_pointer_problem)


def source_config() -> ConfigDef:
    """All keys of the source's own."""
    config = (
        ConfigDef()
        .define(pages.URL, Type.STRING, importance=_HIGH, documentation="What to ask.", validator=keys.URL,
                example="https://api.example.com/v1/orders")
        .define(TOPIC, Type.STRING, importance=_HIGH, documentation="The topic to write to.", validator=_TEXT)
        .define(pages.METHOD, Type.STRING, "GET", _MEDIUM, "How to ask: by `GET` or `POST`.",
                validator=ValidString.in_case_insensitive("GET", "POST"))
        .define(pages.PARAMS, Type.STRING, "", _HIGH,
                f"Parameters of the query: name=value&name=value. `{pages.PLACEHOLDER}` stands for the cursor of the "
                "records that are there already; a parameter with it is left out as long as there is none.",
                example="status=open&since={cursor}")
        .define(pages.BODY, Type.STRING, None, _MEDIUM,
                f"The body of a `POST`, in which `{pages.PLACEHOLDER}` stands for the cursor, too.")
        .define(pages.LIST, Type.STRING, "/", _HIGH,
                "Where in an answer the list of records is, as JSON Pointer. `/` is the whole answer.",
                validator=_POINTER, example="/data/items")
        .define(pages.RECORD, Type.STRING, "/", _MEDIUM, "Where in an item of the list the record is.",
                validator=_POINTER)
    )  # fmt: skip
    keys.define_connection(_define_paging(_define_records(config)), retries=4)
    return keys.show_with(config, pages.PAGING, pages.ALL_AT_ONCE.__ne__, f"{pages.PAGING}.")


def _define_records(config: ConfigDef) -> ConfigDef:
    return (
        config.define(KEY, Type.LIST, [], _HIGH,
                      "The fields of a record's key. One is a plain key, several are a struct.", group=KCONNECT)
        .define(pages.CURSOR, Type.LIST, [], _HIGH,
                "The fields that say where a record is: what is there already is not written again. Records come in "
                "their ascending order. Best is a time of the last change and the key: `updated_at,id`.",
                group=KCONNECT)
        .define(pages.INITIAL, Type.STRING, None, _MEDIUM,
                f"What `{pages.PLACEHOLDER}` stands for as long as there are no records.", group=KCONNECT)
        .define(pages.SORT, Type.BOOLEAN, False, _LOW,
                "Whether the API has another order: then a run reads all pages before it writes the first record.",
                group=KCONNECT)
        .define(TIMESTAMP, Type.STRING, None, _LOW,
                "The field with a record's time, in milliseconds since the epoch.", group=KCONNECT, validator=_TEXT)
        .define(SCHEMA, Type.STRING, INFERRED, _MEDIUM,
                f"`{INFERRED}`: found in the records, kept, and widened; `{_WITHOUT}`: records have none; "
                "or a schema as JSON, as in the envelopes of JsonConverter: fields that it does not have are left out.",
                group=KCONNECT, validator=LambdaValidator(_schema_problem))
    )  # fmt: skip


def _define_paging(config: ConfigDef) -> ConfigDef:
    kinds = tuple(pages._NEXT)
    return (
        config.define(pages.PAGING, Type.STRING, pages.ALL_AT_ONCE, _HIGH,
                      f"How the next page is asked for: by its number (`{pages.BY_PAGE}`), by the number of records "
                      f"before it (`{pages.BY_OFFSET}`), by a cursor (`{pages.BY_CURSOR}`) or URL (`{pages.BY_URL}`) "
                      f"in the answer, by the header Link (`{pages.BY_LINK}`); `{pages.ALL_AT_ONCE}`: there is one.",
                      group=KCONNECT, validator=ValidString.in_(*kinds))
        .define(pages.PARAM, Type.STRING, None, _MEDIUM,
                "The parameter for the number, or the cursor. Default: page, offset or cursor.", group=KCONNECT,
                validator=_TEXT)
        .define(pages.START, Type.INT, None, _LOW,
                "The number of the first page, 1 unless it is set; or of the first record, 0.", group=KCONNECT,
                validator=nullable(Range.at_least(0)))
        .define(pages.SIZE, Type.INT, None, _MEDIUM, "How many records of a page to ask for.", group=KCONNECT,
                validator=nullable(Range.at_least(1)))
        .define(pages.SIZE_PARAM, Type.STRING, "limit", _LOW, "The parameter for that.", group=KCONNECT,
                validator=_TEXT)
        .define(pages.POINTER, Type.STRING, None, _MEDIUM,
                "Where in an answer the cursor or the URL of the next page is, as JSON Pointer.", group=KCONNECT,
                validator=nullable(_POINTER), example="/meta/next")
        .define(pages.RESUME, Type.BOOLEAN, False, _MEDIUM,
                "In place of a cursor in the records: whether a run begins with the last page of the run before. For "
                "APIs that only append, and return the same records for the same page.", group=KCONNECT)
        .define(pages.INTERVAL_MS, Type.INT, 0, _LOW, "Milliseconds between two pages.", group=KCONNECT,
                validator=Range.at_least(0))
    )  # fmt: skip


class HttpSourceConnector(FunctionSourceConnector):
    """One task: an API read in pages has one order."""

    summary = "Reads a REST API by configuration alone: logins, pages, and only what is new since the last run."
    first_keys: ClassVar[tuple[str, ...]] = (
        *(pages.URL, TOPIC, pages.PARAMS, pages.LIST, keys.LOGIN, keys.STATIC_HEADER),
        *(pages.PAGING, KEY, pages.CURSOR),
    )

    @classmethod
    def config(cls) -> ConfigDef:
        return source_config()

    @classmethod
    def spec_of(cls, props: Mapping[str, str]) -> SourceSpec:
        values = source_config().parse(props)
        return SourceSpec(
            function=pages.ResumedPages(values) if values[pages.RESUME] else pages.Pages(values),
            topic=values[TOPIC],
            key=tuple(values[KEY]),
            cursor=tuple(values[pages.CURSOR]),
            timestamp=values[TIMESTAMP],
            schema=_schema(values[SCHEMA]),
            schema_given_by=f"`{SCHEMA}`",
        )

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        try:
            values = source_config().parse(props)
        except ConfigError:
            return {}  # these keys are named already
        return keys.connection_problems(values) | _problems(values)

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        values = source_config().parse(props)
        found = keys.connection_warnings(values)
        if not values[pages.CURSOR] and not values[pages.RESUME]:
            text = "each run writes all records again, at least once"
            found.append(f"neither `{pages.CURSOR}` nor `{pages.RESUME}` is set: {text}")
        return found

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        parts = urlsplit(props.get(pages.URL, ""))
        return [Dataset(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path or "/")]

    def check(self) -> None:
        """Find out whether certificates can be used."""
        open_client(self.config_values, pages.URL).close()


def _problems(values: Mapping[str, Any]) -> dict[str, list[str]]:
    kind, problems = values[pages.PAGING], dict[str, list[str]]()
    if kind in (pages.BY_CURSOR, pages.BY_URL) and not values[pages.POINTER]:
        problems[pages.POINTER] = [f"must be set with `{pages.PAGING}` {kind}"]
    if values[pages.RESUME] and values[pages.CURSOR]:
        problems[pages.RESUME] = [f"must not be true together with `{pages.CURSOR}`: resume by one of them"]
    if values[pages.RESUME] and kind == pages.ALL_AT_ONCE:
        problems[pages.RESUME] = [f"needs pages, and `{pages.PAGING}` is {kind}"]
    if values[pages.SORT] and not values[pages.CURSOR]:
        problems[pages.SORT] = [f"needs `{pages.CURSOR}`, by which to sort"]
    in_body = pages.PLACEHOLDER in (values[pages.BODY] or "")
    if (in_body or pages.PLACEHOLDER in values[pages.PARAMS]) and not values[pages.CURSOR]:
        problems[pages.CURSOR] = [f"must be set, since `{pages.PLACEHOLDER}` stands for it"]
    if in_body and values[pages.INITIAL] is None:
        problems[pages.INITIAL] = [f"must be set, since the body has `{pages.PLACEHOLDER}` in the first run, too"]
    if values[pages.BODY] and values[pages.METHOD].upper() != "POST":
        problems[pages.BODY] = [f"needs `{pages.METHOD}` POST"]
    return problems
