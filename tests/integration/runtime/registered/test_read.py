"""JSON Schema and Protobuf with a real registry: what confluent-kafka's serializers write, a run reads.

All types are in the corpora of the unit tests; here is what needs a registry, and an object with a bit of each kind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import json_format
from pyspark.sql import SparkSession

from airflow_kconnect.converters.protobuf.pool import message_class, message_type
from airflow_kconnect.converters.protobuf.sources import compiled
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.kafka import create_topic, produce
from tests.unit.converters.json_schema import corpus as json_schema
from tests.unit.converters.json_schema.corpus import decimal, logical, nullable, number

CONVERTERS = {
    "JSON": "io.confluent.connect.json.JsonSchemaConverter",
    "PROTOBUF": "io.confluent.connect.protobuf.ProtobufConverter",
}


class Case(NamedTuple):
    """Messages of one schema, as JSON.

    :param schema: a JSON Schema, or a .proto file.
    :param read: the lines of the sink.
    :param message: full name of a type in the file.
    :param reference: name and schema of what the schema refers to in the registry.
    """

    schema: Any
    given: list[Any]
    read: list[Any]
    message: str = "M"
    reference: tuple[str, Any] | None = None


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_PROTO3 = 'syntax = "proto3";\n'
_SEVERAL = (
    _PROTO3
    + "message A { string s = 1; message B { int32 n = 1; } message C { int32 n = 1; } } message D { bool d = 1; }"
)
_OF_EACH_KIND = """
import "google/protobuf/timestamp.proto"; import "google/type/date.proto"; import "google/protobuf/wrappers.proto";
import "confluent/meta.proto"; import "confluent/type/decimal.proto";
message M {
  sint64 n = 1; string s = 2; bytes b = 3; optional int32 o = 4; Color c = 5; repeated Inner list = 6;
  map<string, int32> tags = 7; oneof choice { int32 x = 8; Inner y = 9; } google.protobuf.Timestamp at = 10;
  google.type.Date day = 11; google.protobuf.Int32Value wrapped = 12;
  confluent.type.Decimal price = 13 [(confluent.field_meta) = {params: [
    {key: "scale", value: "2"}, {key: "precision", value: "10"}]}];
}
message Inner { bool b = 1; }
enum Color { RED = 0; BLUE = 5; }
"""
CASES = {
    "JSON": {
        "something of each kind": Case(
            _object(
                inner=_object(c={"type": "string"}),
                list={"type": "array", "items": number("int8")},
                maybe=nullable({"type": "string"}),
                one={"oneOf": [{"type": "string"}, {"type": "integer"}]},
                price=decimal(),
                day=logical("org.apache.kafka.connect.data.Date", "int32"),
                at=logical("org.apache.kafka.connect.data.Timestamp", "int64"),
                tags=json_schema.STRING_MAP,
                pairs=json_schema.ENTRIES,
                preset={"type": "integer", "default": 5},
            ),
            [
                {"inner": {"c": "é😀"}, "list": [1, 2], "maybe": "x", "one": 1, "price": 12.5, "day": 19860}
                | {"at": 1_715_949_296_789, "tags": {"a": 1}, "pairs": [{"key": 7, "value": "x"}], "preset": 1},
                {},
            ],
            [
                {
                    "inner": {"c": "é😀"},
                    "list": [1, 2],
                    "maybe": "x",
                    "one": json_schema.in_union(1, 1, 2),
                    "price": 12.5,
                }
                | {"day": "2024-05-17", "at": "2024-05-17T12:34:56.789Z", "tags": {"a": 1}, "pairs": {"7": "x"}}
                | {"preset": 1},
                dict.fromkeys(("inner", "list", "maybe", "one", "price", "day", "at", "tags", "pairs")) | {"preset": 5},
            ],
        ),
        "a reference in the registry": Case(
            _object(item={"$ref": "item.json"}),
            [{"item": {"name": "tea"}}],
            [{"item": {"name": "tea"}}],
            reference=("item.json", _object(name={"type": "string"})),
        ),
        "a bare value": Case({"type": "string"}, ["x"], ["x"]),
    },
    "PROTOBUF": {
        "something of each kind": Case(
            _PROTO3 + _OF_EACH_KIND,
            [
                {"n": -(2**62), "s": "é😀", "b": "AP8=", "o": 0, "c": "BLUE", "list": [{"b": True}, {}]}
                | {"tags": {"a": 1}, "y": {"b": True}, "at": "2024-05-17T12:34:56.789Z"}
                | {"day": {"year": 2024, "month": 5, "day": 17}, "wrapped": 0, "price": {"value": "/zg=", "scale": 2}},
                {},
            ],
            [
                {"n": -(2**62), "s": "é😀", "b": "AP8=", "o": 0, "c": "BLUE", "list": [{"b": True}, {"b": False}]}
                | {"tags": {"a": 1}, "choice_0": {"x": None, "y": {"b": True}}, "at": "2024-05-17T12:34:56.789Z"}
                | {"day": "2024-05-17", "wrapped": {"value": 0}, "price": -2.0},
                {"n": 0, "s": "", "b": "", "o": None, "c": "RED", "list": [], "tags": {}}
                | dict.fromkeys(("choice_0", "at", "day", "wrapped", "price")),
            ],
        ),
        "a reference in the registry": Case(
            _PROTO3 + 'import "shop/item.proto";\nmessage M { shop.Item item = 1; }',
            [{"item": {"name": "tea"}}, {}],
            [{"item": {"name": "tea"}}, {"item": None}],
            reference=("shop/item.proto", _PROTO3 + "package shop; message Item { string name = 1; }"),
        ),
        "the first of several types": Case(_SEVERAL, [{"s": "x"}], [{"s": "x"}], message="A"),
        "a type in another": Case(_SEVERAL, [{"n": 3}], [{"n": 3}], message="A.C"),
        "the last of several types": Case(_SEVERAL, [{"d": True}], [{"d": True}], message="D"),
    },
}


def _json(case: Case, topic: str, client: SchemaRegistryClient) -> list[bytes]:
    references = []
    if case.reference:
        name, schema = case.reference
        client.register_schema(f"{topic}-{name}", Schema(json.dumps(schema), "JSON"))
        references.append(SchemaReference(name, f"{topic}-{name}", 1))
    text = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **case.schema})
    write = JSONSerializer(Schema(text, "JSON", references), client)
    context = SerializationContext(topic, MessageField.VALUE)
    return [write(given, context) or b"" for given in case.given]


def _protobuf(case: Case, topic: str, client: SchemaRegistryClient) -> list[bytes]:
    imported = [(name, RegisteredSchema("PROTOBUF", text)) for name, text in filter(None, [case.reference])]
    schema = RegisteredSchema("PROTOBUF", case.schema, tuple(imported))
    of = message_class(message_type(compiled(schema), case.message))
    write = ProtobufSerializer(of, client, {"use.deprecated.format": False})
    context = SerializationContext(topic, MessageField.VALUE)
    return [write(json_format.ParseDict(given, of()), context) or b"" for given in case.given]


SERIALIZED = {"JSON": _json, "PROTOBUF": _protobuf}


@pytest.fixture(scope="module")
def lines_of(
    bootstrap: str, worker_topics: str, registry_url: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, list[Any]]]:
    """The lines of each case of each format: one run reads the topics of a format."""

    def read(form: str) -> dict[str, list[Any]]:
        topics = {name: create_topic(bootstrap, unique("registered")) for name in CASES[form]}
        for name, topic in topics.items():
            messages = SERIALIZED[form](CASES[form][name], topic, SchemaRegistryClient({"url": registry_url}))
            produce(bootstrap, topic, messages)
        folder = tmp_path_factory.mktemp("registered")
        config = {
            "name": unique("sink"),
            "connector.class": "DirectorySink",
            "directory": str(folder),
            "topics": ",".join(topics.values()),
            "value.converter": CONVERTERS[form],
            "value.converter.schema.registry.url": registry_url,
        }
        run(RunSpec(config, {**worker_config(bootstrap), "group.id": unique("kconnect")}, run_id=unique("run")), spark)
        return {name: _lines(folder / topic) for name, topic in topics.items()}

    return {form: read(form) for form in CASES}


def _lines(folder: Path) -> list[Any]:
    files = sorted(folder.rglob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.parametrize(("form", "name"), [(form, name) for form in CASES for name in CASES[form]])
def test_what_confluents_serializer_wrote_is_read(
    form: str, name: str, lines_of: dict[str, dict[str, list[Any]]]
) -> None:
    assert lines_of[form][name] == CASES[form][name].read
