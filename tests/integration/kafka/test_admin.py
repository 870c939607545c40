"""Admin requests against a real broker."""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.compacted_topics import ensure_compacted
from airflow_kconnect.kafka.producers import TransactionalProducer
from tests.support import unique
from tests.support.certificates import self_signed
from tests.support.kafka import create_topic, delete_topic, produce

MakeTopic = Callable[..., str]


@pytest.fixture
def admin(bootstrap: str) -> KafkaAdmin:
    return KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2})


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port that no one listens on, and no one else gets meanwhile."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


@pytest.fixture
def mute_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock.getsockname()[1]


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    """A port with TLS and a self-signed certificate."""
    certificate, key = self_signed()
    (tmp_path / "server.pem").write_text(certificate + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")

    class Handshake(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), context.wrap_socket(self.request, server_side=True):
                pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handshake) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def unreachable(server: str, timeout_s: float = 1.0) -> tuple[str, float]:
    """The error text for a broker that does not answer, and how long it took to say so."""
    started = time.monotonic()
    with pytest.raises(RetriableError) as caught:
        KafkaAdmin({"bootstrap.servers": server, "log_level": 2}, timeout_s=timeout_s).check_reachable()
    return str(caught.value), time.monotonic() - started


class TestReachable:
    def test_a_broker_that_answers(self, admin: KafkaAdmin) -> None:
        admin.check_reachable()

    def test_without_a_server(self, dead_port: int) -> None:
        assert "Connection refused" in unreachable(f"127.0.0.1:{dead_port}")[0]

    def test_the_text_names_the_address_and_the_keys(self, dead_port: int) -> None:
        text, _ = unreachable(f"127.0.0.1:{dead_port}", timeout_s=0.5)
        parts = (f"127.0.0.1:{dead_port}", "`bootstrap.servers`", "`security.protocol`")
        assert [part for part in parts if part not in text] == []

    @pytest.mark.parametrize("port", ["dead_port", "mute_port"])
    def test_it_is_said_within_the_timeout(self, port: str, request: pytest.FixtureRequest) -> None:
        _, seconds = unreachable(f"127.0.0.1:{request.getfixturevalue(port)}")
        assert seconds < 1.0 + 1.5 + 20.0, "timeout, one last attempt, and some seconds for a busy machine"

    def test_an_unknown_host(self) -> None:
        assert "resolve" in unreachable("no-such-host.invalid:9092")[0]

    def test_a_tls_client_at_a_plain_port_names_the_handshake(self, bootstrap: str) -> None:
        with pytest.raises(RetriableError, match=r"SSL handshake failed|SSL connection closed by peer|SSL_HANDSHAKE"):
            KafkaAdmin(
                {"bootstrap.servers": bootstrap, "security.protocol": "SSL", "log_level": 2}, timeout_s=4.0
            ).check_reachable()

    def test_a_certificate_that_is_not_trusted_is_a_config_error(self, tls_port: int) -> None:
        config = {"bootstrap.servers": f"127.0.0.1:{tls_port}", "security.protocol": "SSL", "log_level": 2}
        with pytest.raises(ConfigError, match=r"`security\.protocol`: .*certificate verify failed"):
            KafkaAdmin(config, timeout_s=30.0).check_reachable()

    def test_a_configuration_that_librdkafka_refuses_is_a_config_error(self) -> None:
        with pytest.raises(ConfigError, match="No such configuration property"):
            KafkaAdmin({"bootstrap.servers": "localhost:9092", "no.such.key": "x"})


