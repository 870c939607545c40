"""How often the processes of a job import the library of their store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.runtime.conftest import NEEDS_SPARK, STRING, Jobs
from tests.support import unique
from tests.support.imports import TELL_IMPORTS, imported
from tests.support.kafka import produce
from tests.support.stores import Store

pytestmark = pytest.mark.spark_submit


@pytest.mark.parametrize(
    ("keys", "imports"),
    [
        pytest.param({}, 1, id="without-spark"),
        # By the driver, and by the parent of Spark's workers.
        pytest.param(NEEDS_SPARK, 2, id="with-spark", marks=pytest.mark.exhaustive),
    ],
)
def test_workers_share_the_library_of_the_process_that_they_are_forked_from(
    keys: dict[str, str],
    imports: int,
    topic: Callable[..., str],
    bootstrap: str,
    s3: Store,
    monkeypatch: pytest.MonkeyPatch,
    jobs: Jobs,
) -> None:
    monkeypatch.setenv(TELL_IMPORTS, "1")
    produce(bootstrap, name := topic(partitions=2), [f"record-{n}" for n in range(100)])
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "topics": name,
        "directory": f"{s3.address}/{unique('lake')}",
        "value.converter": STRING,
        **s3.settings,
        **keys,
    }
    job = jobs.start(config)
    assert job.wait() == 0, job.text()
    assert job.report()["records"]["written"] == 100
    assert imported(job.text())["botocore.session"] == imports
