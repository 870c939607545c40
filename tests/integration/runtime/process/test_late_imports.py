"""Whether jobs load pandas and PySpark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.integration.runtime.conftest import NEEDS_SPARK
from tests.support import unique
from tests.support.imports import TELL_IMPORTS, imported
from tests.support.kafka import produce
from tests.support.spark.jobs import start_job

pytestmark = pytest.mark.spark_submit

_TRANSFORM = "org.acme.Same"
_ENTRY_POINTS = f"[airflow_kconnect.transforms]\n{_TRANSFORM} = acme_transform:Same\n"
_JSON = '{"schema":{"type":"string"},"payload":"record-%d"}'
_MODULE = "from airflow_kconnect.transforms.smt.filter import Filter as Same\n"


@pytest.fixture
def config(file_source: Callable[..., dict[str, str]]) -> dict[str, str]:
    found = file_source(**NEEDS_SPARK)
    Path(found["file"]).write_text("one\n")
    return found


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


def _with_pandas(config: dict[str, str], worker_props: dict[str, str], folder: Path) -> dict[str, set[bool]]:
    """Whether the Python processes of a job have loaded pandas while it writes: the driver and the workers."""
    job = start_job(config, worker_props, folder, failpoint="after-last-produce")
    job.wait_for_failpoint()
    workers = {_has_loaded_pandas(process) for process in job.workers()}
    found = {"driver": {_has_loaded_pandas(job.driver())}, "workers": workers}
    job.reached.unlink()
    assert job.wait() == 0, job.text()
    return found


def _has_loaded_pandas(process: psutil.Process) -> bool:
    return "/pandas/" in Path(f"/proc/{process.pid}/maps").read_text()


def test_a_job_without_classes_of_others_loads_no_pandas(
    config: dict[str, str], worker_props: dict[str, str], tmp_path: Path
) -> None:
    assert _with_pandas(config, worker_props, tmp_path / "job") == {"driver": {False}, "workers": {False}}


def test_a_worker_that_may_run_code_of_others_has_pandas(
    config: dict[str, str], transform_of_others: dict[str, str], worker_props: dict[str, str], tmp_path: Path
) -> None:
    loaded = _with_pandas({**config, **transform_of_others}, worker_props, tmp_path / "job")
    assert loaded["workers"] == {True}


@pytest.mark.parametrize(
    "keys",
    [
        {"connector.class": "FileStreamSink", "file": "{folder}/lines.txt"},
        {"connector.class": "DirectorySink", "directory": "{folder}/out"},
        {"connector.class": "DirectorySink", "directory": "{folder}/out", "format": "parquet"},
        {"connector.class": "DirectorySink", "directory": "{folder}/out", "format": "avro"},
    ],
    ids=lambda keys: keys.get("format", keys["connector.class"]),
)
def test_a_sink_without_spark_loads_neither_pandas_nor_pyspark(
    keys: dict[str, str],
    topic: Callable[..., str],
    bootstrap: str,
    worker_props: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TELL_IMPORTS, "1")
    produce(bootstrap, name := topic(), [_JSON % n for n in range(100)])
    config = {"name": unique("sink"), "topics": name, "value.converter": "org.apache.kafka.connect.json.JsonConverter"}
    config |= {key: text.format(folder=tmp_path) for key, text in keys.items()}
    job = start_job(config, worker_props, tmp_path / "job")
    assert job.wait() == 0, job.text()
    assert job.report()["records"]["written"] == 100
    assert not {"pandas.core.frame", "pyspark.sql.types"} & set(imported(job.text()))
