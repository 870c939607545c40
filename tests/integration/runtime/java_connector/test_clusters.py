"""A connector moves from a live Connect cluster to hosted runs, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import eventually, read_values


def test_a_source_moves_from_a_cluster_to_hosted_runs_and_back(
    bootstrap: str,
    numbered: Any,
    java_source: Callable[..., dict[str, str]],
    run_hosted: Callable[..., Any],
    hosting_worker: dict[str, str],
    tmp_path: Path,
) -> None:
    config = java_source()
    name, topic = config["name"], config["topic"]
    in_cluster = {key: text for key, text in config.items() if not key.startswith("kconnect.")}
    in_cluster |= {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "-1"}
    group = hosting_worker["group.id"]
    keys = {f"{kind}.storage.topic": f"{group}-{kind}" for kind in ("config", "status")}
    cluster = ConnectWorker(
        tmp_path / "cluster",
        bootstrap=bootstrap,
        group_id=group,
        config_topic=keys["config.storage.topic"],
        status_topic=keys["status.storage.topic"],
    )
    numbered.append(100)
    with cluster:
        cluster.create(name, in_cluster)
        assert eventually(lambda: len(read_values(bootstrap, topic)) if _exists(bootstrap, topic) else 0, 100) == 100
        with pytest.raises(RetriableError, match=f"the Connect cluster {group} runs it. Stop it there first"):
            run_hosted(config, **keys)
        cluster.stop_connector(name)
        cluster.wait_for(name, "STOPPED")
        numbered.append(100)
        assert run_hosted(config, **keys).records["written"] == 100
        numbered.append(100)
        cluster.resume(name)
        assert eventually(lambda: len(read_values(bootstrap, topic)), 300) == 300
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, topic)) == (set(), [])


def _exists(bootstrap: str, topic: str) -> bool:
    from airflow_kconnect.kafka.admin import KafkaAdmin

    return topic in KafkaAdmin({"bootstrap.servers": bootstrap}).topics()
