"""The folder through which a worker and a job exchange files; here it is one of this machine."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.services.staging import Staging
from tests.support.kafka import eventually


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    return Staging.of(str(tmp_path / "staging"), None)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (file := tmp_path / "spec.json").write_text("{}")
    return file


def _names(tmp_path: Path) -> list[str]:
    folder = tmp_path / "staging"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _age(tmp_path: Path, run: str, name: str = "run.json", hours: float = 25) -> None:
    before = time.time() - hours * 3600
    os.utime(tmp_path / "staging" / "runs" / run / name, (before, before))


def test_a_file_for_all_jobs_is_put_there_once(staging: Staging, spec: Path, tmp_path: Path) -> None:
    address = staging.library(spec)
    first = Path(address.removeprefix("file://")).stat().st_ino
    assert staging.library(spec) == address
    assert Path(address.removeprefix("file://")).stat().st_ino == first


@pytest.mark.parametrize(("folder", "address"), [("/data/k", "file:///data/k"), ("s3a://bucket/k/", "s3a://bucket/k")])
def test_a_job_finds_a_mailbox_by_the_scheme_that_was_written(folder: str, address: str) -> None:
    assert Staging.of(folder, None).mailbox("1") == f"{address}/runs/1"


def test_files_of_one_name_with_other_contents_have_other_addresses(staging: Staging, spec: Path) -> None:
    before = staging.library(spec)
    spec.write_text("[]")
    assert staging.library(spec) != before


def test_only_their_owner_enters_a_mailbox_on_this_machine(staging: Staging, spec: Path, tmp_path: Path) -> None:
    staging.put_run_spec("1", spec)
    assert (tmp_path / "staging" / "runs" / "1").stat().st_mode & 0o077 == 0


def test_the_end_is_what_the_job_has_left(staging: Staging, spec: Path, tmp_path: Path) -> None:
    staging.put_run_spec("1", spec)
    (tmp_path / "staging" / "runs" / "1" / "end.jsonl").write_text("line\n")
    assert staging.end_of("1") == "line\n"


def test_a_job_that_has_said_nothing_has_an_empty_end(staging: Staging, spec: Path) -> None:
    staging.put_run_spec("1", spec)
    assert staging.end_of("1") == ""


def test_a_mailbox_is_cleared_without_those_of_others(staging: Staging, spec: Path, tmp_path: Path) -> None:
    for run in ("1", "10"):
        staging.put_run_spec(run, spec)
    staging.clear("1")
    assert _names(tmp_path) == ["runs/10/run.json"]


def test_what_a_killed_worker_has_left_is_removed_after_a_day(staging: Staging, spec: Path, tmp_path: Path) -> None:
    for run in ("old", "new"):
        staging.put_run_spec(run, spec)
    _age(tmp_path, "old")
    staging.put_run_spec("third", spec)
    assert _names(tmp_path) == ["runs/new/run.json", "runs/third/run.json"]


@pytest.mark.parametrize(("days", "is_there"), [(6.9, True), (7.1, False)])
def test_an_end_for_which_nothing_has_waited_is_kept_for_a_week(
    staging: Staging, spec: Path, tmp_path: Path, days: float, is_there: bool
) -> None:
    staging.put_run_spec("ended", spec)
    (mailbox := tmp_path / "staging" / "runs" / "ended").joinpath("run.json").rename(mailbox / "end.jsonl")
    _age(tmp_path, "ended", "end.jsonl", days * 24)
    staging.put_run_spec("other", spec)
    assert ("runs/ended/end.jsonl" in _names(tmp_path)) is is_there


def test_a_job_that_is_waited_for_has_its_run_spec_however_long_it_is_queued(
    staging: Staging, spec: Path, tmp_path: Path
) -> None:
    staging.put_run_spec("queued", spec)
    _age(tmp_path, "queued")
    staging.keep("queued")
    staging.put_run_spec("other", spec)
    assert "runs/queued/run.json" in _names(tmp_path)
    staging.clear("queued")
    assert _names(tmp_path) == ["runs/other/run.json"]


def test_a_mailbox_is_kept_as_long_as_a_block_takes(
    staging: Staging, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_kconnect.hooks.services.staging.KEEP_S", 0.01)
    staging.put_run_spec("queued", spec)
    with staging.keeping("queued"):
        both = ["runs/queued/run.json", "runs/queued/waited-for"]
        assert eventually(lambda: _names(tmp_path), both) == both
    staging.clear("queued")
    time.sleep(0.1)
    assert _names(tmp_path) == []


def test_no_empty_folders_are_left(staging: Staging, spec: Path, tmp_path: Path) -> None:
    """Each run would look into all of them."""
    for run in ("taken", "cleared", "left"):
        staging.put_run_spec(run, spec)
    (runs := tmp_path / "staging" / "runs").joinpath("taken", "run.json").unlink()
    _age(tmp_path, "left")
    staging.clear("taken")
    staging.clear("cleared")
    staging.put_run_spec("new", spec)
    assert [path.name for path in runs.iterdir()] == ["new"]


def test_an_address_that_is_none_is_an_error_of_the_connection() -> None:
    with pytest.raises(ConfigError, match=r"`spark_conn_id`: its staging folder kconnect: must be the absolute path"):
        Staging.of("kconnect", None)


def test_a_login_that_does_not_exist_is_an_error_of_the_connection() -> None:
    with pytest.raises(ConfigError, match=r"`spark_conn_id`: its staging folder .* `nobody`, which does not exist"):
        Staging.of("s3://bucket/kconnect", "nobody")
