"""``python -m benchmarks.registered_batches``: messages by confluent-kafka's serializers, and by ours in batches."""

from __future__ import annotations

import base64
import json
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar

import pyarrow as pa
import typer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.protobuf.pool import message_class
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.types import arrow_type

_HEADER = 5
_CONTEXT = SerializationContext("topic", MessageField.VALUE)
_START = datetime(2024, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
SCHEMA = struct(
    ("id", ConnectSchema(SchemaType.INT64)),
    ("customer", ConnectSchema(SchemaType.INT32)),
    ("name", ConnectSchema(SchemaType.STRING)),
    ("email", ConnectSchema(SchemaType.STRING, optional=True)),
    ("active", ConnectSchema(SchemaType.BOOLEAN)),
    ("score", ConnectSchema(SchemaType.FLOAT64, optional=True)),
    ("amount", ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": "2"})),
    ("born", ConnectSchema(SchemaType.INT32, name=DATE, version=1, optional=True)),
    ("created", ConnectSchema(SchemaType.INT64, name=TIMESTAMP, version=1)),
    ("note", ConnectSchema(SchemaType.STRING, optional=True)),
    name="benchmarks.Customer",
)

Row = dict[str, Any]


def row(index: int) -> Row:
    """A row like those of a table of customers."""
    return {
        "id": index * 1_000_003,
        "customer": index,
        "name": f"Customer {index}",
        "email": f"customer.{index}@example.org" if index % 7 else None,
        "active": index % 3 == 0,
        "score": index / 7 if index % 5 else None,
        "amount": Decimal(index * 37) / 100,
        "born": (_START - timedelta(days=index % 20_000)).date() if index % 4 else None,
        "created": _START + timedelta(milliseconds=index * 977),
        "note": None if index % 2 else "a short note about this customer",
    }


class Contest(ABC):
    """One format: its loop over single messages, and ours over batches.

    :param client: a registry in this process.
    """

    made: ClassVar[type[Format]]
    values: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, client: Any) -> None:
        self.client = client
        self.format = self.made(self.values)
        self.registered = self.format.schema_of(Shape(SCHEMA))

    @cached_property
    @abstractmethod
    def write(self) -> Callable[[Row], bytes]:
        """A row to a message, by confluent-kafka."""

    @cached_property
    @abstractmethod
    def read(self) -> Callable[[bytes], Any]:
        """A message to what confluent-kafka makes of it."""

    def same(self, theirs: bytes, ours: bytes) -> bool:
        """Whether two payloads hold the same."""
        return theirs == ours


class Avro(Contest):
    made = AvroFormat

    @cached_property
    def write(self) -> Callable[[Row], bytes]:
        serializer = AvroSerializer(self.client, self.registered.text)
        return lambda item: serializer(item, _CONTEXT)

    @cached_property
    def read(self) -> Callable[[bytes], Any]:
        deserializer = AvroDeserializer(self.client)
        return lambda message: deserializer(message, _CONTEXT)


class JsonSchema(Contest):
    """The loop does not validate, and neither do we."""

    made = JsonSchemaFormat

    @cached_property
    def write(self) -> Callable[[Row], bytes]:
        serializer = JSONSerializer(
            self.registered.text, self.client, to_dict=lambda item, _: _plain(item), conf={"validate": False}
        )
        return lambda item: serializer(item, _CONTEXT)

    @cached_property
    def read(self) -> Callable[[bytes], Any]:
        deserializer = JSONDeserializer(None, schema_registry_client=self.client, conf={"validate": False})
        return lambda message: deserializer(message, _CONTEXT)

    def same(self, theirs: bytes, ours: bytes) -> bool:
        found: Row = json.loads(ours)
        return dict(json.loads(theirs)) == found


class Protobuf(Contest):
    """The loop makes a message of a row, and reads a message without looking at its fields."""

    made = ProtobufFormat

    @cached_property
    def _message(self) -> Any:
        encoder = self.format.encoder(self.registered, Shape(SCHEMA))
        return message_class(encoder.type.descriptor)

    @cached_property
    def write(self) -> Callable[[Row], bytes]:
        serializer = ProtobufSerializer(self._message, self.client)
        return lambda item: serializer(_filled(self._message(), item), _CONTEXT)

    @cached_property
    def read(self) -> Callable[[bytes], Any]:
        deserializer = ProtobufDeserializer(self._message, schema_registry_client=self.client)
        return lambda message: deserializer(message, _CONTEXT)


CONTESTS: dict[str, type[Contest]] = {"avro": Avro, "json-schema": JsonSchema, "protobuf": Protobuf}


def _plain(item: Row) -> Row:
    """A row as the JSON of JsonSchemaConverter."""
    born, created = item["born"], item["created"]
    return item | {
        "amount": base64.b64encode(_unscaled(item["amount"])).decode(),
        "born": None if born is None else (born - _EPOCH.date()).days,
        "created": (created - _EPOCH) // _MILLISECOND,
    }


def _filled(message: Any, item: Row) -> Any:
    for name in ("id", "customer", "name", "email", "active", "score", "note"):
        if item[name] is not None:
            setattr(message, name, item[name])
    amount, born, created = item["amount"], item["born"], item["created"]
    unscaled = int(amount.scaleb(2))
    message.amount.value, message.amount.scale = _unscaled(amount), 2
    message.amount.precision = len(str(abs(unscaled)))
    if born is not None:
        message.born.year, message.born.month, message.born.day = born.year, born.month, born.day
    message.created.FromDatetime(created)
    return message


def _unscaled(amount: Decimal) -> bytes:
    number = int(amount.scaleb(2))
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def rate(work: Callable[[], Any], records: int, passes: int) -> float:
    """Records per second of CPU time: the median of some passes, after one that does not count."""
    work()
    seconds = []
    for _ in range(passes):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return records / statistics.median(seconds)


def compare(contest: Contest, rows: list[Row], batch: int, passes: int) -> dict[str, float]:
    """Records per second of CPU time.

    :raises AssertionError: both sides have made different messages, or ours reads other rows than were written.
    """
    records, schema = len(rows), arrow_type(SCHEMA)
    data = [pa.array(rows[start : start + batch], schema) for start in range(0, records, batch)]
    encoder = contest.format.encoder(contest.registered, Shape(SCHEMA))
    messages = [contest.write(item) for item in rows]
    payloads = [encoder.encode(part)[0] for part in data]
    ours = [payload.as_py() for part in payloads for payload in part]
    assert all(contest.same(theirs[_HEADER:], own) for theirs, own in zip(messages, ours, strict=True))
    decoder = contest.format.decoder(contest.registered, ours[0])
    return {
        "encode, one by one": rate(lambda: [contest.write(item) for item in rows], records, passes),
        "encode, in batches": rate(lambda: [encoder.encode(part) for part in data], records, passes),
        "decode, one by one": rate(lambda: [contest.read(message) for message in messages], records, passes),
        "decode, in batches": rate(lambda: [decoder.decode(part) for part in payloads], records, passes),
    }


def main(
    formats: Annotated[list[str] | None, typer.Argument(help="avro, json-schema, protobuf; all by default.")] = None,
    records: int = 100_000,
    batch: int = 10_000,
    passes: int = 5,
) -> None:
    """Print records per second of CPU time of both, and the ratios."""
    rows = [row(index) for index in range(records)]
    for name in formats or CONTESTS:
        contest = CONTESTS[name](SchemaRegistryClient.new_client({"url": f"mock://{name}"}))
        rates = compare(contest, rows, batch, passes)
        for what, found in rates.items():
            print(f"{name}, {what}: {found:,.0f} records/s")
        for way in ("encode", "decode"):
            ratio = rates[f"{way}, in batches"] / rates[f"{way}, one by one"]
            print(f"{name}, {way}: {ratio:.1f} times as fast")


if __name__ == "__main__":
    typer.run(main)
