"""The JSON Schema format as a converter uses it: keys, names, the converter."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.json_schema.converter import JsonSchemaConverter
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from tests.unit.converters.json_schema.corpus import INNER, record, registered


def test_keys_and_defaults_are_those_of_confluents_converter() -> None:
    expected = {
        "generalized.sum.type.support": False,
        "ignore.default.for.nullables": False,
        "object.additional.properties": True,
        "use.optional.for.nonrequired": False,
        "flatten.singleton.unions": True,
        "decimal.format": "BASE64",
        "ignore.modern.dialects": False,
        "schemas.cache.size": 1000,
        "json.schema.spec.version": "draft_7",
        "json.oneof.for.nullables": True,
        "json.fail.invalid.schema": False,
        "json.fail.unknown.properties": True,
        "json.write.dates.iso8601": False,
        "json.default.property.inclusion": None,
        "json.validate.before.domain.rules": False,
        "json.envelope.detection": True,
        "json.schema.scan.packages": [],
        "json.type.allowed.packages": ["*"],
        "preserve.additional.properties": False,
        "validation.rules.execution": "DISABLED",
    }
    parsed = JsonSchemaFormat.config().parse({})
    assert {name: parsed[name] for name in expected} == expected


@pytest.mark.parametrize(("key", "value"), [("decimal.format", "TEXT"), ("use.optional.for.nonrequired", "maybe")])
def test_a_wrong_value_of_a_key_is_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        JsonSchemaFormat.config().parse({key: value})


@pytest.mark.parametrize(
    ("key", "value"), [("preserve.additional.properties", "true"), ("validation.rules.execution", "AFTER_DOMAIN_RULES")]
)
def test_what_would_lose_or_pass_data_unnoticed_is_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        JsonSchemaFormat.config().parse({key: value})


@pytest.mark.parametrize("text", ["numeric", "NUMERIC"])
def test_the_letter_case_of_the_decimal_format_does_not_matter(text: str) -> None:
    assert JsonSchemaFormat({"decimal.format": text})._settings.decimal_format == "NUMERIC"


@pytest.mark.parametrize(("node", "name"), [(INNER, "x.Inner"), ({"type": "object"}, None), (True, None)])
def test_the_title_is_the_name_of_the_record(node: Any, name: str | None) -> None:
    assert JsonSchemaFormat({}).record_name(registered(node)) == name


def test_the_version_of_the_registry_is_that_of_the_shape() -> None:
    schema = JsonSchemaFormat({}).shape_of(registered(record(), version=3), b"").schema
    assert schema is not None and schema.version == 3


def test_the_converter_has_the_keys_of_the_registry_and_of_the_format() -> None:
    parsed = JsonSchemaConverter.config().parse({"converter.type": "key", "schema.registry.url": "http://registry"})
    assert parsed["auto.register.schemas"] is True
    assert parsed["object.additional.properties"] is True
