"""The newest schema that has properties: a real registry behind a front that has metadata."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import registry_config
from airflow_kconnect.registry.schema import RegisteredSchema, UnknownSchemaError
from tests.support import unique
from tests.support.registry_front import serving, with_metadata

FIELD = '{{"name": "{}", "type": ["null", "string"], "default": null}}'
OLD, NEW = (
    RegisteredSchema("AVRO", f'{{"type": "record", "name": "R", "fields": [{", ".join(map(FIELD.format, names))}]}}')
    for names in ("a", "ab")
)


def test_it_is_that_of_the_properties(registry_url: str) -> None:
    subject = unique("subject")
    with serving(with_metadata(registry_url, {(subject, "major", "1"): 1})) as url:
        registry = SchemaRegistry(registry_config(ConfigDef()).parse({"schema.registry.url": url}))
        number = registry.register(subject, OLD)
        registry.register(subject, NEW)

        found, schema = registry.latest_with(subject, {"major": "1"})
        with pytest.raises(UnknownSchemaError):
            registry.latest_with(subject, {"major": "2"})

    assert (found, schema.version, '"b"' in schema.text) == (number, 1, False)
