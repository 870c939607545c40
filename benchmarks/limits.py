"""What is possible at all: plain loops over the same clients, one process per partition, without any connector."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from airflow_kconnect.kafka.clients import ClientConfigs
from benchmarks.measure import CpuMeter, Pass
from benchmarks.settings import PARTITIONS, our_worker

_values: list[bytes] = []


class Crew:
    """Processes that do the same at once, each with its own share. Use it as a context manager."""

    def __init__(self, size: int = PARTITIONS) -> None:
        self._processes = [ProcessPoolExecutor(1, get_context("spawn")) for _ in range(size)]
        self.pids: list[int] = self.all(os.getpid, [()] * size)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.shutdown()

    def all(self, work: Callable[..., Any], shares: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Results of the work, by process.

        :param shares: the arguments of each process.
        """
        started = [each.submit(work, *share) for each, share in zip(self._processes, shares, strict=True)]
        return [each.result() for each in started]

    def measure(self, work: Callable[..., int], shares: Sequence[tuple[Any, ...]], meter: CpuMeter) -> Pass:
        """The time of the work, which answers how many records it has moved."""
        before, began = meter.look(self.pids), time.monotonic()
        records = sum(self.all(work, shares))
        seconds = time.monotonic() - began
        return Pass(records, seconds, *meter.between(before, meter.look(self.pids)))


def hold_values(path: Path, share: int, encoded: Callable[[str], bytes]) -> None:
    """Read and encode a share of a file's lines; `produce` sends what was held last."""
    with path.open() as lines:
        _values[:] = [encoded(line.removesuffix("\n")) for n, line in enumerate(lines) if n % PARTITIONS == share]


def produce(bootstrap: str, topic: str, share: int) -> int:
    """Send the values that are held in one transaction, by our producer's settings."""
    from confluent_kafka import Producer

    name = f"limit-{topic}-{share}"
    producer = Producer(ClientConfigs(our_worker(bootstrap), name=name).producer(name))
    producer.init_transactions()
    producer.begin_transaction()
    for value in _values:
        try:
            producer.produce(topic, value, partition=share)
        except BufferError:
            while True:
                producer.poll(0.1)
                try:
                    producer.produce(topic, value, partition=share)
                except BufferError:
                    continue
                break
    producer.commit_transaction()
    return len(_values)


def consume(bootstrap: str, topic: str, share: int, target: str) -> int:
    """Write the values of one partition to a file, by our consumer's settings."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    consumer = Consumer(ClientConfigs(our_worker(bootstrap), name="limit").consumer("limit", bulk=True))
    consumer.assign([TopicPartition(topic, share, OFFSET_BEGINNING)])
    count, done = 0, False
    with Path(target).open("wb", buffering=1 << 20) as out:
        while not done:
            for message in consumer.consume(10_000, timeout=0.05):
                error = message.error()
                if error is None:
                    out.write(message.value() + b"\n")
                    count += 1
                elif error.code() == KafkaError._PARTITION_EOF:
                    done = True
                else:
                    raise RuntimeError(str(error))
    consumer.close()
    Path(target).unlink()
    return count


def copy_out(connect: Callable[[], Any], query: str) -> int:
    """Read what a query finds by COPY, and drop it."""
    with connect() as connection, connection.cursor() as cursor:
        with cursor.copy(f"copy ({query}) to stdout") as copy:
            for _ in copy:
                pass
        return int(cursor.rowcount)


def copy_in(connect: Callable[[], Any], table: str, path: Path) -> int:
    """Write a file of COPY's text format into a table."""
    with connect() as connection, connection.cursor() as cursor:
        with path.open("rb") as lines, cursor.copy(f"copy {table} from stdin") as copy:
            while block := lines.read(1 << 20):
                copy.write(block)
        return int(cursor.rowcount)
