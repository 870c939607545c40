"""Sources for which Catalyst has nothing to do: no JVM starts, and a killed process loses and doubles nothing."""

from __future__ import annotations

import json
import signal

import pytest

from airflow_kconnect.runs.events import EXIT_RETRIABLE
from tests.integration.runtime.conftest import Jobs, NumberedFile, Source, missing_and_doubled
from tests.support import unique
from tests.support.kafka import read_values
from tests.support.spark.jobs import kill_all

pytestmark = pytest.mark.spark_submit

# No JVM starts with it.
BROKEN = {"spark.driver.extraJavaOptions": "-Xss1k"}
_LINES = 60_000
JSON = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}


def test_a_file_passes_no_jvm_and_a_killed_process_loses_and_doubles_nothing(
    numbered: NumberedFile, file_source: Source, bootstrap: str, jobs: Jobs
) -> None:
    numbered.append(_LINES)
    config = file_source(**{"split.bytes": "300000", "transaction.boundary.interval.ms": "1"})
    job = jobs.start(config, failpoint="mid-produce", conf=BROKEN)
    job.wait_for_failpoint()
    kill_all(job.workers())
    assert job.wait() == EXIT_RETRIABLE, job.text()
    assert f"signal {signal.SIGKILL:d} (SIGKILL)" in job.event("error")["message"]

    job = jobs.start(config, conf=BROKEN)
    assert job.wait() == 0, job.text()

    assert "starting Spark" not in job.report()["durations_s"]
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


def test_a_python_source_passes_no_jvm(bootstrap: str, jobs: Jobs) -> None:
    name = unique("verifiable")
    config = {
        "name": name,
        "connector.class": "VerifiableSource",
        "tasks.max": "2",
        "throughput": "-1",
        "max.seqno": "2000",
        "topic": f"t-{name}",
        **JSON,
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    job = jobs.start(config, conf=BROKEN)
    assert job.wait() == 0, job.text()
    found = [json.loads(value or b"")["payload"] for value in read_values(bootstrap, config["topic"])]
    assert sorted(found) == sorted([*range(2001)] * 2)
