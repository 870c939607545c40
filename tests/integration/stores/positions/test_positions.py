"""Where connectors are, as a real broker says it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.stores.offset_topic.records import TopicRead, sink_key
from airflow_kconnect.stores.positions.conditions import (
    LagCondition,
    SinkOffsetCondition,
    SourceOffsetCondition,
    StateCondition,
    TimestampCondition,
)
from airflow_kconnect.stores.positions.positions import ConnectorPositions
from airflow_kconnect.stores.target_states import TargetState, encode_target_state, target_state_key
from tests.support import unique
from tests.support.kafka import create_topic, produce
from tests.support.positions import commit, commit_source, produce_at

MakeTopic = Callable[..., str]
MakeConnector = Callable[..., ConnectorPositions]

HOUR_MS = 3_600_000
LATEST = {"consumer.override.auto.offset.reset": "latest"}


@pytest.fixture
def connector(worker_props: dict[str, str]) -> MakeConnector:
    """A connector with a name of its own: `connector(topics=...)`, `connector()` for a source."""

    def make(**config: Any) -> ConnectorPositions:
        keys = {key.replace("__", "."): value for key, value in config.items()}
        return ConnectorPositions({"name": unique("connector"), **keys}, worker_props)

    return make


class TestLagOfSinks:
    @pytest.mark.parametrize(
        ("committed", "reset", "lag"),
        [
            pytest.param(1, None, 2, id="the committed offset"),
            pytest.param(50, None, 3, id="beyond the end, all are unread"),
            pytest.param(None, None, 3, id="the beginning"),
            pytest.param(None, "earliest", 3, id="earliest"),
            pytest.param(None, "latest", 0, id="latest"),
        ],
    )
    def test_counts_from_where_a_run_would_start(
        self,
        bootstrap: str,
        topic: MakeTopic,
        connector: MakeConnector,
        committed: int | None,
        reset: str | None,
        lag: int,
    ) -> None:
        name = topic()
        produce(bootstrap, name, ["a", "b", "c"])
        sink = connector(topics=name, **({} if reset is None else {"consumer.override.auto.offset.reset": reset}))
        if committed is not None:
            commit(bootstrap, sink.group, {(name, 0): committed})

        assert sink.sink().records() == lag

    @pytest.mark.parametrize("enough", [LagCondition(min_records=1000), LagCondition(min_seconds=3600)])
    def test_a_sink_that_begins_at_the_end_is_started_once_before_it_counts(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector, enough: LagCondition
    ) -> None:
        name = topic()
        sink = connector(topics=name, **LATEST)
        before = enough.look(sink).met
        commit(bootstrap, sink.group, {(name, 0): 0})

        assert (before, enough.look(sink).met) == (True, False)

    def test_a_sink_that_resumes_at_the_end_is_started_if_records_were_deleted(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        name = topic()
        sink = connector(topics=name, **LATEST)
        produce(bootstrap, name, ["a", "b", "c"])
        commit(bootstrap, sink.group, {(name, 0): 0})
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.delete_records([KafkaTopicPartition(name, 0, 2)])[KafkaTopicPartition(name, 0)].result(30)

        assert LagCondition(min_records=1).look(sink).met

    def test_the_group_can_be_overridden(self, bootstrap: str, topic: MakeTopic, connector: MakeConnector) -> None:
        name, group = topic(), unique("group")
        produce(bootstrap, name, ["a", "b"])
        commit(bootstrap, group, {(name, 0): 2})

        assert connector(topics=name, **{"consumer.override.group.id": group}).sink().records() == 0

    def test_records_of_open_transactions_do_not_count(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        name = topic()
        produce(bootstrap, name, ["a"])
        open_one = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("tx")})
        open_one.init_transactions(30)
        open_one.begin_transaction()
        open_one.produce(name, b"b")
        open_one.flush(30)

        found = connector(topics=name).sink().records()
        open_one.abort_transaction(30)
        assert found == 1

    def test_no_one_has_caught_up_with_an_open_transaction(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        name = topic()
        sink = connector(topics=name)
        open_one = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("tx")})
        open_one.init_transactions(30)
        open_one.begin_transaction()
        open_one.produce(name, b"a")
        open_one.flush(30)
        time.sleep(0.01)

        caught_up = LagCondition(max_records=0).look(sink)
        young = LagCondition(max_seconds=0.0).look(sink)
        passed = TimestampCondition(int(time.time() * 1000)).look(sink)
        behind = LagCondition(min_records=1).look(sink)
        open_one.abort_transaction(30)
        assert (caught_up.met, young.met, passed.met, behind.met) == (False, False, False, False)
        assert caught_up.position["records"] == 1

    def test_offsets_that_the_group_has_lost_are_known(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector, worker_props: dict[str, str]
    ) -> None:
        name = topic(partitions=2)
        produce(bootstrap, name, ["a", "b", "c"], partition=0)
        sink = connector(topics=name)
        read = TopicRead(None, (2, 0))
        settings = {"partitioner": "murmur2_random"}
        produce(bootstrap, "connect-offsets", [read.encode()], key=sink_key(sink.group, name), settings=settings)
        commit(bootstrap, sink.group, {(name, 1): 0})

        assert [(p.committed, p.records) for p in sink.sink().partitions] == [(2, 1), (0, 0)]

    def test_topics_add_up_and_each_can_be_asked_for(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        one, two = topic(), topic(partitions=2)
        produce(bootstrap, one, ["a"])
        produce(bootstrap, two, ["b", "c"], partition=1)
        position = connector(topics=f"{one},{two}").sink()

        assert (position.records(), position.topic(two).records()) == (3, 2)

    def test_a_pattern_chooses_topics(self, bootstrap: str, topic: MakeTopic, connector: MakeConnector) -> None:
        name = topic(prefix="chosen")
        produce(bootstrap, name, ["a"])

        position = connector(topics__regex=f"{name[:-1]}.").sink()
        assert [p.topic_partition for p in position.partitions] == [TopicPartition(name, 0)]

    def test_a_topic_that_is_missing_is_said_and_not_created(self, bootstrap: str, connector: MakeConnector) -> None:
        missing = unique("missing")

        assert connector(topics=missing).sink().missing == (missing,)
        assert missing not in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).topics

    def test_the_lag_in_seconds_is_the_age_of_the_first_unread_record(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        name, now_ms = topic(partitions=2), int(time.time() * 1000)
        produce_at(bootstrap, name, [now_ms - 9 * HOUR_MS, now_ms - 2 * HOUR_MS], partition=0)
        produce_at(bootstrap, name, [now_ms - HOUR_MS], partition=1)
        sink = connector(topics=name)
        commit(bootstrap, sink.group, {(name, 0): 1})

        assert sink.sink(timestamps=True).seconds() == pytest.approx(7200, abs=30)

    def test_nothing_unread_means_no_lag_in_seconds(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        name = topic()
        produce_at(bootstrap, name, [1_000])
        sink = connector(topics=name)
        commit(bootstrap, sink.group, {(name, 0): 1})

        assert sink.sink(timestamps=True).seconds() == 0

    def test_only_marks_of_transactions_mean_no_lag_in_seconds(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        name = topic()
        produce(bootstrap, name, ["a"], settings={"transactional.id": unique("tx")})
        sink = connector(topics=name)
        commit(bootstrap, sink.group, {(name, 0): 1})

        assert sink.sink(timestamps=True).seconds() == 0

    def test_a_source_has_none_and_the_cure_is_named(self, connector: MakeConnector) -> None:
        with pytest.raises(ConfigError, match="ConnectorOffsetSensor"):
            connector().sink()


class TestMissingTopics:
    def test_are_waited_for_where_a_lag_is(self, connector: MakeConnector) -> None:
        missing = unique("missing")

        finding = LagCondition(min_records=1).look(connector(topics=missing))
        assert (finding.met, finding.position["missing_topics"]) == (False, [missing])

    def test_are_an_error_where_its_end_is(self, connector: MakeConnector) -> None:
        with pytest.raises(ConfigError, match="does not exist"):
            LagCondition(max_records=0).look(connector(topics=unique("missing")))

    def test_a_topic_that_the_sink_does_not_read_is_an_error(self, topic: MakeTopic, connector: MakeConnector) -> None:
        with pytest.raises(ConfigError, match="other is not among the `topics`"):
            LagCondition(min_records=1, topic="other").look(connector(topics=topic()))


class TestSourceOffsets:
    PARTITION = {"filename": "/data/in"}

    def test_the_last_committed_one_counts(self, bootstrap: str, worker_topics: str, connector: MakeConnector) -> None:
        source = connector()
        for position in (10, 20):
            commit_source(bootstrap, worker_topics, source.name, self.PARTITION, {"position": position})

        assert source.source() == {partition_identity(self.PARTITION): {"position": 20}}

    def test_the_next_look_sees_what_came_meanwhile(
        self, bootstrap: str, worker_topics: str, connector: MakeConnector
    ) -> None:
        source, condition = connector(), SourceOffsetCondition(self.PARTITION, {"position": 20})
        commit_source(bootstrap, worker_topics, source.name, self.PARTITION, {"position": 10})
        before = condition.look(source).met
        commit_source(bootstrap, worker_topics, source.name, self.PARTITION, {"position": 20})

        assert (before, condition.look(source).met) == (False, True)

    def test_a_deleted_one_is_none(self, bootstrap: str, worker_topics: str, connector: MakeConnector) -> None:
        source = connector()
        commit_source(bootstrap, worker_topics, source.name, self.PARTITION, {"position": 10})
        commit_source(bootstrap, worker_topics, source.name, self.PARTITION, None)

        assert source.source() == {}

    def test_an_open_transaction_in_the_offset_topic_is_not_waited_for(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector
    ) -> None:
        own = topic(config={"cleanup.policy": "compact"})
        source = connector(offsets__storage__topic=own)
        commit_source(bootstrap, own, source.name, self.PARTITION, {"position": 10})
        open_one = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("tx")})
        open_one.init_transactions(30)
        open_one.begin_transaction()
        open_one.produce(own, b"{}", b"[]")
        open_one.flush(30)

        started = time.monotonic()
        found = source.source()
        seconds = time.monotonic() - started
        open_one.abort_transaction(30)
        assert list(found.values()) == [{"position": 10}]
        assert seconds < 20

    def test_without_an_offset_topic_there_is_none(self, connector: MakeConnector) -> None:
        assert connector(offsets__storage__topic=unique("missing")).source() == {}

    def test_a_sink_has_none_and_the_cure_is_named(self, connector: MakeConnector) -> None:
        with pytest.raises(ConfigError, match="kafka_topic and kafka_partition"):
            connector(topics="a").source()


class TestSinkOffsets:
    @pytest.mark.parametrize(("committed", "met"), [(None, False), (1, False), (2, True), (3, True)])
    def test_the_committed_offset_counts(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector, committed: int | None, met: bool
    ) -> None:
        name = topic()
        produce(bootstrap, name, ["a", "b", "c"])
        sink = connector(topics=name)
        if committed is not None:
            commit(bootstrap, sink.group, {(name, 0): committed})

        assert SinkOffsetCondition(name, 0, 2).look(sink).met is met

    def test_a_partition_that_the_sink_does_not_read(self, topic: MakeTopic, connector: MakeConnector) -> None:
        name = topic()
        with pytest.raises(ConfigError, match=f"{name}-7 is not a topic-partition"):
            SinkOffsetCondition(name, 7, 2).look(connector(topics=name))


class TestTimestamps:
    """Records of three, two and one hours ago in partition 0, none in partition 1."""

    NOW_MS = int(time.time() * 1000)
    TIMES_MS = [NOW_MS - 3 * HOUR_MS, NOW_MS - 2 * HOUR_MS, NOW_MS - HOUR_MS]

    @pytest.mark.parametrize(
        ("committed", "moment_ms", "met"),
        [
            pytest.param(0, TIMES_MS[1], False, id="a record before it is unread"),
            pytest.param(1, TIMES_MS[1], True, id="all records before it are read"),
            pytest.param(2, TIMES_MS[1], True, id="more than that is read"),
            pytest.param(2, NOW_MS - 60_000, False, id="no record is that late, and one is unread"),
            pytest.param(3, NOW_MS - 60_000, True, id="no record is that late, and all are read"),
            pytest.param(3, NOW_MS + 24 * HOUR_MS, False, id="the time has not come"),
        ],
    )
    def test_a_sink_passes_a_point_in_time(
        self, bootstrap: str, topic: MakeTopic, connector: MakeConnector, committed: int, moment_ms: int, met: bool
    ) -> None:
        name = topic(partitions=2)
        produce_at(bootstrap, name, self.TIMES_MS)
        sink = connector(topics=name)
        commit(bootstrap, sink.group, {(name, 0): committed})

        assert TimestampCondition(moment_ms).look(sink).met is met


class TestTargetStates:
    def test_is_started_if_no_one_has_said_anything(self, connector: MakeConnector) -> None:
        assert connector().target_state() is TargetState.STARTED

    def test_the_last_one_counts(self, bootstrap: str, worker_props: dict[str, str]) -> None:
        own = create_topic(bootstrap, unique("configs"), 1, {"cleanup.policy": "compact"})
        found = ConnectorPositions({"name": "orders"}, {**worker_props, "config.storage.topic": own})
        for state in (TargetState.PAUSED, TargetState.STOPPED):
            produce(bootstrap, own, [encode_target_state(state)], key=target_state_key("orders"))

        finding = StateCondition(["STOPPED"]).look(found)
        assert (finding.met, finding.position) == (True, {"connector": "orders", "state": "STOPPED"})
