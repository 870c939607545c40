"""What the clients of a connector are set to: by us, by the worker, by the connector."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.clients import ClientConfigs

WORKER = {"bootstrap.servers": "localhost:9092"}


def configs(worker: dict[str, str] | None = None, overrides: dict[str, str] | None = None) -> ClientConfigs:
    return ClientConfigs({**WORKER, **(worker or {})}, overrides, "fs")


PRECEDENCE = [
    pytest.param({}, {}, 50, id="our default"),
    pytest.param({"producer.linger.ms": "1"}, {}, "1", id="worker"),
    pytest.param({"producer.linger.ms": "1"}, {"producer.override.linger.ms": "2"}, "2", id="connector over worker"),
    pytest.param({"linger.ms": "1"}, {}, 50, id="a worker key without prefix is the worker's own"),
    pytest.param({}, {"linger.ms": "1"}, 50, id="a connector key without prefix is the connector's own"),
    pytest.param({}, {"consumer.override.linger.ms": "1"}, 50, id="another client's override"),
    pytest.param({"producer.override.linger.ms": "1"}, {}, 50, id="an override in the worker is none"),
]


class TestPrecedence:
    @pytest.mark.parametrize(("worker", "overrides", "expected"), PRECEDENCE)
    def test_of_a_producer_key(self, worker: dict[str, str], overrides: dict[str, str], expected: Any) -> None:
        assert configs(worker, overrides).producer("t")["linger.ms"] == expected

    @pytest.mark.parametrize(
        ("worker", "overrides", "expected"),
        [
            ({"security.protocol": "SSL"}, {}, "SSL"),
            ({"security.protocol": "SSL", "consumer.security.protocol": "SASL_SSL"}, {}, "SASL_SSL"),
            (
                {"security.protocol": "SSL", "consumer.security.protocol": "SASL_SSL"},
                {"consumer.override.security.protocol": "SSL"},
                "SSL",
            ),
        ],
        ids=["worker", "prefixed worker key", "override"],
    )
    def test_of_a_security_key(self, worker: dict[str, str], overrides: dict[str, str], expected: str) -> None:
        assert configs(worker, overrides).consumer("g")["security.protocol"] == expected

    def test_security_of_the_worker_counts_for_every_client(self) -> None:
        of_worker = configs({"security.protocol": "SSL"})
        clients = (of_worker.admin(), of_worker.producer(None), of_worker.producer("t"), of_worker.consumer("g"))
        assert [client["security.protocol"] for client in clients] == ["SSL"] * 4

    def test_an_override_of_one_client_does_not_touch_the_others(self) -> None:
        overridden = configs(overrides={"producer.override.security.protocol": "SSL"})
        assert "security.protocol" not in overridden.consumer("g") | overridden.admin()

    def test_a_worker_key_that_cannot_be_honoured_is_named_with_its_client(self) -> None:
        with pytest.raises(ConfigError, match=r"`producer\.ssl\.keystore\.location`"):
            configs({"producer.ssl.keystore.location": "/k.jks"}).producer("t")


class TestOverridesThatAreNotAllowed:
    @pytest.mark.parametrize("policy", ["All", "None", "Principal", "Allowlist", None])
    def test_no_client_is_made_with_a_library_of_the_connectors_choice(self, policy: str | None) -> None:
        worker = {} if policy is None else {"connector.client.config.override.policy": policy}
        with pytest.raises(ConfigError, match=r"`producer\.override\.ssl\.providers`"):
            configs(worker, {"producer.override.ssl.providers": "/tmp/x.so"})

    def test_the_policy_of_the_worker_holds_without_a_validation_before(self) -> None:
        with pytest.raises(ConfigError, match=r"The 'None' policy does not allow 'linger\.ms'"):
            configs({"connector.client.config.override.policy": "None"}, {"producer.override.linger.ms": "1"})

    def test_all_are_named_at_once(self) -> None:
        overrides = {"admin.override.bootstrap.servers": "evil:9092", "consumer.override.debug": "all"}
        with pytest.raises(ConfigError) as caught:
            configs(overrides=overrides)
        assert set(caught.value.errors) == set(overrides)


class TestWhatExactlyOnceNeeds:
    @pytest.mark.parametrize("where", ["producer.", "producer.override."], ids=["worker", "connector"])
    @pytest.mark.parametrize(
        ("key", "theirs", "ours"),
        [
            ("acks", "1", "all"),
            ("enable.idempotence", "false", True),
            ("partitioner", "random", "murmur2_random"),
            ("transactional.id", "evil", "g-fs-0"),
            ("delivery.report.only.error", "false", True),
        ],
    )
    def test_a_producer_key_cannot_be_overridden(self, where: str, key: str, theirs: str, ours: Any) -> None:
        worker = WORKER | {"connector.client.config.override.policy": "All", where + key: theirs}
        assert ClientConfigs(worker, {where + key: theirs}).producer("g-fs-0")[key] == ours

    @pytest.mark.parametrize("where", ["consumer.", "consumer.override."], ids=["worker", "connector"])
    @pytest.mark.parametrize(
        ("key", "theirs", "ours"),
        [
            ("group.id", "evil", "connect-fs"),
            ("isolation.level", "read_uncommitted", "read_committed"),
            ("enable.auto.commit", "true", False),
            ("enable.auto.offset.store", "true", False),
            ("enable.partition.eof", "false", True),
            ("auto.offset.reset", "latest", "error"),
        ],
    )
    def test_a_consumer_key_cannot_be_overridden(self, where: str, key: str, theirs: str, ours: Any) -> None:
        worker = WORKER | {"connector.client.config.override.policy": "All", where + key: theirs}
        assert ClientConfigs(worker, {where + key: theirs}).consumer("connect-fs")[key] == ours

    def test_a_producer_without_transactions_has_no_transactional_id(self) -> None:
        assert "transactional.id" not in configs({"producer.transactional.id": "evil"}).producer(None)

    def test_a_producer_without_transactions_has_no_transaction_timeout(self) -> None:
        assert "transaction.timeout.ms" not in configs({"producer.transaction.timeout.ms": "9"}).producer(None)

    @pytest.mark.parametrize(
        ("worker", "overrides", "expected"),
        [
            ({}, {}, 60_000),
            ({"producer.transaction.timeout.ms": "30000"}, {}, 30_000),
            ({"producer.transaction.timeout.ms": "30000"}, {"producer.override.transaction.timeout.ms": "9000"}, 9_000),
        ],
        ids=["default", "worker", "connector"],
    )
    def test_transaction_timeout(self, worker: dict[str, str], overrides: dict[str, str], expected: int) -> None:
        assert configs(worker, overrides).transaction_timeout_ms == expected


class TestClients:
    def test_client_ids_are_those_of_connect(self) -> None:
        defaults = configs()
        assert [
            client["client.id"] for client in (defaults.admin(), defaults.producer("t"), defaults.consumer("g"))
        ] == [
            "connector-adminclient-fs",
            "connector-producer-fs",
            "connector-consumer-fs",
        ]

    def test_a_bulk_consumer_waits_for_fuller_answers(self) -> None:
        wait = "fetch.wait.max.ms"
        assert configs().consumer("g", bulk=True)[wait] > configs().consumer("g")[wait]

    def test_librdkafka_takes_the_defaults_of_every_client(self) -> None:
        defaults = configs()
        AdminClient(defaults.admin())
        Producer(defaults.producer(None))
        Producer(defaults.producer("t"))
        Consumer(defaults.consumer("g")).close()

    @pytest.mark.parametrize(
        "key",
        [
            "socket.connection.setup.timeout.max.ms",
            "metadata.max.idle.ms",
            "compression.gzip.level",
            "compression.lz4.level",
            "compression.zstd.level",
            "partitioner.adaptive.partitioning.enable",
            "partitioner.availability.timeout.ms",
            "sasl.kerberos.ticket.renew.jitter",
        ],
    )
    def test_librdkafka_takes_any_key_of_a_java_producer(self, key: str) -> None:
        Producer(configs({f"producer.{key}": "1"}).producer("t"))
