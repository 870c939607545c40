"""Configurations of transformations and predicates: errors, defaults, which columns they read."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.base import Predicate, Transformation
from airflow_kconnect.transforms.predicates.has_header_key import HasHeaderKey
from airflow_kconnect.transforms.predicates.topic_name_matches import TopicNameMatches
from airflow_kconnect.transforms.smt.drop_headers import DropHeaders
from airflow_kconnect.transforms.smt.extract_field import ExtractFieldValue
from airflow_kconnect.transforms.smt.flatten import FlattenKey, FlattenValue
from airflow_kconnect.transforms.smt.header_from import HeaderFromValue
from airflow_kconnect.transforms.smt.insert_field import InsertFieldKey, InsertFieldValue
from airflow_kconnect.transforms.smt.insert_header import InsertHeader
from airflow_kconnect.transforms.smt.regex_router import RegexRouter
from airflow_kconnect.transforms.smt.replace_field import ReplaceFieldValue
from airflow_kconnect.transforms.smt.set_schema_metadata import SetSchemaMetadataValue
from airflow_kconnect.transforms.smt.timestamp_converter import TimestampConverterKey, TimestampConverterValue
from airflow_kconnect.transforms.smt.timestamp_router import TimestampRouter
from airflow_kconnect.transforms.smt.value_to_key import ValueToKey
from airflow_kconnect.validation.connector import validate_connector

Kind = type[Transformation] | type[Predicate]
Config = dict[str, str]


def problems(kind: Kind, config: Config) -> dict[str, list[str]]:
    """What is wrong with values, or else with values next to each other."""
    try:
        kind(config)
    except ConfigError as error:
        return error.errors
    return kind.validate(config)


COPY = {"fields": "a,b", "headers": "x,y", "operation": "copy"}
HEADER = {"header": "h", "value.literal": "5"}
ROUTE = {"regex": "(.*)", "replacement": "$1"}
COMPLETE: list[tuple[Kind, Config]] = [
    (HasHeaderKey, {"name": "h"}),
    (TopicNameMatches, {"pattern": "a"}),
    (DropHeaders, {"headers": "a, b"}),
    (ExtractFieldValue, {"field": "a"}),
    (HeaderFromValue, COPY),
    (InsertHeader, HEADER),
    (RegexRouter, ROUTE),
    (TimestampConverterValue, {"target.type": "unix"}),
    (ValueToKey, {"fields": "a"}),
]


@pytest.mark.parametrize(
    ("kind", "config", "key"), [(kind, config, key) for kind, config in COMPLETE for key in config]
)
def test_all_of_these_keys_are_required(kind: Kind, config: Config, key: str) -> None:
    (message, *_) = problems(kind, {other: value for other, value in config.items() if other != key})[key]
    assert message == f'Missing required configuration "{key}" which has no default value.'


PATHS = {"field.syntax.version": "v2"}
ONE_OF_THE_VERSIONS = "String must be one of (case insensitive): V1, V2"
BACKTICK = "Incomplete backtick pair in path: [a.`b], consider adding a backslash before backtick at position 2"
NOTHING_INSERTED = "No field insertion configured"
SAME_NUMBER = "'fields' config must have the same number of elements as 'headers' config."
NEEDS_FORMAT = "TimestampConverter requires format option to be specified when using string timestamps"
FORMAT = "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: "


@pytest.mark.parametrize(
    ("kind", "config", "key", "text"),
    [
        (HasHeaderKey, {"name": ""}, "name", "String must be non-empty"),
        (TopicNameMatches, {"pattern": ""}, "pattern", "String must be non-empty"),
        (TopicNameMatches, {"pattern": "["}, "pattern", "Invalid regex"),
        (DropHeaders, {"headers": ""}, "headers", "must not be empty"),
        (DropHeaders, {"headers": "a,b,a"}, "headers", "values must not be duplicated"),
        (DropHeaders, {"headers": "a,,b"}, "headers", "values must not be empty"),
        (ExtractFieldValue, {"field": "a.`b", **PATHS}, "field", BACKTICK),
        (ExtractFieldValue, {"field": "a", "field.syntax.version": "V3"}, "field.syntax.version", ONE_OF_THE_VERSIONS),
        (HeaderFromValue, COPY | {"fields": ""}, "fields", "Invalid value [] for configuration fields: Empty list"),
        (HeaderFromValue, COPY | {"headers": ""}, "headers", "Invalid value [] for configuration headers: Empty list"),
        (HeaderFromValue, COPY | {"operation": "Move"}, "operation", "String must be one of: move, copy"),
        (HeaderFromValue, COPY | {"headers": "x"}, "headers", SAME_NUMBER),
        (InsertFieldValue, {}, "topic.field", NOTHING_INSERTED),
        (InsertFieldValue, {"static.value": "x"}, "topic.field", NOTHING_INSERTED),
        (InsertFieldValue, {"static.field": "s!"}, "static.value", "No value specified for static field: s!"),
        (RegexRouter, ROUTE | {"regex": "("}, "regex", "Invalid value ( for configuration regex: Invalid regex"),
        (RegexRouter, ROUTE | {"replacement": "$2"}, "replacement", "configuration replacement: No group 2"),
        (ReplaceFieldValue, {"exclude": "a,a"}, "exclude", "Configuration 'exclude' values must not be duplicated."),
        (ReplaceFieldValue, {"include": "a,,b"}, "include", "Configuration 'include' values must not be empty."),
        (SetSchemaMetadataValue, {}, "schema.name", "Neither schema name nor version configured"),
        (SetSchemaMetadataValue, {"schema.version": "x"}, "schema.version", "Not a number of type INT"),
        (TimestampConverterValue, {"target.type": "date"}, "target.type", "string, unix, Date, Time, Timestamp"),
        (
            TimestampConverterValue,
            {"target.type": "unix", "unix.precision": "ms"},
            "unix.precision",
            "String must be one of: nanoseconds, microseconds, milliseconds, seconds",
        ),
        (TimestampConverterValue, {"target.type": "string"}, "format", NEEDS_FORMAT),
        (TimestampConverterValue, {"target.type": "string", "format": " \t"}, "format", NEEDS_FORMAT),
        *(
            (TimestampConverterValue, {"target.type": target, "format": pattern}, "format", FORMAT + problem)
            for target, pattern, problem in [
                ("string", "yyyyTHH", "yyyyTHH: Illegal pattern character 'T'"),
                ("unix", "yyyy'", "yyyy': Unterminated quote"),
                ("unix", "YYYY-MM-dd", "YYYY-MM-dd: Texts can be written with Y, but not be read"),
            ]
        ),
        (TimestampRouter, {"timestamp.format": "yyyyTMM"}, "timestamp.format", "Illegal pattern character 'T'"),
        (ValueToKey, {"fields": ""}, "fields", "must not be empty"),
        (ValueToKey, {"fields": "a,b,a"}, "fields", "values must not be duplicated"),
        (ValueToKey, {"fields": "a,,b"}, "fields", "values must not be empty"),
        (ValueToKey, {"fields": "a.b,a.b", **PATHS}, "fields", "values must not be duplicated"),
        (ValueToKey, {"fields": "a", "field.syntax.version": "V3"}, "field.syntax.version", ONE_OF_THE_VERSIONS),
        (ValueToKey, {"fields": "a,a.`b", **PATHS}, "fields", BACKTICK),
        *(
            (ReplaceFieldValue, {"renames": f"x:y,{mapping}"}, "renames", f"Invalid rename mapping: {mapping}")
            for mapping in ("a", "a:b:c", "a:", ":", "a::b", "")
        ),
    ],
)
def test_wrong(kind: Kind, config: Config, key: str, text: str) -> None:
    found = problems(kind, config)
    assert list(found) == [key]
    assert text in found[key][0]


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        *COMPLETE,
        (ExtractFieldValue, {"field": "a.`b"}),
        (HeaderFromValue, COPY | {"fields": "a,a"}),
        (InsertFieldValue, {"static.field": "s", "static.value": ""}),
        (InsertFieldValue, {"offset.field": "o"}),
        *((ReplaceFieldValue, {"renames": renames}) for renames in ("", ":a", "a:b::", "a:b,a:c")),
        (SetSchemaMetadataValue, {"schema.name": "n"}),
        (SetSchemaMetadataValue, {"schema.version": "1"}),
        (TimestampConverterValue, {"target.type": "Date", "format": " \t"}),
        (TimestampConverterValue, {"target.type": "string", "format": "YYYY-MM-dd"}),
        (TimestampConverterValue, {"target.type": "unix", "format": "yyyy-MM-dd"}),
        (ValueToKey, {"fields": "a,a.`b"}),
    ],
)
def test_right(kind: Kind, config: Config) -> None:
    assert problems(kind, config) == {}


@pytest.mark.parametrize(
    ("kind", "config", "defaults"),
    [
        (FlattenValue, {}, {"delimiter": "."}),
        (
            TimestampConverterValue,
            {"target.type": "unix"},
            {"field": "", "format": "", "unix.precision": "milliseconds", "replace.null.with.default": True},
        ),
        (TimestampRouter, {}, {"topic.format": "${topic}-${timestamp}", "timestamp.format": "yyyyMMdd"}),
    ],
)
def test_defaults(kind: Kind, config: Config, defaults: dict[str, Any]) -> None:
    assert kind(config).config_values == config | defaults


@pytest.mark.parametrize(
    ("kind", "config", "needs"),
    [
        (HasHeaderKey, {"name": "h"}, {"headers"}),
        (TopicNameMatches, {"pattern": "a"}, set()),
        (DropHeaders, {"headers": "a, b"}, {"headers"}),
        (FlattenKey, {}, {"key"}),
        (FlattenValue, {}, set()),
        (InsertFieldValue, {"topic.field": "t"}, set()),
        (InsertFieldValue, {"timestamp.field": "t"}, {"timestamp"}),
        (InsertFieldKey, {"timestamp.field": "t"}, {"key", "timestamp"}),
        (InsertHeader, HEADER, {"headers"}),
        (RegexRouter, ROUTE, set()),
        (TimestampConverterKey, {"target.type": "unix"}, {"key"}),
        (TimestampConverterValue, {"target.type": "unix"}, set()),
        (TimestampRouter, {}, {"timestamp"}),
        (ValueToKey, {"fields": "a"}, set()),
    ],
)
def test_only_what_is_used_is_read(kind: Kind, config: Config, needs: set[str]) -> None:
    assert kind(config).needs == needs


@pytest.mark.parametrize(("old", "new"), [("blacklist", "exclude"), ("whitelist", "include")])
def test_the_new_name_of_a_key_that_kafka_4_ignores_is_said(old: str, new: str) -> None:
    config = {
        "name": "files",
        "connector.class": "FileStreamSource",
        "file": "/a",
        "topic": "t",
        "value.converter": "StringConverter",
        "transforms": "r",
        "transforms.r.type": "ReplaceField$Value",
        f"transforms.r.{old}": "a",
    }
    text = f"`transforms.r.{old}` has no effect since Kafka 4, in which it is called `transforms.r.{new}`"
    assert text in validate_connector(config).warnings
