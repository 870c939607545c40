"""Where a sink resumes: offsets that expire, topics that are created again, groups that others alter."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from pyspark.sql import SparkSession

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import DataError, InternalError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.sink.run import SinkRun
from airflow_kconnect.stores.offset_changes.sink import SinkOffsets
from airflow_kconnect.stores.sink_positions import marked_topic
from airflow_kconnect.stores.transactional_ids import driver_id
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import STRING, Run
from tests.support import unique
from tests.support.connectors.lossy_sink import LossySink
from tests.support.kafka import add_partitions, create_topic, delete_topic, eventually, produce
from tests.support.positions import commit

LATEST = {"consumer.override.auto.offset.reset": "latest"}
EARLIEST = {"consumer.override.auto.offset.reset": "earliest"}

MakeTopic = Callable[..., str]
MakeSink = Callable[..., dict[str, str]]


@pytest.fixture
def spark_if_needed(spark: SparkSession) -> SparkSession:
    """As on a cluster: through Spark, also what does not need it."""
    return spark


@pytest.fixture
def sink(tmp_path: Path) -> MakeSink:
    """The configuration of a file sink."""

    def config(topics: str, **more: str) -> dict[str, str]:
        name = unique("sink")
        file = str(tmp_path / f"{name}.txt")
        return {
            "name": name,
            "connector.class": "FileStreamSink",
            "topics": topics,
            "file": file,
            "value.converter": STRING,
            **more,
        }

    return config


def lines(config: dict[str, str]) -> list[str]:
    path = Path(config["file"])
    return path.read_text().splitlines() if path.exists() else []


def delete_group(bootstrap: str, group: str) -> None:
    GroupAdmin({"bootstrap.servers": bootstrap}).delete_group(group)


def create_again(bootstrap: str, topic: str, partitions: int = 1) -> None:
    delete_topic(bootstrap, topic)
    create_topic(bootstrap, topic, partitions)


def reset(config: dict[str, str], worker_props: dict[str, str]) -> None:
    worker = WorkerConfig.from_props(worker_props)
    SinkOffsets(validate_connector(config, worker=worker), worker).reset()


@contextmanager
def open_transaction(bootstrap: str, topic: str, values: list[str]) -> Iterator[Producer]:
    """A producer whose records no one can read yet; what it has not committed in the end is aborted."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("open")})
    producer.init_transactions(30)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value)
    producer.flush(30)
    yield producer
    producer.abort_transaction(30)


def jdbc_sink(folder: Path) -> dict[str, str]:
    """Rows with an id, inserted into a table of SQLite without a key."""
    return {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": f"jdbc:sqlite:{folder / 'target.db'}",
        "table.name.format": "t",
        "auto.create": "true",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }


def row(number: int) -> str:
    schema = {"type": "struct", "optional": False, "fields": [{"type": "int32", "optional": False, "field": "id"}]}
    return json.dumps({"schema": schema, "payload": {"id": number}})


class TestLatest:
    def test_what_comes_after_the_first_run_is_read(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic(), **LATEST)
        produce(bootstrap, config["topics"], ["before"])
        run_here(config)
        produce(bootstrap, config["topics"], ["after"])
        run_here(config)
        assert lines(config) == ["after"]

    def test_a_worker_may_want_it_for_all_sinks(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic())
        produce(bootstrap, config["topics"], ["before"])
        report = run_here(config, **{"consumer.auto.offset.reset": "latest"})
        assert report.records["read"] == 0

    def test_a_partition_that_was_added_is_read_from_its_beginning(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic(), **LATEST)
        run_here(config)
        add_partitions(bootstrap, config["topics"], 2)
        produce(bootstrap, config["topics"], ["added"], partition=1)
        run_here(config)
        assert lines(config) == ["added"]


def test_a_connector_with_any_name_resumes_in_a_group_that_librdkafka_takes(
    topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
) -> None:
    config = sink(topic(), name=unique("straße"), **{"consumer.override.group.id": unique("strasse")})
    for value in ("one", "two"):
        produce(bootstrap, config["topics"], [value])
        run_here(config)
    assert lines(config) == ["one", "two"]


