"""Following a compacted topic; with a broker that is killed: `test_restarted_broker.py`."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import LogRecord, OpenTransactionError
from airflow_kconnect.kafka.log_follower import LogFollower
from airflow_kconnect.kafka.log_reader import LogReader
from airflow_kconnect.kafka.producers import TransactionalProducer
from tests.support import unique
from tests.support.kafka import create_topic, delete_topic, eventually, produce

Values = dict[bytes | None, bytes | None]


class Table:
    """The last value of each key."""

    def __init__(self) -> None:
        self.values: Values = {}

    def add(self, record: LogRecord) -> None:
        self.values[record.key] = record.value


def values(table: Table) -> Values:
    return dict(table.values)


Follow = Callable[..., LogFollower[Table]]


@pytest.fixture
def clients(bootstrap: str) -> ClientConfigs:
    return ClientConfigs({"bootstrap.servers": bootstrap})


@pytest.fixture
def follow(clients: ClientConfigs) -> Iterator[Follow]:
    """Follows a topic until the test ends."""
    started: list[LogFollower[Table]] = []

    def start(topic: str, of: ClientConfigs = clients, patience_s: float = 10.0) -> LogFollower[Table]:
        started.append(LogFollower(of, topic, Table, "followers", patience_s))
        return started[-1]

    yield start
    for follower in started:
        follower.close()


def compacted(bootstrap: str, partitions: int = 1) -> str:
    return create_topic(bootstrap, unique("log"), partitions, {"cleanup.policy": "compact"})


class TestFollowing:
    def test_reading_to_the_end_sees_what_is_there(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap, 3)
        for key in ("a", "b", "c"):
            produce(bootstrap, topic, ["1", "2"], key=key)
        follower = follow(topic)
        follower.read_to_end()
        assert follower.look(values) == {b"a": b"2", b"b": b"2", b"c": b"2"}

    def test_what_is_new_arrives_by_itself(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        follower = follow(topic)
        follower.read_to_end()
        produce(bootstrap, topic, ["1"], key="a")
        wanted: Values = {b"a": b"1"}
        assert eventually(lambda: follower.look(values), wanted) == wanted

    def test_reading_to_the_end_sees_what_was_just_written(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        follower = follow(topic)
        seen = []
        for value in range(20):
            produce(bootstrap, topic, [str(value)], key="a")
            follower.read_to_end()
            seen.append(int(follower.look(values)[b"a"] or b"-1"))
        assert seen == list(range(20))

    def test_transactions_count_when_they_are_committed(
        self, follow: Follow, bootstrap: str, clients: ClientConfigs
    ) -> None:
        topic = compacted(bootstrap)
        follower = follow(topic)
        producer = TransactionalProducer(clients.producer(unique("id")), "test")
        for value, end in ((b"1", producer.commit), (b"2", producer.abort), (b"3", producer.commit)):
            producer.begin()
            producer.produce(topic, value, b"a")
            producer.flush()
            end()
            follower.read_to_end()
        producer.close()
        assert follower.look(values) == {b"a": b"3"}

    def test_an_open_transaction_blocks_the_end(self, follow: Follow, bootstrap: str, clients: ClientConfigs) -> None:
        topic = compacted(bootstrap)
        follower = follow(topic)
        follower.read_to_end()
        producer = TransactionalProducer(clients.producer(unique("id")), "test")
        producer.begin()
        producer.produce(topic, b"1", b"a")
        producer.flush()
        with pytest.raises(OpenTransactionError, match=f"{topic}-0@0"):
            follower.read_to_end(1.0)
        follower.read_to_end(10.0, committed=True)
        producer.abort()
        producer.close()

    def test_many_threads_can_ask(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        produce(bootstrap, topic, ["1"], key="a")
        follower = follow(topic)
        found: list[Values] = []

        def ask() -> None:
            follower.read_to_end()
            found.append(follower.look(values))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == [{b"a": b"1"}] * 8

    def test_an_idle_follower_costs_next_to_nothing(self, follow: Follow, bootstrap: str) -> None:
        follower = follow(compacted(bootstrap))
        follower.read_to_end()

        def used_s() -> float:
            before = time.process_time()
            time.sleep(3)
            return time.process_time() - before

        # Other threads of this process may have something to do now and then.
        assert any(used_s() < 0.3 for _ in range(5))


class TestTopics:
    def test_a_topic_that_is_missing_is_empty(self, follow: Follow) -> None:
        follower = follow(unique("none"))
        follower.read_to_end()
        assert follower.look(values) == {}

    def test_it_is_followed_once_it_is_created(self, follow: Follow, bootstrap: str) -> None:
        topic = unique("late")
        follower = follow(topic)
        follower.read_to_end()
        create_topic(bootstrap, topic, 2)
        produce(bootstrap, topic, ["1"], key="a")
        follower.read_to_end()
        assert follower.look(values) == {b"a": b"1"}

    def test_one_that_is_created_again_replaces_the_old_one(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        produce(bootstrap, topic, ["1"] * 10, key="old")
        follower = follow(topic)
        follower.read_to_end()
        delete_topic(bootstrap, topic)
        time.sleep(1)
        create_topic(bootstrap, topic)
        produce(bootstrap, topic, ["2"], key="new")
        wanted: Values = {b"new": b"2"}
        assert eventually(lambda: follower.look(values), wanted) == wanted


class TestEnd:
    def test_it_leaves_no_thread(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        follower = follow(topic)
        follower.read_to_end()
        follower.close()
        assert f"follow-{topic}" not in {thread.name for thread in threading.enumerate()}

    def test_after_it_nothing_is_told(self, follow: Follow, bootstrap: str) -> None:
        follower = follow(compacted(bootstrap))
        follower.close()
        with pytest.raises(RetriableError, match="stopped"):
            follower.look(values)

    def test_a_forked_process_follows_by_itself(self, follow: Follow, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        produce(bootstrap, topic, ["1"], key="a")
        follower = follow(topic)
        follower.read_to_end()
        answers = multiprocessing.get_context("fork").SimpleQueue()

        def child() -> None:
            follower.read_to_end()
            answers.put(follower.look(values))
            os._exit(0)

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join(60)
        assert process.exitcode == 0
        assert answers.get() == {b"a": b"1"}


class TestOnce:
    def test_a_reader_without_a_thread_sees_what_is_there(self, clients: ClientConfigs, bootstrap: str) -> None:
        topic = compacted(bootstrap)
        reader = LogReader(clients, topic, Table, "readers")
        reader.read_to_end()
        produce(bootstrap, topic, ["1"], key="a")
        reader.read_to_end()
        assert reader.look(values) == {b"a": b"1"}

    def test_a_topic_that_is_missing_is_empty(self, clients: ClientConfigs) -> None:
        reader = LogReader(clients, unique("none"), Table, "readers")
        reader.read_to_end()
        assert reader.look(values) == {}


def test_never_having_read_is_an_error_with_the_cause(follow: Follow) -> None:
    follower = follow("t", ClientConfigs({"bootstrap.servers": "localhost:1"}), 1.0)
    with pytest.raises(RetriableError, match="try again later"):
        follower.look(values)
