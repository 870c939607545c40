"""Airbyte's sources into Kafka, exactly once: runs that are killed, sources of the package index."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.runtime.process.session import LazySession
from tests.support import kill_points
from tests.support.connectors.runs import Runs
from tests.support.connectors.taps import Source
from tests.support.paged_api import PagedApi

FAKER = "airbyte-source-faker==7.2.1"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (folder := tmp_path / "source").mkdir()
    return Source(folder)


@pytest.fixture
def runs(worker_props: dict[str, str], tmp_path: Path, source: Source, spark_if_needed: LazySession) -> Runs:
    allowed = {"kconnect.airbyte.sources.allowed": f"{source.command},airbyte-source-faker"}
    return Runs(worker_props | allowed, tmp_path, spark_if_needed, {"connector.class": "AirbyteSource"})


BOTH = {"airbyte.streams": "*"}


@pytest.mark.parametrize("point", kill_points([("mid-produce",), ("during-commit",), ("after-final-commit",)],
                                              always=("during-commit",)))  # fmt: skip
def test_killed_runs_lose_and_double_nothing(point: str, runs: Runs, source: Source) -> None:
    source.grow(40)
    runs.kill_at(point, {**source.props(), **BOTH})
    source.grow(65)
    runs.run({**source.props(), **BOTH})
    for stream in ("numbers", "others"):
        assert Counter(runs.column(stream, "n")) == Counter(range(65))


@pytest.mark.exhaustive
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
        assert Counter(runs.column(stream, "n")) == Counter(range(200))


def test_a_state_of_all_streams_is_learned_within_the_run(runs: Runs, source: Source) -> None:
    source.grow(20)
    report = runs.run({**source.props(states="GLOBAL"), **BOTH})
    assert [each["partition"] for each in report.offsets] == [{"source": "source-numbers"}]
    assert Counter(runs.column("others", "n")) == Counter(range(20))


@pytest.mark.exhaustive
def test_a_source_of_the_index_is_installed_and_read(runs: Runs) -> None:
    keys = {
        "airbyte.source": FAKER,
        "airbyte.streams": "users, products",
        "airbyte.config.count": "40",
        "airbyte.config.seed": "7",
        "airbyte.config.records_per_slice": "10",
    }
    runs.run(keys)
    assert Counter(runs.column("users", "id")) == Counter(range(1, 41))
    assert runs.records("products")


@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_an_api_that_a_manifest_describes_is_read_also_after_a_kill(runs: Runs, killed: bool) -> None:
    with PagedApi().serving() as api:
        api.count = 25
        keys = {
            "airbyte.source": FAKER,
            "airbyte.executable": "source-declarative-manifest",
            "airbyte.config.__injected_declarative_manifest": json.dumps(manifest(api.url)),
            "airbyte.config.api_token": "hush",
        }
        if killed:
            runs.kill_at("during-commit", keys)
        report = runs.run(keys)
    assert runs.column("orders", "id") == list(range(25))
    assert "stream orders is read as a whole" in report.warnings[0]


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
