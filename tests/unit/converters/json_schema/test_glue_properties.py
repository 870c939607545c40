"""Any data can be written as Amazon's converter writes them and read again, in batches as one by one."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import given
from jsonschema import Draft7Validator

from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.converters.json_schema.batches import JsonEncoder
from airflow_kconnect.converters.json_schema.glue import GlueJsonSchemaFormat
from airflow_kconnect.converters.json_schema.glue_schemas import GlueJsonSettings
from airflow_kconnect.converters.types import arrow_type
from tests.unit.converters.json_schema.test_batches_properties import any_batches, batches, same

FORM = GlueJsonSchemaFormat(GlueJsonSchemaFormat.config().parse({}))


@given(batches())
def test_data_are_read_as_they_were_written(batch: tuple[ConnectSchema, list[Any]]) -> None:
    schema, rows = batch
    shape, data = Shape(schema), pa.array(rows, arrow_type(schema))
    made = FORM.schema_of(shape)

    payloads, errors = FORM.encoder(made, shape).encode(data)
    again, wrong = FORM.decoder(made, b"").decode(payloads)

    validator = Draft7Validator(json.loads(made.text))
    assert all(validator.is_valid(json.loads(payload)) for payload in payloads.to_pylist())
    assert (errors, wrong) == (None, None)
    assert same(again.to_pylist(), data.to_pylist())


@given(any_batches())
def test_a_batch_is_written_as_its_rows(batch: tuple[ConnectSchema, pa.Array]) -> None:
    schema, data = batch
    encoder = JsonEncoder(schema, GlueJsonSettings())

    payloads, errors = encoder.encode(data)
    again, others = encoder._one_by_one(data)

    assert payloads.to_pylist() == again.to_pylist()
    assert (errors and errors.to_pylist()) == (others and others.to_pylist())
