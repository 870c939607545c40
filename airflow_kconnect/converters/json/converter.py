"""JsonConverter: JSON with or without Connect's envelope of schema and payload."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString, Width, invalid
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.base import (
    NO_HINTS,
    BatchEncoder,
    BatchParser,
    Converter,
    Decoded,
    Encoded,
    Hints,
    Let,
    converter_config,
    in_place,
)
from airflow_kconnect.converters.json.batches import parser_of
from airflow_kconnect.converters.json.envelopes import KnownEnvelopes
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text
from airflow_kconnect.converters.json.texts import SchemalessParser
from airflow_kconnect.converters.json.values import BASE64, NUMERIC
from airflow_kconnect.java_text.json_reading import leniently

if TYPE_CHECKING:
    from pyspark.sql import Column

    from airflow_kconnect.connect.frame import ExpectedObjects
    from airflow_kconnect.converters.json.objects import ObjectParser
    from airflow_kconnect.converters.json.rules import Rules
    from airflow_kconnect.converters.json.value_text import JsonWriter


class JsonConverter(Converter):
    """``org.apache.kafka.connect.json.JsonConverter``."""

    converts_headers = True
    decodes_parsed = True

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        super().__init__(config, is_key=is_key)
        self.schemas_enable: bool = self.config_values["schemas.enable"]
        self.decimal_format: str = self.config_values["decimal.format"].upper()
        self._known = KnownEnvelopes()
        self._objects: ObjectParser | None = None
        content = _schema_of(self.config_values["schema.content"])
        self._content = content if self.schemas_enable else None

    @classmethod
    def config(cls) -> ConfigDef:
        schemas: dict[str, Any] = {"group": "Schemas", "width": Width.MEDIUM}
        serialization: dict[str, Any] = {"group": "Serialization", "width": Width.MEDIUM}
        return (
            converter_config()
            .define(
                "schemas.enable",
                Type.BOOLEAN,
                True,
                Importance.HIGH,
                "Include schemas within each of the serialized values and keys.",
                order_in_group=0,
                display_name="Enable Schemas",
                **schemas,
            )
            .define(
                "schemas.cache.size",
                Type.INT,
                1000,
                Importance.HIGH,
                "The maximum number of schemas that can be cached in this converter instance.",
                without_effect="all schemas of a run are known while it lasts",
                order_in_group=1,
                display_name="Schema Cache Size",
                **schemas,
            )
            .define(
                "schema.content",
                Type.STRING,
                None,
                Importance.HIGH,
                "Schema, as JSON, of all messages that are read: they hold the bare payload then.",
                order_in_group=2,
                display_name="Schema Content",
                **schemas,
            )
            .define(
                "decimal.format",
                Type.STRING,
                BASE64,
                Importance.LOW,
                "How Decimal values are written: BASE64 (bytes of the unscaled value) or NUMERIC (a JSON number).",
                validator=ValidString.in_case_insensitive(BASE64, NUMERIC),
                order_in_group=0,
                display_name="Decimal Format",
                **serialization,
            )
            .define(
                "replace.null.with.default",
                Type.BOOLEAN,
                True,
                Importance.LOW,
                "Whether a null in a field that has a default value is replaced by it.",
                order_in_group=1,
                display_name="Replace null with default",
                **serialization,
            )
        )

    @property
    def _rules(self) -> Rules:
        from airflow_kconnect.converters.json.rules import Rules

        return Rules(self.decimal_format, self.config_values["replace.null.with.default"])

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from airflow_kconnect.converters.json import write as json_write

        schema, rules = shape.schema, self._rules
        if schema is None:
            return Encoded(json_write.write_schemaless(column, with_envelope=self.schemas_enable), None)
        problem = json_write.write_problem(schema, column, rules)
        if not self.schemas_enable:
            return Encoded(json_write.write_bare(schema, column, rules), problem)
        text = schema_text(schema, self.decimal_format)
        return Encoded(json_write.write_enveloped(schema, column, text, rules), problem)

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.json.batch_writing import column_encoder

        return None if shape.schema is None else column_encoder(self._writer(shape.schema))

    def value_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import EachValue
        from airflow_kconnect.converters.json.batch_writing import SchemalessWriter, value_encoder

        if shape.schema is None:
            return EachValue(SchemalessWriter(self.schemas_enable))
        return self.batch_encoder(shape) or value_encoder(self._writer(shape.schema))

    def _writer(self, schema: ConnectSchema) -> JsonWriter:
        from airflow_kconnect.converters.json.value_text import JsonWriter

        head = f'{{"schema":{schema_text(schema, self.decimal_format)},"payload":'.encode()
        before, after = (head, b"}") if self.schemas_enable else (b"", b"")
        return JsonWriter(schema, before, after, self.decimal_format, self.config_values["replace.null.with.default"])

    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        if self._content is not None:
            return [Shape(self._content)]
        if not self.schemas_enable:
            return [SCHEMALESS if self._objects is None else Shape(self._objects.expected.schema)]
        if self._known.full:
            # Shapes that are forgotten here are unknown again when their records come, and are learnt again.
            self._known = KnownEnvelopes()
        shapes: list[Shape] = []
        for message in samples:
            shape = None if message is None else self._known.learn(message)
            if shape is not None and shape not in shapes:
                shapes.append(shape)
        return shapes

    def batch_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        if self._objects is not None:
            return {0: self._objects}
        if self._content is not None or not self.schemas_enable:
            return {}
        parsers = (parser_of(s.schema, self._known.patterns(s, self.decimal_format)) for s in shapes)
        return {index: parser for index, parser in enumerate(parsers) if parser is not None}

    def plain_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        if self._content is None and not self.schemas_enable:
            return {index: SchemalessParser() for index, shape in enumerate(shapes) if shape.schemaless}
        return self.batch_parsers(shapes)

    def expecting(self, objects: ExpectedObjects) -> Converter | None:
        from airflow_kconnect.converters.json.objects import object_parser

        if self.schemas_enable or (parser := object_parser(objects)) is None:
            return None
        converter = copy(self)
        converter._objects = parser
        return converter

    def decode(self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, hints: Hints = NO_HINTS) -> Decoded:
        from airflow_kconnect.converters.json import decode as json_decode

        if self._content is not None:
            return json_decode.decode_bare(raw, Shape(self._content), shapes, self._rules, let)
        if hints.complete:
            return json_decode.decode_parsed(shapes, self._rules, hints)
        if not self.schemas_enable:
            return json_decode.decode_plain(raw, shapes, let)
        return json_decode.decode_envelopes(raw, shapes, self._known, self._rules, let, hints)


def _schema_of(content: str | None) -> ConnectSchema | None:
    """The schema in `schema.content`.

    :raises ConfigError: it is not a schema.
    """
    if not content:
        return None
    try:
        schema = from_json_schema(leniently(json.loads, content))
    except (ValueError, DataError, RecursionError) as error:
        raise invalid("schema.content", content, f"Unable to parse the schema: {error}") from error
    if schema is None:
        raise invalid("schema.content", content, "Unable to parse the schema: it is null")
    return schema
