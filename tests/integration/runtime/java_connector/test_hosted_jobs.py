"""Java connectors as jobs: each direction once, started directly and by spark-submit, to the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import start_job

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


@pytest.mark.exhaustive  # one that is killed, and the next one: `test_hosted_failures.py`
def test_a_java_source_moves_what_is_new_exactly_once(
    bootstrap: str, numbered: Any, java_source: Config, hosting_worker: dict[str, str], run_hosted: Run, tmp_path: Path
) -> None:
    numbered.append(300)
    config = java_source()
    job = start_job(config, hosting_worker, tmp_path / "job", direct=True)
    assert job.wait() == 0, job.text()
    first = job.report()
    assert (first["records"]["written"], first["guarantee"], first["complete"]) == (300, "exactly_once", True)
    numbered.append(200)
    assert run_hosted(config).records["written"] == 200
    assert read_values(bootstrap, config["topic"]) == numbered.expected()


@pytest.mark.exhaustive
def test_a_java_sink_writes_until_the_ends_seen_at_its_start_are_committed(
    bootstrap: str, topic: Callable[..., str], java_sink: Config, hosting_worker: dict[str, str], tmp_path: Path
) -> None:
    source = topic(partitions=2)
    produce(bootstrap, source, [f"record {n}" for n in range(100)], settings={"transactional.id": source})
    config = java_sink(source)
    job = start_job(config, hosting_worker, tmp_path / "job")
    assert job.wait() == 0, job.text()
    report = job.report()
    assert (report["records"]["written"], report["complete"], report["lag_max"]) == (100, True, 0)
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert sorted(lines) == sorted(f"record {n}" for n in range(100))
