"""The worker configuration: defaults, bootstrap servers, keys without meaning."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of, worker_config_def
from airflow_kconnect.worker_config.override_policy import DEFAULT_ALLOWLIST

KAFKA = {"bootstrap.servers": "localhost:9092"}


def worker(**props: object) -> WorkerConfig:
    return WorkerConfig.from_props({**KAFKA, **{key.replace("_", "."): value for key, value in props.items()}})


def errors_of(props: dict[str, object]) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        WorkerConfig.from_props(props)
    return caught.value.errors


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("group.id", "kconnect"),
        ("key.converter", "org.apache.kafka.connect.json.JsonConverter"),
        ("header.converter", "org.apache.kafka.connect.storage.SimpleHeaderConverter"),
        ("offset.storage.topic", "connect-offsets"),
        ("offset.storage.partitions", 25),
        ("offset.storage.replication.factor", 3),
        ("config.storage.topic", "connect-configs"),
        ("status.storage.topic", "connect-status"),
        ("status.storage.partitions", 5),
        ("exactly.once.source.support", "enabled"),
        ("offset.flush.interval.ms", 60000),
        ("task.shutdown.graceful.timeout.ms", 5000),
        ("topic.creation.enable", True),
        ("connector.client.config.override.policy", "Allowlist"),
        ("connector.client.config.override.allowlist", list(DEFAULT_ALLOWLIST)),
    ],
)
def test_default(key: str, expected: object) -> None:
    assert worker().get(key) == expected


def test_only_bootstrap_servers_are_required() -> None:
    assert [key.name for key in worker_config_def().keys.values() if key.required] == ["bootstrap.servers"]


@pytest.mark.parametrize("servers", ["a:1", "a.b-c_d:65535,b:9092", "[::1]:9092", "[fe80::1%eth0]:9092", " a:1 , b:2 "])
def test_good_bootstrap_servers(servers: str) -> None:
    assert WorkerConfig.from_props({"bootstrap.servers": servers}).get("bootstrap.servers")


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ("localhost", "entry 'localhost' has no port"),
        ("a:1,localhost", "entry 'localhost' has no port"),
        ("[::1]", r"entry '\[::1\]' has no port"),
        (":9092", "entry ':9092' has no host"),
        ("http://a:9092", "entry 'http://a:9092' is a URL; write host:port without `http://`"),
        ("::1:9092", "entry '::1:9092' looks like an IPv6 address without brackets"),
        ("a:65536", "entry 'a:65536' has a port that is not a number from 1 to 65535"),
        ("a:0", "entry 'a:0' has a port"),
        ("a:x", "entry 'a:x' has a port"),
        ("a b:1", "entry 'a b:1' has a host name that is not valid"),
        ("a:1,,b:2", "entry '' has no port"),
        ("", "expected host:port"),
    ],
)
def test_bad_bootstrap_servers_are_named(servers: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        WorkerConfig.from_props({"bootstrap.servers": servers})


def test_all_errors_come_together() -> None:
    props: dict[str, object] = {"group.id": "", "offset.storage.partitions": "0", "x": None, "producer.y": {}}
    assert set(errors_of(props)) == {"bootstrap.servers", "group.id", "offset.storage.partitions", "x", "producer.y"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "offset.storage.partitions",
            "0",
            "Number of partitions must be positive, or -1 to use the broker's default",
        ),
        (
            "exactly.once.source.support",
            "yes",
            "String must be one of (case insensitive): DISABLED, PREPARING, ENABLED",
        ),
        (
            "connector.client.config.override.policy",
            "Some",
            "Unknown policy; expected one of: All, None, Principal, Allowlist",
        ),
        ("offset.flush.interval.ms", "-1", "Value must be at least 0"),
    ],
)
def test_wrong_value(key: str, value: str, message: str) -> None:
    assert errors_of({**KAFKA, key: value}) == {key: [f"Invalid value {value} for configuration {key}: {message}"]}


@pytest.mark.parametrize(
    ("support", "expected"), [("enabled", True), ("ENABLED", True), ("preparing", False), ("disabled", False)]
)
def test_exactly_once_needs_enabled(support: str, expected: bool) -> None:
    assert worker(exactly_once_source_support=support).exactly_once is expected


@pytest.mark.parametrize(
    "key",
    [
        "listeners",
        "admin.listeners",
        "rest.advertised.host.name",
        "plugin.discovery",
        "scheduled.rebalance.max.delay.ms",
        "session.timeout.ms",
        "inter.worker.key.size",
        "offset.storage.file.filename",
        "key.converter.plugin.version",
    ],
)
def test_key_without_meaning_is_a_warning(key: str) -> None:
    assert WorkerConfig.from_props({**KAFKA, key: "x"}).warnings == (
        f"`{key}` has no effect: there is no Connect worker process here",
    )


@pytest.mark.parametrize(
    "key",
    [
        "producer.linger.ms",
        "consumer.x",
        "admin.x",
        "security.protocol",
        "sasl.mechanism",
        "ssl.ca.location",
        "key.converter.schemas.enable",
        "request.timeout.ms",
        "client.dns.lookup",
        "offset.storage.min.insync.replicas",
    ],
)
def test_key_for_clients_passes_in_silence(key: str) -> None:
    assert WorkerConfig.from_props({**KAFKA, key: "x"}).warnings == ()


@pytest.mark.parametrize("key", ["client.id", "retry.backoff.ms", "connections.max.idle.ms", "send.buffer.bytes"])
def test_client_key_without_prefix_is_a_warning(key: str) -> None:
    assert WorkerConfig.from_props({**KAFKA, key: "5"}).warnings == (
        f"`{key}` has no effect: write it below `producer.`, `consumer.` or `admin.`",
    )


def test_time_that_connect_waits_for_a_commit_is_a_warning() -> None:
    key = "offset.flush.timeout.ms"
    (warning,) = WorkerConfig.from_props({**KAFKA, key: "10"}).warnings
    assert warning.startswith(f"`{key}` has no effect: sources commit every `transaction.boundary.interval.ms`")


def test_statuses_are_written_only_to_a_topic_that_is_named() -> None:
    assert worker(status_storage_topic="s").writes_statuses
    assert not worker().writes_statuses
    assert not worker(status_storage_topic="").writes_statuses


@pytest.mark.parametrize(("support", "single"), [("enabled", True), ("preparing", True), ("disabled", False)])
def test_the_config_topic_has_a_single_writer_as_in_connect(support: str, single: bool) -> None:
    assert worker(exactly_once_source_support=support).single_writer is single


def test_unknown_key_is_a_warning() -> None:
    assert WorkerConfig.from_props({**KAFKA, "gruop.id": "x"}).warnings == (  # codespell:ignore
        "`gruop.id` is not a key of the worker configuration and has no effect",  # codespell:ignore
    )


def test_values_from_json_become_text() -> None:
    assert worker(topic_creation_enable=False).props["topic.creation.enable"] == "false"


def test_prefixed_keys_come_without_their_prefix() -> None:
    config = WorkerConfig.from_props({**KAFKA, "producer.linger.ms": "5"})
    assert config.with_prefix("producer.") == {"linger.ms": "5"}


def test_unset_key_is_none() -> None:
    assert worker().get("producer.linger.ms") is None


def test_repr_shows_no_values() -> None:
    config = WorkerConfig.from_props({**KAFKA, "sasl.password": "s3cret"})
    assert "s3cret" not in repr(config)


class TestInternalTopics:
    def test_defaults(self) -> None:
        assert (worker().offset_topic, worker().config_topic) == ("connect-offsets", "connect-configs")

    def test_all(self) -> None:
        assert internal_topics_of(worker(status_storage_topic="s")).names == {"connect-offsets", "connect-configs", "s"}

    @pytest.mark.parametrize(
        ("topic", "internal"),
        [("kconnect-a-configs", True), ("kconnect-a-status", True), ("kconnect-status", False), ("a-configs", False)],
    )
    def test_those_of_groups_that_host_connectors_are_internal(self, topic: str, internal: bool) -> None:
        assert (topic in internal_topics_of(worker())) is internal

    @pytest.mark.parametrize(("source", "expected"), [({}, "o"), ({"offsets.storage.topic": "mine"}, "mine")])
    def test_of_a_source(self, source: dict[str, str], expected: str) -> None:
        assert worker(offset_storage_topic="o").offset_topic_of(source) == expected