class TestTopics:
    def test_a_missing_topic_has_no_partitions(self, admin: KafkaAdmin) -> None:
        assert admin.partitions(unique("missing")) == 0

    def test_looking_a_topic_up_does_not_create_it(self, admin: KafkaAdmin) -> None:
        name = unique("missing")
        admin.partitions(name)
        time.sleep(0.2)
        assert name not in admin.topics()

    def test_partitions_are_counted(self, admin: KafkaAdmin, topic: MakeTopic) -> None:
        assert admin.partitions(topic(partitions=3)) == 3

    def test_every_topic_is_listed(self, admin: KafkaAdmin, topic: MakeTopic) -> None:
        name = topic(partitions=2)
        assert admin.topics()[name] == 2

    def test_a_created_topic_can_be_used_at_once(self, admin: KafkaAdmin) -> None:
        name = unique("created")
        admin.create_topic(name, 2, 1)
        assert admin.partitions(name) == 2

    def test_a_created_topic_has_its_settings(self, admin: KafkaAdmin) -> None:
        name = unique("created")
        admin.create_topic(name, settings={"retention.ms": "12345"})
        assert admin.setting(name, "retention.ms") == "12345"

    def test_the_brokers_defaults(self, admin: KafkaAdmin) -> None:
        name = unique("created")
        assert admin.create_topic(name) is True

    def test_another_user_was_first(self, admin: KafkaAdmin, topic: MakeTopic) -> None:
        assert admin.create_topic(topic()) is False

    @pytest.mark.parametrize(
        ("partitions", "replication", "settings", "text"),
        [
            pytest.param(1, 3, {}, "replication factor", id="replication factor"),
            pytest.param(1, 1, {"no.such.key": "x"}, "no.such.key", id="unknown setting"),
            pytest.param(1, 1, {"retention.ms": "soon"}, "retention.ms", id="value of a setting"),
        ],
    )
    def test_what_the_broker_refuses_is_a_config_error_with_its_answer(
        self, admin: KafkaAdmin, partitions: int, replication: int, settings: dict[str, str], text: str
    ) -> None:
        with pytest.raises(ConfigError, match=f"(?i){text}"):
            admin.create_topic(unique("refused"), partitions, replication, settings)

    @pytest.mark.parametrize(
        "name", ["no spaces", "x" * 250, "..", "ünïcode"], ids=["space", "long", "dots", "letters"]
    )
    def test_a_name_that_no_topic_can_have_is_a_config_error(self, admin: KafkaAdmin, name: str) -> None:
        with pytest.raises(ConfigError):
            admin.create_topic(name)


class TestOffsets:
    def test_an_empty_partition_ends_where_it_begins(self, admin: KafkaAdmin, topic: MakeTopic) -> None:
        name = topic()
        assert (admin.begin_offsets(name, [0]), admin.end_offsets(name, [0], committed=True)) == ({0: 0}, {0: 0})

    def test_the_ends_of_several_partitions(self, admin: KafkaAdmin, topic: MakeTopic, bootstrap: str) -> None:
        name = topic(partitions=3)
        produce(bootstrap, name, ["a", "b"], partition=2)
        assert admin.end_offsets(name, range(3), committed=True) == {0: 0, 1: 0, 2: 2}

    def test_the_ends_of_several_topics(self, admin: KafkaAdmin, topic: MakeTopic, bootstrap: str) -> None:
        first, second = TopicPartition(topic(), 0), TopicPartition(topic(partitions=2), 1)
        produce(bootstrap, second.topic, ["a", "b"], partition=1)
        assert admin.committed_ends([first, second]) == {first: 0, second: 2}

    def test_a_topic_that_is_created_again_has_another_id(
        self, admin: KafkaAdmin, topic: MakeTopic, bootstrap: str
    ) -> None:
        name = topic()
        before = admin.described([name])[name].id
        delete_topic(bootstrap, name)
        create_topic(bootstrap, name)
        assert before != admin.described([name])[name].id

    def test_topics_that_do_not_exist_are_not_described(self, admin: KafkaAdmin) -> None:
        assert admin.described([unique("missing")]) == {}

    def test_no_partitions_need_no_request(self, admin: KafkaAdmin) -> None:
        assert admin.end_offsets("whatever", [], committed=True) == {}

    def test_of_topics_that_are_just_being_created(self, admin: KafkaAdmin, bootstrap: str) -> None:
        """Among the answers on the way: no such topic, and partitions without leaders."""
        other = AdminClient({"bootstrap.servers": bootstrap})
        for _ in range(5):
            name = unique("topic")
            other.create_topics([NewTopic(name, 32, 1)])
            partitions = [TopicPartition(name, p) for p in range(32)]
            assert set(admin.bounds(partitions)) == set(partitions)

    def test_of_a_missing_topic_is_retriable(self, bootstrap: str) -> None:
        admin = KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2}, timeout_s=2.0)
        with pytest.raises(RetriableError, match="reading the offsets of topic"):
            admin.end_offsets(unique("missing"), [0], committed=True)


