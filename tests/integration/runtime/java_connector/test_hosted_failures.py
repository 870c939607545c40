"""A hosted run that is killed, and what the next run makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support.kafka import read_values
from tests.support.spark.jobs import kill_all, start_job, wait_gone

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


def test_while_a_job_is_at_work_another_run_is_refused_and_after_its_kill_nothing_is_missing_or_doubled(
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    hosting_worker: dict[str, str],
    run_hosted: Run,
    tmp_path: Path,
) -> None:
    """At other steps, and with the JVM as the victim: `test_kills_at_each_step.py`."""
    numbered.append(500)
    config = java_source()
    job = start_job(config, hosting_worker, tmp_path / "job", failpoint="before-stop")
    job.wait_for_failpoint()
    with pytest.raises(RetriableError, match="another run of this connector is at work"):
        run_hosted(config)
    everyone = job.tree()
    # The Python driver alone: the rest has to notice.
    kill_all([job.driver()])
    assert wait_gone(everyone) == []
    job.close()
    numbered.append(100)
    # Without spark-submit, as `kconnect run` starts it here.
    job = start_job(config, hosting_worker, tmp_path / "next", direct=True)
    assert job.wait() == 0, job.text()
    report = job.report()
    assert (report["complete"], report["guarantee"]) == (True, "exactly_once")
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])
