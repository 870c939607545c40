"""Files with records into Kafka, from a folder and from S3: each record once, also when runs are killed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.places.base import Place
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.runs.events import EXIT_FENCED
from tests.integration.runtime.conftest import NEEDS_SPARK, Jobs, Run
from tests.support import unique
from tests.support.kafka import read_values
from tests.support.stores import Store, moto_store

_JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


@pytest.fixture(scope="module", params=["file", pytest.param("s3", marks=pytest.mark.exhaustive)])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    if request.param == "file":
        yield Store(str(tmp_path_factory.mktemp("files")), {})
    else:
        with moto_store() as made:
            yield made


class Folder:
    """Files of a test, and a connector that reads them."""

    def __init__(self, store: Store) -> None:
        self.address = f"{store.address}/{unique('in')}"
        self._store, self.name = store, unique("files")
        self.place: Place = open_place(self.address, store.settings)

    def config(self, **more: str) -> dict[str, str]:
        """Of the connector."""
        own = {
            "name": self.name,
            "connector.class": "FilesSource",
            "directory": self.address,
            "topic": f"t-{self.name}",
        }
        return {**own, **self._store.settings, **_JSON, **more}

    def put(self, name: str, content: bytes) -> None:
        """Write a file."""
        staging = self.place.stage(name)
        staging.write(content)
        self.place.publish(staging.finish())

    def put_parquet(self, name: str, table: pa.Table) -> None:
        """Write a file of Parquet with small row groups."""
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, row_group_size=1000)
        self.put(name, sink.getvalue().to_pybytes())


@pytest.fixture
def folder(store: Store) -> Folder:
    return Folder(store)


def records(bootstrap: str, folder: Folder) -> list[dict[str, object]]:
    return [json.loads(value or b"null") for value in read_values(bootstrap, f"t-{folder.name}")]


@pytest.mark.parametrize("store", ["file", "s3"], indirect=True, scope="module")
def test_each_file_is_read_once(folder: Folder, run_here: Run, bootstrap: str) -> None:
    folder.put("a.csv", b"id,name\n1,x\n2,y\n")
    folder.put_parquet("b.parquet", pa.table({"id": [3], "price": [2.5]}))
    report = run_here(folder.config())
    assert (report.records["written"], report.guarantee) == (3, "exactly_once")
    folder.put("c/d.csv", b"id,name\n4,z\n")
    assert run_here(folder.config()).records["written"] == 1
    assert run_here(folder.config()).records["written"] == 0
    found = sorted(records(bootstrap, folder), key=lambda each: str(each["id"]))
    assert found == [
        {"id": 1, "name": "x"},
        {"id": 2, "name": "y"},
        {"id": 3, "price": 2.5},
        {"id": 4, "name": "z"},
    ]


def test_a_run_reads_all_files_however_many_plans_they_take(
    folder: Folder, run_here: Run, bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_kconnect.connectors.record_files.source._PLAN_BYTES", 500)
    for n in range(8):
        folder.put(f"{n}.csv", b"id\n%d\n" % n)
    report = run_here(folder.config())
    assert (report.records["written"], report.incomplete, report.notes) == (8, [], {})
    assert sorted(int(str(each["id"])) for each in records(bootstrap, folder)) == list(range(8))


def test_bad_rows_are_dead_letters_with_file_and_row(folder: Folder, run_here: Run, bootstrap: str) -> None:
    folder.put("a.csv", b"id,name\n1,x\n2\n3,y\n")
    folder.put("b.json", b'{"id":4}\n{"id":\n')
    letters = f"dlq-{folder.name}"
    report = run_here(
        folder.config(
            **{"errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters, "schema.types": "id:int64"},
            **{"errors.deadletterqueue.topic.replication.factor": "1"},
        )
    )
    assert (report.records["written"], report.records["dead_lettered"]) == (3, 2)
    assert len(read_values(bootstrap, letters)) == 2


def test_a_bad_row_ends_a_run_that_does_not_tolerate_it(folder: Folder, run_here: Run) -> None:
    folder.put("a.csv", b"id,name\n1,x\n2\n")
    with pytest.raises(DataError, match=r"/a\.csv, row 2: has 1 values, expected 2"):
        run_here(folder.config())


@pytest.mark.exhaustive  # a source of lines: `test_failures.py`; after its commit: below
@pytest.mark.parametrize(
    "point",
    [
        "before-fencing",
        "after-reading-offsets",
        "mid-produce",
        "after-last-produce",
        "before-final-commit",
        "after-final-commit",
    ],
)
def test_a_killed_run_loses_and_doubles_nothing(
    point: str, folder: Folder, run_here: Run, bootstrap: str, jobs: Jobs
) -> None:
    folder.put("a.csv", b"id\n" + b"".join(b"%d\n" % n for n in range(5000)))
    folder.put_parquet("b.parquet", pa.table({"id": range(5000, 10_000)}))
    config = folder.config(**{"split.bytes": "5000"})
    job = jobs.start(config, failpoint=point, action="block")
    job.wait_for_failpoint()
    job.kill()
    job.close()
    assert job.process.returncode == -signal.SIGKILL
    run_here(config)
    assert sorted(int(str(each["id"])) for each in records(bootstrap, folder)) == list(range(10_000))


@pytest.mark.exhaustive
@pytest.mark.parametrize("point", ["after-reading-offsets", "mid-produce", "before-final-commit"])
def test_of_two_runs_at_once_the_older_is_fenced(
    point: str, folder: Folder, run_here: Run, bootstrap: str, jobs: Jobs
) -> None:
    """A file more is there when the newer one begins."""
    folder.put("a.csv", b"id\n" + b"".join(b"%d\n" % n for n in range(5000)))

    def newer() -> None:
        folder.put_parquet("b.parquet", pa.table({"id": range(5000, 10_000)}))
        run_here(folder.config())

    assert jobs.overtaken_at(point, folder.config(), newer) == EXIT_FENCED
    assert sorted(int(str(each["id"])) for each in records(bootstrap, folder)) == list(range(10_000))


def test_transformations_get_structs(folder: Folder, run_here: Run, bootstrap: str) -> None:
    folder.put("a.csv", b"id,name\n1,x\n")
    folder.put("b.json", b'{"id":2}\n')
    run_here(folder.config(**NEEDS_SPARK))
    assert sorted(str(each["id"]) for each in records(bootstrap, folder)) == ["1", "2"]


@pytest.mark.parametrize("keys", [{}, NEEDS_SPARK], ids=["arrow", "spark"])
def test_objects_without_schema_stay_what_they_are(
    keys: dict[str, str], folder: Folder, run_here: Run, bootstrap: str
) -> None:
    folder.put("a.json", b'{"a":1}\n{"b":[null,"x"]}\n')
    run_here(folder.config(**keys, **{"schema.inference": "none"}))
    assert records(bootstrap, folder) == [{"a": 1}, {"b": [None, "x"]}]


@pytest.mark.parametrize(
    ("point", "moved"), [("after-final-commit", 3), pytest.param("before-forgetting", 1, marks=pytest.mark.exhaustive)]
)
def test_a_run_that_is_killed_after_its_commit_leaves_files_to_the_next_one(
    point: str, moved: int, folder: Folder, run_here: Run, bootstrap: str, jobs: Jobs
) -> None:
    folder.put("a.csv", b"id\n1\n")
    folder.put("b/c.csv", b"id\n2\n")
    config = folder.config(**_moving(folder))
    jobs.killed_at(point, config)
    folder.put("d.csv", b"id\n3\n")
    assert run_here(config).notes["moved_files"] == moved
    assert [file.name for file in folder.place.files()] == ["done/a.csv", "done/b/c.csv", "done/d.csv"]
    assert sorted(str(each["id"]) for each in records(bootstrap, folder)) == ["1", "2", "3"]


def test_a_run_that_is_overtaken_after_its_commit_takes_no_file_away_from_its_successor(
    folder: Folder, run_here: Run, bootstrap: str, jobs: Jobs
) -> None:
    folder.put("a.csv", b"id\n1\n")
    config = folder.config(**_moving(folder))

    def newer() -> None:
        assert run_here(config).notes["moved_files"] == 1
        folder.put("a.csv", b"id\n22\n")

    assert jobs.overtaken_at("after-final-commit", config, newer) == 0
    assert run_here(config).records["written"] == 1
    assert sorted(str(each["id"]) for each in records(bootstrap, folder)) == ["1", "22"]
    assert len([file.name for file in folder.place.files("done/")]) == 2


def _moving(folder: Folder) -> dict[str, str]:
    return {"cleanup.policy": "MOVE", "finished.path": f"{folder.address}/done"}
