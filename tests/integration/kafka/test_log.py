"""Reading a compacted topic to its end, with the records that only a real broker makes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from tests.support import unique
from tests.support.kafka import eventually, produce

MakeLog = Callable[..., CompactedLog]


@pytest.fixture
def name(topic: Callable[..., str]) -> str:
    """A compacted topic of two partitions, from which records may also be deleted."""
    return topic(partitions=2, prefix="log", config={"cleanup.policy": "compact,delete"})


@pytest.fixture
def make_log(bootstrap: str, name: str) -> MakeLog:
    clients = ClientConfigs({"bootstrap.servers": bootstrap}, name="test")

    def make(patience_s: float = 20.0) -> CompactedLog:
        return CompactedLog(KafkaAdmin(clients.admin()), clients.consumer(unique("log")), name, patience_s)

    return make


@pytest.fixture
def open_transaction(bootstrap: str, name: str) -> Iterator[Producer]:
    """A producer with a record of an open transaction in partition 0."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("open"), "linger.ms": 1})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"open", b"key", 0)
    producer.flush(30)
    yield producer
    producer.purge()
    producer.flush(1.0)


def read(log: CompactedLog, partitions: tuple[int, ...] = (0, 1)) -> list[LogRecord]:
    found: list[LogRecord] = []
    log.read(partitions, found.append)
    return found


def values(records: list[LogRecord]) -> list[bytes | None]:
    return [record.value for record in records]


def write(bootstrap: str, name: str, *found: str, partition: int = 0) -> None:
    produce(bootstrap, name, found, key=b"key", partition=partition)


def write_transaction(bootstrap: str, name: str, *found: str, partition: int = 0) -> None:
    produce(bootstrap, name, found, key=b"key", partition=partition, settings={"transactional.id": unique("writer")})


def write_aborted(bootstrap: str, name: str, count: int, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("aborted"), "linger.ms": 1})
    producer.init_transactions(30)
    producer.begin_transaction()
    for n in range(count):
        producer.produce(name, b"aborted %d" % n, b"key", partition)
    producer.flush(30)
    producer.abort_transaction(30)
    producer.flush(1.0)


def delete_records_before(bootstrap: str, place: TopicPartition) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.delete_records([place])[place].result(30)


