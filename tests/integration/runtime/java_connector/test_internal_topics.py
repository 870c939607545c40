"""A hosted source writes with the rights of its worker: none of its records may reach what Connect keeps there."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.kafka import read_all

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]

# What a connector can say against it: errors are tolerated, serializers and interceptors are others.
AGAINST = {
    "errors.tolerance": "all",
    "producer.override.key.serializer": "org.apache.kafka.common.serialization.ByteArraySerializer",
    "producer.override.interceptor.classes": "",
}


def routed(config: dict[str, str], topic: str) -> dict[str, str]:
    """The configuration with a transformation that sends all records to another topic."""
    router = {
        "transforms": "to",
        "transforms.to.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.to.regex": ".*",
        "transforms.to.replacement": topic,
    }
    return {**config, **router, **AGAINST}


@pytest.mark.parametrize(
    ("exactly_once", "key"),
    [
        ("enabled", "config.storage.topic"),
        pytest.param("enabled", "another connector's", marks=pytest.mark.exhaustive),
        pytest.param("disabled", "offset.storage.topic", marks=pytest.mark.exhaustive),
        pytest.param("disabled", "status.storage.topic", marks=pytest.mark.exhaustive),
    ],
)
def test_no_record_of_a_hosted_source_reaches_an_internal_topic_and_the_run_ends_at_once(
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    run_hosted: Run,
    hosting_worker: dict[str, str],
    exactly_once: str,
    key: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    numbered.append(3)
    known = WorkerConfig.from_props(hosting_worker)
    topic = str(known.get(key) or f"{known.group_id}-other-configs")
    with pytest.raises(DataError, match=f"internal topic {topic}"):
        run_hosted(routed(java_source(), topic), **{"exactly.once.source.support": exactly_once})
    # A producer that is closed with an empty transaction would sleep for half a minute.
    logged_s = [*(record.created for record in caplog.records), time.time()]
    assert max(after - before for before, after in pairwise(logged_s)) < 29
    assert not {record.value for record in read_all(bootstrap, topic)}.intersection(numbered.expected())


@pytest.mark.exhaustive  # without `AGAINST` each run of a source shows it
def test_offsets_of_its_own_are_no_such_records(numbered: Any, java_source: Config, run_hosted: Run) -> None:
    numbered.append(3)
    config = java_source() | AGAINST
    assert [run_hosted(config).records["written"] for _ in range(2)] == [3, 0]