class TestLostOffsets:
    def test_a_group_that_is_gone_doubles_nothing(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic())
        produce(bootstrap, config["topics"], ["one"])
        run_here(config)
        delete_group(bootstrap, f"connect-{config['name']}")
        produce(bootstrap, config["topics"], ["two"])
        warnings = run_here(config).warnings
        assert lines(config) == ["one", "two"]
        assert any("has lost its offsets" in text for text in warnings)

    def test_nor_does_one_after_the_offset_topic_was_changed(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config, elsewhere = sink(topic()), {"offset.storage.topic": unique("offsets")}
        produce(bootstrap, config["topics"], ["one"])
        run_here(config)
        run_here(config, **elsewhere)
        delete_group(bootstrap, f"connect-{config['name']}")
        run_here(config, **elsewhere)
        assert lines(config) == ["one"]

    def test_a_reset_still_reads_from_the_beginning(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run, worker_props: dict[str, str]
    ) -> None:
        config = sink(topic())
        produce(bootstrap, config["topics"], ["one"])
        run_here(config)
        reset(config, worker_props)
        run_here(config)
        assert lines(config) == ["one", "one"]

    def test_what_others_commit_counts_also_backwards(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic())
        produce(bootstrap, config["topics"], ["one", "two"])
        run_here(config)
        commit(bootstrap, f"connect-{config['name']}", {(config["topics"], 0): 1})
        run_here(config)
        assert lines(config) == ["one", "two", "two"]

    def test_a_group_of_connect_becomes_one_whose_offsets_expire_one_by_one(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic())
        group, place = f"connect-{config['name']}", TopicPartition(config["topics"], 0)
        produce(bootstrap, config["topics"], ["one", "two"])
        member = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
        member.subscribe([config["topics"]])
        assert member.poll(30).value() == b"one"
        member.commit(asynchronous=False)
        member.close()
        run_here(config)
        admin = KafkaAdmin({"bootstrap.servers": bootstrap})
        assert lines(config) == ["two"]
        assert admin.group_state(group).simple
        assert eventually(lambda: admin.committed_offsets(group), {place: 2}) == {place: 2}


class TestTopicCreatedAgain:
    @pytest.mark.parametrize("override", [{}, EARLIEST], ids=["default", "earliest"])
    def test_is_refused_until_a_reset_and_then_read_from_its_beginning(
        self,
        topic: MakeTopic,
        bootstrap: str,
        sink: MakeSink,
        run_here: Run,
        override: dict[str, str],
        worker_props: dict[str, str],
    ) -> None:
        config = sink(topic(), **override)
        produce(bootstrap, config["topics"], ["old"])
        run_here(config)
        create_again(bootstrap, config["topics"])
        produce(bootstrap, config["topics"], ["new", "newer"])
        with pytest.raises(DataError, match=f"created again since it was read: {config['topics']}.*offsets reset"):
            run_here(config)
        reset(config, worker_props)
        run_here(config)
        assert lines(config) == ["old", "new", "newer"]

    def test_an_offset_that_others_commit_is_taken_for_one_of_the_new_topic(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic())
        produce(bootstrap, config["topics"], ["old"])
        run_here(config)
        create_again(bootstrap, config["topics"])
        produce(bootstrap, config["topics"], ["new"])
        commit(bootstrap, f"connect-{config['name']}", {(config["topics"], 0): 0})
        run_here(config)
        assert lines(config) == ["old", "new"]


class TestOpenTransactions:
    def test_an_offset_within_one_waits_for_its_end(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic(), **EARLIEST)
        produce(bootstrap, config["topics"], ["before"])
        with open_transaction(bootstrap, config["topics"], ["open", "open"]):
            commit(bootstrap, f"connect-{config['name']}", {(config["topics"], 0): 3})
            assert run_here(config).records["read"] == 0
        produce(bootstrap, config["topics"], ["after"])
        run_here(config)
        assert lines(config) == ["after"]

    def test_what_one_holds_back_is_lag_and_is_named(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
    ) -> None:
        config = sink(topic())
        produce(bootstrap, config["topics"], ["before"])
        with open_transaction(bootstrap, config["topics"], ["open"]):
            produce(bootstrap, config["topics"], ["behind"])
            report = run_here(config)
        assert report.records["read"] == 1
        assert report.lag == {config["topics"]: 2}
        assert report.notes["blocked"] == {f"{config['topics']}-0": 2}


def test_offsets_say_of_which_topic_they_are(topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run) -> None:
    config = sink(topic())
    produce(bootstrap, config["topics"], ["one"])
    run_here(config)
    admin = KafkaAdmin({"bootstrap.servers": bootstrap})
    (found,) = admin.committed(f"connect-{config['name']}", [TopicPartition(config["topics"], 0)]).values()
    expected = admin.described([config["topics"]])[config["topics"]].id
    assert marked_topic(found.metadata, admin.cluster()[0]) == expected


class TestDryRun:
    """Nothing changes, also not for a run that is active."""

    def test_fences_no_one(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run, worker_props: dict[str, str]
    ) -> None:
        config = sink(topic())
        clients = ClientConfigs(worker_props, config)
        live = TransactionalProducer(clients.producer(driver_id(worker_props["group.id"], config["name"])), "live")
        live.begin()
        run_here(config, dry_run=True)
        live.produce(config["topics"], b"written")
        live.commit()
        live.close()

    def test_takes_no_ownership_in_the_target(
        self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run, tmp_path: Path
    ) -> None:
        config = sink(topic(), **jdbc_sink(tmp_path))
        produce(bootstrap, config["topics"], [row(1)])
        live = ConfluentJdbcSink(config)
        live.take_over([TopicPartition(config["topics"], 0)])
        assert run_here(config, dry_run=True).notes["would_read_offsets"] == 1
        writer = live.writer()
        writer.open(SinkSplit(config["topics"], 0, 0, 1))
        writer.close(1)

    def test_creates_no_topic(self, topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run) -> None:
        dead = unique("dead")
        config = sink(topic(), **{"errors.tolerance": "all", "errors.deadletterqueue.topic.name": dead})
        run_here(config, dry_run=True, **{"offset.storage.topic": (offsets := unique("offsets"))})
        assert not {dead, offsets} & set(KafkaAdmin({"bootstrap.servers": bootstrap}).topics())


def test_a_table_of_offsets_follows_a_reset_after_its_topic_was_created_again(
    topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run, worker_props: dict[str, str], tmp_path: Path
) -> None:
    config = sink(topic(), **jdbc_sink(tmp_path))
    produce(bootstrap, config["topics"], [row(1), row(2)])
    run_here(config)
    create_again(bootstrap, config["topics"])
    produce(bootstrap, config["topics"], [row(3)])
    with pytest.raises(DataError, match="created again"):
        run_here(config)
    reset(config, worker_props)
    assert run_here(config).records["written"] == 1
    with closing(sqlite3.connect(tmp_path / "target.db")) as connection:
        assert connection.execute("SELECT id FROM t ORDER BY id").fetchall() == [(1,), (2,), (3,)]


def test_dead_letters_are_replayed_next_to_a_sink_that_reads_them(
    topic: MakeTopic, bootstrap: str, sink: MakeSink, run_here: Run
) -> None:
    dead = topic()
    config = sink(topic(), **LATEST, **{"errors.tolerance": "all", "errors.deadletterqueue.topic.name": dead})
    produce(bootstrap, dead, ["dead"])
    commit(bootstrap, f"connect-{config['name']}-dead-letters", {(dead, 0): 1})
    report = run_here(config, replay=True)
    assert lines(config) == ["dead"]
    assert any(f"connect-{config['name']}-dead-letters, is replayed again" in text for text in report.warnings)


def test_rows_that_do_not_arrive_fail_the_run_before_its_offsets_are_committed(
    topic: MakeTopic,
    bootstrap: str,
    sink: MakeSink,
    worker_props: dict[str, str],
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    props = sink(topic(), **{"connector.class": "DirectorySink", "directory": str(tmp_path)})
    produce(bootstrap, props["topics"], ["zero", "one", "two"])
    config = validate_connector({key: value for key, value in props.items() if key != "file"})
    settings = run_settings(config, WorkerConfig.from_props(worker_props), "run")
    with pytest.raises(InternalError, match="3 records were read, but 2 arrived at the writer"):
        SinkRun(settings, LossySink(config.props), LazySession("lossy", spark)).run()
    committed = KafkaAdmin({"bootstrap.servers": bootstrap}).committed_offsets(f"connect-{config.name}")
    assert committed == {TopicPartition(props["topics"], 0): 0}
