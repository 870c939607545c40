"""What a program without any framework does: loops over confluent-kafka's Avro serializers, one process per partition.

They run in the processes of a `Crew`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airflow_kconnect.kafka.clients import ClientConfigs
from benchmarks.settings import PARTITIONS, our_worker

_rows: list[dict[str, Any]] = []


def hold_rows(connect: Callable[[], Any], table: str, share: int) -> None:
    """Read a share of a table's rows; `produce` sends what was held last."""
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select * from {table} where id % {PARTITIONS} = {share} order by id")
        names = [column.name for column in cursor.description]
        _rows[:] = [dict(zip(names, row, strict=True)) for row in cursor]


def produce(bootstrap: str, registry_url: str, schema: str, topic: str, share: int) -> int:
    """Serialize and send the rows that are held, in one transaction, by our producer's settings."""
    from confluent_kafka import Producer
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    name = f"loop-{topic}-{share}"
    write = AvroSerializer(SchemaRegistryClient({"url": registry_url}), schema)
    context = SerializationContext(topic, MessageField.VALUE)
    producer = Producer(ClientConfigs(our_worker(bootstrap), name=name).producer(name))
    producer.init_transactions()
    producer.begin_transaction()
    for row in _rows:
        value = write(row, context)
        while True:
            try:
                producer.produce(topic, value, partition=share)
            except BufferError:
                producer.poll(0.1)
                continue
            break
    producer.commit_transaction()
    return len(_rows)


def consume(bootstrap: str, registry_url: str, topic: str, share: int, target: str) -> int:
    """Write the values of one partition to a file as JSON lines, by our consumer's settings."""
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    read = AvroDeserializer(SchemaRegistryClient({"url": registry_url}))
    context = SerializationContext(topic, MessageField.VALUE)
    count = 0
    with Path(target).open("w", buffering=1 << 20) as out, partition(bootstrap, topic, share) as values:
        for value in values:
            out.write(json.dumps(read(value, context), default=str) + "\n")
            count += 1
    Path(target).unlink()
    return count


@contextmanager
def partition(bootstrap: str, topic: str, number: int) -> Iterator[Iterator[bytes]]:
    """The committed values of one partition, up to its end."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer(ClientConfigs(our_worker(bootstrap), name="loop").consumer("loop", bulk=True))
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING)])
    try:
        yield _values(consumer)
    finally:
        consumer.close()


def _values(consumer: Any) -> Iterator[bytes]:
    from confluent_kafka import KafkaError

    while True:
        for message in consumer.consume(10_000, timeout=0.05):
            error = message.error()
            if error is None:
                yield message.value()
            elif error.code() == KafkaError._PARTITION_EOF:
                return
            else:
                raise RuntimeError(str(error))
