"""Whether jobs load pandas and PySpark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.runtime.conftest import NEEDS_SPARK, Jobs, Source
from tests.support import unique
from tests.support.imports import TELL_IMPORTS, has_loaded_pandas, imported
from tests.support.kafka import produce

pytestmark = pytest.mark.spark_submit

_TRANSFORM = "org.acme.Same"
_ENTRY_POINTS = f"[airflow_kconnect.transforms]\n{_TRANSFORM} = acme_transform:Same\n"
_JSON = '{"schema":{"type":"string"},"payload":"record-%d"}'
_MODULE = "from airflow_kconnect.transforms.smt.filter import Filter as Same\n"


@pytest.fixture
def transform_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The keys of a transformation that another package has installed."""
    folder = tmp_path / "site"
    (folder / "acme_transform-1.0.dist-info").mkdir(parents=True)
    (folder / "acme_transform-1.0.dist-info" / "entry_points.txt").write_text(_ENTRY_POINTS)
    (folder / "acme_transform-1.0.dist-info" / "METADATA").write_text("Name: acme-transform\nVersion: 1.0\n")
    (folder / "acme_transform.py").write_text(_MODULE)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    predicate = {
        "predicates": "never",
        "predicates.never.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
    }
    return {**predicate, "transforms": "same", "transforms.same.type": _TRANSFORM, "transforms.same.predicate": "never"}


def test_a_worker_that_may_run_code_of_others_has_pandas(
    file_source: Source, transform_of_others: dict[str, str], jobs: Jobs
) -> None:
    config = file_source(**{**NEEDS_SPARK, **transform_of_others})
    Path(config["file"]).write_text("one\n")
    job = jobs.start(config, failpoint="after-last-produce")
    job.wait_for_failpoint()
    assert {has_loaded_pandas(process) for process in job.workers()} == {True}
    job.reached.unlink()
    assert job.wait() == 0, job.text()


@pytest.mark.parametrize(
    "keys",
    [
        {"connector.class": "DirectorySink", "directory": "{folder}/out", "format": "parquet"},
        *(
            pytest.param(keys, marks=pytest.mark.exhaustive)
            for keys in (
                {"connector.class": "FileStreamSink", "file": "{folder}/lines.txt"},
                {"connector.class": "DirectorySink", "directory": "{folder}/out", "format": "json"},
                {"connector.class": "DirectorySink", "directory": "{folder}/out", "format": "avro"},
            )
        ),
    ],
    ids=lambda keys: keys.get("format", keys["connector.class"]),
)
def test_a_sink_without_spark_loads_neither_pandas_nor_pyspark(
    keys: dict[str, str],
    topic: Callable[..., str],
    bootstrap: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: Jobs,
) -> None:
    monkeypatch.setenv(TELL_IMPORTS, "1")
    produce(bootstrap, name := topic(), [_JSON % n for n in range(100)])
    config = {"name": unique("sink"), "topics": name, "value.converter": "org.apache.kafka.connect.json.JsonConverter"}
    config |= {key: text.format(folder=tmp_path) for key, text in keys.items()}
    job = jobs.start(config)
    assert job.wait() == 0, job.text()
    assert job.report()["records"]["written"] == 100
    assert not {"pandas.core.frame", "pyspark.sql.types"} & set(imported(job.text()))
