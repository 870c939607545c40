"""Airbyte's sources into Kafka, exactly once: runs that are killed, sources of the package index."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support import kill_points, unique
from tests.support.connectors.taps import Source
from tests.support.kafka import read_all
from tests.support.paged_api import PagedApi
from tests.support.spark.jobs import Job, kill_job_at, start_job

JSON = "org.apache.kafka.connect.json.JsonConverter"
SCHEMALESS = {
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
}
FAKER = "airbyte-source-faker==7.2.1"


class Runs:
    """Jobs of one connector."""

    def __init__(self, worker: dict[str, str], bootstrap: str, folder: Path, allowed: str) -> None:
        self.name, self._bootstrap, self._folder = unique("airbyte"), bootstrap, folder / "jobs"
        self._worker = {**worker, "kconnect.airbyte.sources.allowed": allowed}

    def _config(self, keys: dict[str, str]) -> dict[str, str]:
        return {
            "name": self.name,
            "connector.class": "AirbyteSource",
            "topic.prefix": f"{self.name}.",
            "transaction.boundary.interval.ms": "100",
            **SCHEMALESS,
            **keys,
        }

    def start(self, keys: dict[str, str]) -> Job:
        return start_job(self._config(keys), self._worker, self._folder)

    def run(self, keys: dict[str, str]) -> dict[str, Any]:
        job = self.start(keys)
        assert job.wait(500) == 0, job.text()
        report = job.report()
        job.close()
        return report

    def kill_at(self, point: str, keys: dict[str, str]) -> None:
        kill_job_at(point, self._config(keys), self._worker, self._folder)

    def arrived(self, stream: str) -> list[dict[str, Any]]:
        return [json.loads(record.value or b"") for record in read_all(self._bootstrap, f"{self.name}.{stream}")]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (folder := tmp_path / "source").mkdir()
    return Source(folder)


@pytest.fixture
def runs(worker_props: dict[str, str], bootstrap: str, tmp_path: Path, source: Source) -> Runs:
    return Runs(worker_props, bootstrap, tmp_path, f"{source.command},airbyte-source-faker")


BOTH = {"airbyte.streams": "*"}


@pytest.mark.parametrize("point", kill_points([("mid-produce",), ("during-commit",), ("after-final-commit",)],
                                              always=("during-commit",)))  # fmt: skip
def test_killed_runs_lose_and_double_nothing(point: str, runs: Runs, source: Source) -> None:
    source.grow(40)
    runs.kill_at(point, {**source.props(), **BOTH})
    source.grow(65)
    runs.run({**source.props(), **BOTH})
    for stream in ("numbers", "others"):
        assert Counter(value["n"] for value in runs.arrived(stream)) == Counter(range(65))


def test_runs_that_are_killed_at_random_lose_and_double_nothing(runs: Runs, source: Source) -> None:
    source.grow(200)
    chance = random.Random(11)
    for _ in range(2):
        job = runs.start({**source.props(pause_s=0.02), **BOTH})
        time.sleep(chance.uniform(3.0, 5.0))
        job.kill()
        job.close()
    runs.run({**source.props(), **BOTH})
    for stream in ("numbers", "others"):
        assert Counter(value["n"] for value in runs.arrived(stream)) == Counter(range(200))


def test_a_state_of_all_streams_is_learned_within_the_run(runs: Runs, source: Source) -> None:
    source.grow(20)
    report = runs.run({**source.props(states="GLOBAL"), **BOTH})
    assert [each["partition"] for each in report["offsets"]] == [{"source": "source-numbers"}]
    assert Counter(value["n"] for value in runs.arrived("others")) == Counter(range(20))


def test_a_source_of_the_index_is_installed_and_read(runs: Runs) -> None:
    keys = {
        "airbyte.source": FAKER,
        "airbyte.streams": "users, products",
        "airbyte.config.count": "40",
        "airbyte.config.seed": "7",
        "airbyte.config.records_per_slice": "10",
    }
    runs.run(keys)
    assert Counter(user["id"] for user in runs.arrived("users")) == Counter(range(1, 41))
    assert len(runs.arrived("products")) > 0


def test_an_api_that_a_manifest_describes_is_read_also_after_a_kill(runs: Runs) -> None:
    with PagedApi().serving() as api:
        api.count = 25
        keys = {
            "airbyte.source": FAKER,
            "airbyte.executable": "source-declarative-manifest",
            "airbyte.config.__injected_declarative_manifest": json.dumps(manifest(api.url)),
            "airbyte.config.api_token": "hush",
        }
        runs.kill_at("during-commit", keys)
        report = runs.run(keys)
    assert [order["id"] for order in runs.arrived("orders")] == list(range(25))
    assert "stream orders is read as a whole" in report["warnings"][0]


def manifest(url: str) -> dict[str, Any]:
    """A source without code, in Airbyte's language for that."""
    properties = {"id": {"type": "integer"}, "amount": {"type": "string"}}
    pagination = {
        "type": "CursorPagination",
        "cursor_value": "{{ response['next'] }}",
        "stop_condition": "{{ not response['next'] }}",
    }
    requester = {
        "type": "HttpRequester",
        "url_base": url,
        "path": "/orders",
        "http_method": "GET",
        "authenticator": {"type": "BearerAuthenticator", "api_token": "{{ config['api_token'] }}"},
    }
    selector = {
        "type": "RecordSelector",
        "extractor": {"type": "DpathExtractor", "field_path": ["data"]},
    }
    paginator = {
        "type": "DefaultPaginator",
        "page_token_option": {"type": "RequestPath"},
        "pagination_strategy": pagination,
    }
    stream = {
        "type": "DeclarativeStream",
        "name": "orders",
        "primary_key": ["id"],
        "schema_loader": {"type": "InlineSchemaLoader", "schema": {"type": "object", "properties": properties}},
        "retriever": {
            "type": "SimpleRetriever",
            "requester": requester,
            "record_selector": selector,
            "paginator": paginator,
        },
    }
    token = {"api_token": {"type": "string", "airbyte_secret": True}}
    return {
        "version": "6.0.0",
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": ["orders"]},
        "streams": [stream],
        "spec": {"type": "Spec", "connection_specification": {"type": "object", "properties": token}},
    }