class TestGroups:
    def test_an_unknown_group_is_dead_and_empty(self, admin: KafkaAdmin) -> None:
        assert admin.group_state(unique("group")) == ("DEAD", 0, True)

    def test_a_group_with_a_member(self, admin: KafkaAdmin, topic: MakeTopic, bootstrap: str) -> None:
        group = unique("group")
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
        try:
            consumer.subscribe([topic()])
            deadline = time.monotonic() + 20
            while not consumer.assignment() and time.monotonic() < deadline:
                consumer.poll(0.1)
            assert admin.group_state(group) == ("STABLE", 1, False)
        finally:
            consumer.close()

    def test_a_group_with_offsets_alone_is_empty(self, admin: KafkaAdmin, topic: MakeTopic, bootstrap: str) -> None:
        group = unique("group")
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
        consumer.commit(offsets=[KafkaTopicPartition(topic(), 0, 0)], asynchronous=False)
        consumer.close()
        assert admin.group_state(group) == ("EMPTY", 0, True)

    def test_an_offset_whose_transaction_is_open_is_not_taken_for_none(
        self, topic: MakeTopic, bootstrap: str, worker_props: dict[str, str]
    ) -> None:
        admin = KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2}, timeout_s=1.0)
        group, place = unique("group"), TopicPartition(topic(), 0)
        clients = ClientConfigs(worker_props)
        consumer, producer = Consumer(clients.consumer(group)), TransactionalProducer(clients.producer(group), "test")
        producer.begin()
        producer.send_sink_offsets([KafkaTopicPartition(place.topic, 0, 5)], consumer.consumer_group_metadata())
        with pytest.raises(RetriableError, match=f"reading the offsets of group {group}"):
            admin.committed(group, [place])
        producer.commit()
        producer.close()
        consumer.close()
        admin = KafkaAdmin({"bootstrap.servers": bootstrap})
        assert admin.committed(group, [place]) == {place: (5, "")}


class TestEnsureCompacted:
    KEY = "offset.storage.topic"

    def ensure(self, admin: KafkaAdmin, name: str, replication: int = 1, **settings: str) -> int:
        keys = {key.replace("_", "."): value for key, value in settings.items()}
        return ensure_compacted(admin, name, self.KEY, partitions=5, replication=lambda: replication, settings=keys)

    def test_a_missing_topic_is_created(self, admin: KafkaAdmin) -> None:
        assert self.ensure(admin, unique("offsets")) == 5

    def test_a_created_topic_is_compacted(self, admin: KafkaAdmin) -> None:
        name = unique("offsets")
        self.ensure(admin, name)
        assert admin.setting(name, "cleanup.policy") == "compact"

    def test_a_created_topic_has_the_workers_settings(self, admin: KafkaAdmin) -> None:
        name = unique("offsets")
        self.ensure(admin, name, segment_bytes="1048576")
        assert admin.setting(name, "segment.bytes") == "1048576"

    def test_a_worker_cannot_ask_for_another_policy(self, admin: KafkaAdmin) -> None:
        name = unique("offsets")
        self.ensure(admin, name, cleanup_policy="delete")
        assert admin.setting(name, "cleanup.policy") == "compact"

    def test_an_existing_topic_is_kept(self, admin: KafkaAdmin, topic: MakeTopic) -> None:
        assert self.ensure(admin, topic(partitions=2, config={"cleanup.policy": "compact"})) == 2

    @pytest.mark.parametrize("policy", ["delete", "compact,delete"])
    def test_a_topic_that_forgets_is_refused(self, admin: KafkaAdmin, topic: MakeTopic, policy: str) -> None:
        name = topic(config={"cleanup.policy": policy})
        with pytest.raises(ConfigError, match=rf"`offset\.storage\.topic`: topic {name} has cleanup\.policy={policy}"):
            self.ensure(admin, name)

    def test_a_replication_factor_without_brokers_names_the_key(self, admin: KafkaAdmin) -> None:
        with pytest.raises(ConfigError, match=r"`offset\.storage\.replication\.factor`: .* or -1 for the"):
            self.ensure(admin, unique("offsets"), replication=3)

    def test_a_refused_setting_names_the_prefix_of_its_key(self, admin: KafkaAdmin) -> None:
        with pytest.raises(ConfigError, match=r"`offset\.storage\.\*`: topic .*segment\.bytes"):
            self.ensure(admin, unique("offsets"), segment_bytes="few")