class TestToTheEnd:
    def test_an_empty_topic(self, make_log: MakeLog) -> None:
        assert read(make_log()) == []

    def test_records_have_place_key_and_time_also_tombstones(
        self, make_log: MakeLog, bootstrap: str, name: str
    ) -> None:
        write(bootstrap, name, "a", "b", partition=1)
        produce(bootstrap, name, [None], key=b"key", partition=1)
        found = read(make_log())
        assert [(str(record), record.key, record.value) for record in found] == [
            (f"{name}-1@{n}", b"key", value) for n, value in enumerate((b"a", b"b", None))
        ]
        assert all(abs(record.timestamp_ms - time.time() * 1000) < 60_000 for record in found)

    def test_only_the_partitions_that_were_asked_for(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "a", partition=0)
        write(bootstrap, name, "b", partition=1)
        assert values(read(make_log(), (1,))) == [b"b"]

    def test_the_order_within_a_partition_is_kept(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, *(str(n) for n in range(500)))
        assert values(read(make_log())) == [str(n).encode() for n in range(500)]

    @pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
    def test_compressed_records(self, codec: str, make_log: MakeLog, bootstrap: str, name: str) -> None:
        produce(bootstrap, name, ["a", "b"], key=b"key", partition=0, settings={"compression.type": codec})
        assert values(read(make_log())) == [b"a", b"b"]

    def test_a_record_of_ten_megabytes(self, topic: Callable[..., str], bootstrap: str) -> None:
        large = topic(prefix="log", config={"cleanup.policy": "compact", "max.message.bytes": "11000000"})
        produce(bootstrap, large, ["x" * 10_000_000, "b"], key=b"key", settings={"message.max.bytes": "11000000"})
        clients = ClientConfigs({"bootstrap.servers": bootstrap}, name="test")
        log = CompactedLog(KafkaAdmin(clients.admin()), clients.consumer(unique("log")), large, 20.0)
        assert [len(value or b"") for value in values(read(log, (0,)))] == [10_000_000, 1]

    def test_the_last_thing_is_the_marker_of_a_commit(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write_transaction(bootstrap, name, "a")
        assert values(read(make_log())) == [b"a"]

    def test_markers_between_records(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        for value in ("a", "b"):
            write_transaction(bootstrap, name, value)
        write(bootstrap, name, "c")
        assert values(read(make_log())) == [b"a", b"b", b"c"]

    @pytest.mark.parametrize("count", [1000, pytest.param(100_000, marks=pytest.mark.exhaustive)])
    def test_nothing_but_an_aborted_transaction(self, count: int, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write_aborted(bootstrap, name, count)
        assert read(make_log()) == []

    def test_an_aborted_transaction_between_records(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "a")
        write_aborted(bootstrap, name, 10)
        write(bootstrap, name, "b")
        assert values(read(make_log())) == [b"a", b"b"]

    def test_a_topic_whose_first_records_were_deleted(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "a", "b", "c")
        delete_records_before(bootstrap, TopicPartition(name, 0, 2))
        assert values(read(make_log())) == [b"c"]

    def test_a_topic_whose_records_were_all_deleted(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "a", "b", "c")
        delete_records_before(bootstrap, TopicPartition(name, 0, 3))
        assert read(make_log()) == []


class TestOpenTransaction:
    """Its records must not be missed: they may become the committed offsets."""

    def test_it_is_waited_for(self, make_log: MakeLog, open_transaction: Producer, bootstrap: str, name: str) -> None:
        log, found = make_log(), list[LogRecord]()

        def commit_at_first_record(record: LogRecord) -> None:
            found.append(record)
            if record.partition == 1:
                open_transaction.commit_transaction(30)

        write(bootstrap, name, "other", partition=1)
        log.read((0, 1), commit_at_first_record)
        assert sorted(record.value or b"" for record in found) == [b"open", b"other"]

    def test_what_lies_behind_it_is_waited_for(
        self, make_log: MakeLog, open_transaction: Producer, bootstrap: str, name: str
    ) -> None:
        write(bootstrap, name, "behind", partition=0)
        log, found = make_log(), list[LogRecord]()

        def abort_at_first_record(record: LogRecord) -> None:
            found.append(record)
            if record.partition == 1:
                open_transaction.abort_transaction(30)

        write(bootstrap, name, "other", partition=1)
        log.read((0, 1), abort_at_first_record)
        assert Counter(values(found)) == Counter([b"behind", b"other"])

    @pytest.mark.usefixtures("open_transaction")
    def test_it_is_not_waited_for_for_ever(self, make_log: MakeLog) -> None:
        started = time.monotonic()
        with pytest.raises(RetriableError):
            read(make_log(patience_s=1.0))
        assert 1.0 <= time.monotonic() - started < 25.0

    @pytest.mark.usefixtures("open_transaction")
    def test_the_error_names_the_place_and_the_end(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "behind", partition=0)
        with pytest.raises(RetriableError, match=rf"blocked at {name}-0@0 \(end 2\): an open transaction"):
            read(make_log(patience_s=0.5))

    @pytest.mark.usefixtures("open_transaction")
    def test_another_partition_is_not_blocked(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "free", partition=1)
        assert values(read(make_log(), (1,))) == [b"free"]


class TestGoingOn:
    def test_a_further_read_delivers_only_what_is_new(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        log, found = make_log(), []
        for value in ("a", "b"):
            write_transaction(bootstrap, name, value)
            found.append(values(read(log)))
        assert (found, read(log)) == ([[b"a"], [b"b"]], [])

    def test_positions_are_behind_markers_and_aborted_records(
        self, make_log: MakeLog, bootstrap: str, name: str
    ) -> None:
        log = make_log()
        write_transaction(bootstrap, name, "a")
        write_aborted(bootstrap, name, 1, partition=1)

        def positions() -> dict[int, int]:
            read(log)
            return log.positions

        assert eventually(positions, {0: 2, 1: 2}) == {0: 2, 1: 2}

    def test_another_reader_resumes_from_positions(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        write(bootstrap, name, "a", "b", "c")
        log = make_log()
        log.positions = {0: 2}
        assert values(read(log, (0,))) == [b"c"]

    def test_partitions_can_be_added_later(self, make_log: MakeLog, bootstrap: str, name: str) -> None:
        log = make_log()
        write(bootstrap, name, "a", partition=0)
        write(bootstrap, name, "b", partition=1)
        read(log, (0,))
        assert values(read(log, (0, 1))) == [b"b"]


def test_a_missing_topic_is_retriable(bootstrap: str) -> None:
    clients = ClientConfigs({"bootstrap.servers": bootstrap})
    log = CompactedLog(KafkaAdmin(clients.admin(), timeout_s=2.0), clients.consumer("log"), unique("missing"))
    with pytest.raises(RetriableError):
        read(log, (0,))
