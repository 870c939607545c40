"""What the Connect worker of a hosted connector is configured with, and what is kept out of its topics."""

from __future__ import annotations

import pytest

from airflow_kconnect.hosted.worker.worker_keys import (
    connector_properties,
    handed_over,
    host_worker,
    sink_session,
    worker_properties,
)
from airflow_kconnect.worker_config.keys import WorkerConfig

WORKER = {
    "bootstrap.servers": "kafka:9092",
    "group.id": "kconnect",
    "security.protocol": "SASL_SSL",
    "offset.storage.topic": "my-offsets",
    "listeners": "http://0.0.0.0:8083",
    "rest.port": "8083",
    "config.providers": "file",
    "config.providers.file.class": "FileConfigProvider",
    "producer.linger.ms": "7",
}


def properties(**more: str) -> dict[str, str]:
    given = {**WORKER, **{key.replace("_", "."): text for key, text in more.items()}}
    return worker_properties(host_worker(WorkerConfig.from_props(given), "kconnect-orders"))


def test_group_and_topics_are_of_its_own_but_the_offset_topic() -> None:
    found = properties()
    names = ("group.id", "config.storage.topic", "status.storage.topic", "offset.storage.topic")
    assert [found[name] for name in names] == [
        *("kconnect-orders", "kconnect-orders-configs", "kconnect-orders-status"),
        "my-offsets",
    ]


def test_keys_of_clients_are_passed_on() -> None:
    found = properties()
    assert (found["security.protocol"], found["producer.linger.ms"]) == ("SASL_SSL", "7")


def test_nothing_listens() -> None:
    assert not [key for key in properties() if key.startswith(("listeners", "rest."))]


def test_sources_are_exactly_once_unless_the_worker_says_otherwise() -> None:
    assert properties()["exactly.once.source.support"] == "enabled"
    assert properties(exactly_once_source_support="disabled")["exactly.once.source.support"] == "disabled"


def test_values_of_variables_and_of_secret_keys_are_references() -> None:
    props = {"name": "orders", "database.password": "geheim", "url": "http://host/key=42", "topic": "t"}
    result, named = handed_over(props, {**props, "url": "http://host/key=${env:KEY}"}, WORKER)
    assert (result["name"], result["topic"]) == ("orders", "t")
    for key in ("database.password", "url"):
        assert result[key].startswith("${kconnect:")
        assert named[result[key].removeprefix("${kconnect:").removesuffix("}")] == props[key]


def test_variables_that_only_java_can_resolve_stay_between_references() -> None:
    worker = {"config.providers": "v", "config.providers.v.class": "com.x.Vault"}
    props = {"name": "orders", "password": "${v:db:password}", "url": "http://ann:${v:db:password}@host"}
    result, named = handed_over(props, {**props, "url": "http://${env:U}:${v:db:password}@host"}, worker)
    assert result["password"] == "${v:db:password}"
    before, after = (f"${{kconnect:{name}}}" for name in named)
    assert result["url"] == f"{before}${{v:db:password}}{after}"
    assert list(named.values()) == ["http://ann:", "@host"]


def test_providers_that_only_java_has_are_the_workers() -> None:
    found = properties(
        config_providers="file,v", config_providers_v_class="com.x.Vault", config_providers_v_param_a="b"
    )
    assert found["config.providers"] == "kconnect,v"
    assert (found["config.providers.v.class"], found["config.providers.v.param.a"]) == ("com.x.Vault", "b")
    assert "config.providers.file.class" not in found


def test_a_connector_defines_no_provider() -> None:
    own = {"config.providers": "e", "config.providers.e.class": "com.x.Vault", "config.providers.e.param.a": "b"}
    assert connector_properties({"name": "a", **own}, "sink", create_topics=True) == {"name": "a"}


def test_our_own_keys_are_not_passed_to_java() -> None:
    assert connector_properties({"name": "a", "kconnect.max.records": "5"}, "sink", create_topics=True) == {"name": "a"}


def test_topics_of_a_source_are_created_as_the_broker_does_it() -> None:
    found = connector_properties({"name": "a", "topic.creation.default.partitions": "3"}, "source", create_topics=True)
    assert found["topic.creation.default.partitions"] == "3"
    assert found["topic.creation.default.replication.factor"] == "-1"


@pytest.mark.parametrize(
    ("worker", "props", "set_to", "remembered_s"),
    [
        ({}, {}, "10000", 10.0),
        ({"consumer.session.timeout.ms": "20000"}, {}, None, 20.0),
        ({"consumer.session.timeout.ms": "20000"}, {"consumer.override.session.timeout.ms": "7000"}, None, 7.0),
        ({}, {"consumer.override.group.protocol": "consumer"}, None, 45.0),
        ({"consumer.group.protocol": "consumer"}, {}, None, 45.0),
    ],
)
def test_a_killed_consumer_of_a_sink_is_soon_forgotten_unless_told_otherwise(
    worker: dict[str, str], props: dict[str, str], set_to: str | None, remembered_s: float
) -> None:
    keys, seconds = sink_session(worker, props)
    assert (keys.get("consumer.session.timeout.ms"), seconds) == (set_to, remembered_s)


def test_no_text_of_a_connector_can_name_a_secret_of_the_run() -> None:
    """Their names are others in each run."""
    props = {"name": "orders", "database.password": "geheim"}
    first, second = (handed_over(props, props, WORKER)[1] for _ in range(2))
    assert not first.keys() & second.keys()
