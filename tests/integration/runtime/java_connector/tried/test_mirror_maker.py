"""MirrorMaker 2's connectors between two brokers: the worker's is the target, another is the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support import unique
from tests.support.connect.tried import example
from tests.support.kafka import create_topic, produce, read_all
from tests.support.positions import commit

COORDINATES = "org.apache.kafka:connect-mirror:4.3.0"

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of the broker that is mirrored."""
    embedded = EmbeddedBroker(tmp_path_factory.mktemp("origin"))
    embedded.start()
    yield embedded.bootstrap
    embedded.stop()


@pytest.fixture
def mirror(origin: str, bootstrap: str) -> Config:
    """The configuration of an example: `mirror("orders-mirror", topics=topic)`. The alias of the source is its own."""
    alias = unique("origin")

    def config(name: str, **changed: str) -> dict[str, str]:
        places = {
            "source.cluster.alias": alias,
            "source.cluster.bootstrap.servers": origin,
            "target.cluster.bootstrap.servers": bootstrap,
        }
        topics = ("", "offset-syncs.topic.", "checkpoints.topic.", "heartbeats.topic.")
        single = {f"{topic}replication.factor": "1" for topic in topics}
        return {**example(name, {**places, **changed}, kconnect_hosted_idle_ms="5000"), **single}

    return config


def contents(bootstrap: str, topic: str) -> list[tuple[Any, ...]]:
    """What mirroring keeps of each record."""
    return [(r.partition, r.key, r.value, r.headers, r.timestamp) for r in read_all(bootstrap, topic)]


@pytest.mark.exhaustive
def test_each_run_mirrors_what_is_new_and_only_once(
    origin: str, bootstrap: str, mirror: Config, run_hosted: Run
) -> None:
    topic = create_topic(origin, unique("orders"), 2)
    config = mirror("orders-mirror", topics=topic)
    produce(origin, topic, [f"first {n}" for n in range(300)], key="k", headers=[("h", b"1")])
    produce(origin, topic, [f"second {n}" for n in range(300)])
    copy = f"{config['source.cluster.alias']}.{topic}"
    first = run_hosted(config, **{"kconnect.plugin.coordinates": COORDINATES})
    assert (first.records["written"], first.guarantee, first.complete) == (600, "exactly_once", True)
    produce(origin, topic, [f"third {n}" for n in range(100)])
    second = run_hosted(config, **{"kconnect.plugin.coordinates": COORDINATES})
    assert second.records["written"] == 100
    assert contents(bootstrap, copy) == contents(origin, topic)


@pytest.mark.exhaustive
def test_checkpoints_move_a_consumer_group_to_the_copy(
    origin: str, bootstrap: str, mirror: Config, run_hosted: Run
) -> None:
    topic, group = create_topic(origin, unique("orders")), unique("readers")
    produce(origin, topic, [f"record {n}" for n in range(50)])
    config = mirror("orders-mirror", topics=topic)
    worker = {"kconnect.plugin.coordinates": COORDINATES}
    run_hosted(config, **worker)
    commit(origin, group, {(topic, 0): 50})
    checkpoints = mirror("orders-checkpoints", topics=topic, groups=group)
    report = run_hosted(checkpoints, **worker)
    assert report.complete
    copied = TopicPartition(f"{config['source.cluster.alias']}.{topic}", 0)
    assert GroupAdmin({"bootstrap.servers": bootstrap}).committed_offsets(group) == {copied: 50}


@pytest.mark.exhaustive
def test_heartbeats_end_at_a_number_of_records(origin: str, bootstrap: str, mirror: Config, run_hosted: Run) -> None:
    config = mirror("heartbeats")
    report = run_hosted(config, **{"kconnect.plugin.coordinates": COORDINATES})
    assert report.records["written"] >= 2
    assert len(read_all(bootstrap, "heartbeats")) >= 2
