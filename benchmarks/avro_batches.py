"""``python -m benchmarks.avro_batches``: Avro messages, by confluent-kafka's serializers and in batches."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import typer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.types import arrow_type

_HEADER = 5
_CONTEXT = SerializationContext("topic", MessageField.VALUE)
_START = datetime(2024, 1, 1, tzinfo=UTC)
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


def row(index: int) -> dict[str, Any]:
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


def rate(work: Callable[[], Any], records: int, passes: int) -> float:
    """Records per second of CPU time: the median of some passes, after one that does not count."""
    work()
    seconds = []
    for _ in range(passes):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return records / statistics.median(seconds)


def main(records: int = 100_000, batch: int = 10_000, passes: int = 5) -> None:
    """Print records per second of CPU time of both, and the ratios."""
    rows = [row(index) for index in range(records)]
    data = [pa.array(rows[start : start + batch], arrow_type(SCHEMA)) for start in range(0, records, batch)]
    format_ = AvroFormat({})
    registered = format_.schema_of(Shape(SCHEMA))
    client = SchemaRegistryClient.new_client({"url": "mock://benchmark"})
    write, read = AvroSerializer(client, registered.text), AvroDeserializer(client)
    messages = [write(item, _CONTEXT) for item in rows]
    encoder = format_.encoder(registered, Shape(SCHEMA))
    payloads = [encoder.encode(part)[0] for part in data]
    assert [m[_HEADER:] for m in messages] == [payload.as_py() for part in payloads for payload in part]
    decoder = format_.decoder(registered, b"")
    rates = {
        "encode, one by one": rate(lambda: [write(item, _CONTEXT) for item in rows], records, passes),
        "encode, in batches": rate(lambda: [encoder.encode(part) for part in data], records, passes),
        "decode, one by one": rate(lambda: [read(message, _CONTEXT) for message in messages], records, passes),
        "decode, in batches": rate(lambda: [decoder.decode(part) for part in payloads], records, passes),
    }
    for name, found in rates.items():
        print(f"{name}: {found:,.0f} records/s")
    for name in ("encode", "decode"):
        print(f"{name}: {rates[f'{name}, in batches'] / rates[f'{name}, one by one']:.1f} times as fast")


if __name__ == "__main__":
    typer.run(main)
