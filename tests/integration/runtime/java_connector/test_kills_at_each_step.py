"""SIGKILL at each step of a hosted run, to its job or to its JVM; the next run completes what is left.

Dear, so exhaustive: each case is a job and a run. `test_hosted_failures.py` has one for CI.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.runtime.conftest import missing_and_doubled
from tests.support.connect.hosted import hosted_jvms
from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import kill_all, start_job, wait_gone

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]

BEFORE_JAVA = ("before-java",)
WITH_JAVA = (
    *("before-validating", "after-fencing", "after-joining", "after-handing-over"),
    *("while-moving", "before-stop", "while-stopping"),
)
AFTER_JAVA = ("after-stop", "before-report")
STEPS = (
    *((step, "driver") for step in (*BEFORE_JAVA, *WITH_JAVA, *AFTER_JAVA)),
    *((step, "JVM") for step in WITH_JAVA),
    *((step, "everything") for step in ("while-moving", "while-stopping")),
)

MANY, FEW = 10_000, 1_000

pytestmark = pytest.mark.exhaustive
each_step = pytest.mark.parametrize(("step", "victim"), STEPS)


@each_step
def test_a_source_misses_and_doubles_nothing(
    step: str,
    victim: str,
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    hosting_worker: dict[str, str],
    run_hosted: Run,
    tmp_path: Path,
) -> None:
    numbered.append(MANY if step.startswith("while") else FEW)
    # A transaction for each hundred lines: the kill strikes among commits.
    config = java_source(batch_size="100")
    strike(config, hosting_worker, tmp_path / "job", step, victim)
    numbered.append(100)
    assert run_hosted(config).complete
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


@each_step
def test_a_sink_misses_nothing(
    step: str,
    victim: str,
    bootstrap: str,
    topic: Callable[..., str],
    java_sink: Config,
    hosting_worker: dict[str, str],
    run_hosted: Run,
    tmp_path: Path,
) -> None:
    source = topic(partitions=2)
    count = MANY if step.startswith("while") else FEW
    expected = [f"record-{n}" for n in range(count + 100)]
    produce(bootstrap, source, expected[:count])
    config = java_sink(source, **{"consumer.override.max.poll.records": "100"})
    strike(config, hosting_worker, tmp_path / "job", step, victim)
    produce(bootstrap, source, expected[count:])
    report = run_hosted(config)
    assert (report.complete, report.lag_max) == (True, 0)
    # What was written and not committed is written again, at most once: there was one kill.
    found: list[bytes | None] = [*(tmp_path / "out.txt").read_bytes().splitlines()]
    missing, doubled = missing_and_doubled([text.encode() for text in expected], found)
    assert missing == set()
    assert len(doubled) <= len(expected)


def strike(config: dict[str, str], worker: dict[str, str], folder: Path, step: str, victim: str) -> None:
    """Run a job and kill a part of it at a step. Nothing of it remains, and a job that survived says what happened."""
    point = "before-stop" if step == "while-stopping" else step
    keys = {**worker, "connector.client.config.override.policy": "All"}
    job = start_job(config, keys, folder, failpoint=point, direct=True)
    job.wait_for_failpoint(300)
    tree = job.tree()
    targets = {"driver": [job.driver()], "JVM": hosted_jvms(job)}.get(victim, tree)
    assert targets, job.text()
    if step == "while-stopping":
        # The commit has no point of its own: it follows within the next tenths of a second.
        job.reached.unlink()
        time.sleep(0.1)
    kill_all(targets)
    job.reached.unlink(missing_ok=True)
    code = job.wait(120)
    assert wait_gone(tree) == []
    if step == "while-stopping" and code == 0:
        return  # it was faster
    if victim == "JVM":
        assert code == 3, job.text()
        message = job.event("error")["message"]
        assert message.startswith(f"connector {config['name']}: ")
        assert "Java was ended by SIGKILL" in message
    else:
        assert code != 0
