"""What happens to files that were read: nothing before their offsets are committed, and never of another version."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.source import SourcePlan
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.places import local
from tests.unit.connectors.record_files.conftest import Runs, names_below


def move(runs: Runs, **keys: str) -> dict[str, Any]:
    return {"cleanup_policy": "MOVE", "finished_path": str(runs.folder / "done"), **keys}


def bad_apart(runs: Runs) -> dict[str, Any]:
    """Keys for which a file with a text as `a` is moved to the folder `bad`."""
    return {"errors_tolerance": "all", "schema_types": "a:int64", "error_path": str(runs.folder / "bad")}


def test_files_stay_where_they_are_by_default(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.read()
    assert names_below(runs.folder) == ["a.csv"]


def test_files_that_were_read_are_moved_with_their_folders(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.put("b/c.csv", "a\n2\n")
    assert runs.read(**move(runs)) == [{"a": 1}, {"a": 2}]
    assert names_below(runs.folder) == ["done/a.csv", "done/b/c.csv"]
    assert runs.read(**move(runs)) == []


def test_files_are_moved_into_folders_by_the_day_of_their_last_change(runs: Runs) -> None:
    os.utime(runs.put("a.csv", "a\n1\n"), (1_700_000_000, 1_700_000_000))
    runs.read(**move(runs, cleanup_policy="MOVEBYDATE"))
    assert names_below(runs.folder) == ["done/2023-11-14/a.csv"]


def test_files_that_were_read_are_removed(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    assert runs.read(cleanup_policy="DELETE") == [{"a": 1}]
    assert names_below(runs.folder) == []


def test_a_file_that_was_not_read_to_its_end_stays(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n2\n3\n")
    runs.read(most=2, **move(runs))
    assert names_below(runs.folder) == ["a.csv"]
    assert runs.read(**move(runs)) == [{"a": 3}]
    assert names_below(runs.folder) == ["done/a.csv"]


def test_what_a_killed_run_has_left_is_moved_by_the_next_one(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.read(tidied=False, **move(runs))
    assert names_below(runs.folder) == ["a.csv"]
    assert runs.read(**move(runs)) == []
    assert names_below(runs.folder) == ["done/a.csv"]


def test_a_run_begins_for_what_a_killed_one_has_left(runs: Runs) -> None:
    keys: dict[str, Any] = {"cleanup.policy": "DELETE"}
    runs.put("a.csv", "a\n1\n")
    runs.read(tidied=False, **keys)
    assert runs.connector(**keys).nothing_new(runs.context()) is None
    runs.read(**keys)
    assert runs.connector(**keys).nothing_new(runs.context()) == SourcePlan(())


def test_a_file_that_was_changed_after_it_was_read_stays(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.read(before_tidying=lambda: runs.put("a.csv", "a\n1\n2\n"), **move(runs))
    assert (runs.folder / "a.csv").read_text() == "a\n1\n2\n"
    runs.put("b.csv", "a\n1\n")
    runs.read(before_tidying=lambda: runs.put("b.csv", "a\n3\n"), cleanup_policy="DELETE", input_file_pattern="b.*")
    assert (runs.folder / "b.csv").read_text() == "a\n3\n"


@pytest.mark.parametrize("policy", ["MOVE", "DELETE"])
def test_names_may_be_as_long_as_file_systems_allow(runs: Runs, policy: str) -> None:
    name = f"{'ж' * 125}.txt"
    runs.put(name, "1\n")
    target: dict[str, Any] = {"finished_path": str(runs.folder / "done")} if policy == "MOVE" else {}
    assert runs.read(cleanup_policy=policy, **target) == ["1"]
    assert names_below(runs.folder) == ([f"done/{name}"] if policy == "MOVE" else [])


@pytest.mark.parametrize("policy", ["MOVE", "DELETE"])
def test_a_file_that_has_grown_within_a_tick_of_the_clock_stays(runs: Runs, policy: str) -> None:
    path = runs.put("a.txt", "1\n")
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)

    def grow() -> None:
        path.write_text("1\n2\n")
        os.utime(path, ns=times)

    target: dict[str, Any] = {"finished_path": str(runs.folder / "done")} if policy == "MOVE" else {}
    assert runs.read(before_tidying=grow, cleanup_policy=policy, **target) == ["1"]
    assert path.read_text() == "1\n2\n"


def test_a_file_that_is_moved_away_meanwhile_is_not_an_error(runs: Runs) -> None:
    path = runs.put("a.csv", "a\n1\n")
    runs.read(before_tidying=path.unlink, **move(runs))
    assert names_below(runs.folder) == []


def test_a_name_can_be_used_again_since_offsets_of_moved_files_are_forgotten(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.read(**move(runs))
    assert runs.offsets == {}
    runs.put("a.csv", "a\n2\n")
    assert runs.read(**move(runs)) == [{"a": 2}]


@pytest.mark.parametrize("policy", ["MOVE", "DELETE"])
def test_offsets_of_files_that_a_killed_run_had_moved_are_forgotten_by_the_next_one(runs: Runs, policy: str) -> None:
    keys = move(runs) if policy == "MOVE" else {"cleanup_policy": "DELETE"}
    path = runs.put("a.csv", "a\n1\n")
    runs.read(tidied=False, **keys)
    path.unlink()
    connector = runs.connector(**{key.replace("_", "."): value for key, value in keys.items()})
    assert connector.nothing_new(runs.context()) is None
    runs.read(**keys)
    runs.put("a.csv", "a\n2\n")
    assert runs.read(**keys) == [{"a": 2}]


def test_offsets_of_files_that_are_gone_stay_where_files_stay(runs: Runs) -> None:
    path = runs.put("a.csv", "a\n1\n")
    runs.read()
    path.unlink()
    runs.read()
    assert list(runs.offsets) == ['{"file":"a.csv"}']


def test_nothing_in_the_target_is_overwritten(runs: Runs) -> None:
    for n in range(3):
        runs.put("a.csv.gz", f"a\n{n}\n")
        runs.read(compression="none", format="csv", **move(runs))
    found = sorted((runs.folder / "done").iterdir())
    assert sorted(path.read_text() for path in found) == ["a\n0\n", "a\n1\n", "a\n2\n"]
    assert all(path.name.startswith("a.") and path.name.endswith(".csv.gz") for path in found)


def test_types_of_columns_outlive_the_files_that_had_them(runs: Runs) -> None:
    runs.put("a.csv", "id,zip\n1,0x\n")
    runs.read(**move(runs))
    runs.put("b.csv", "id,zip\n2,123\n")
    assert runs.read(**move(runs)) == [{"id": 2, "zip": "123"}]
    runs.put("c.csv", "zip\n7\n")
    assert runs.read(**move(runs)) == [{"zip": "7"}]
    assert len(runs.facts) == 1


def test_files_with_bad_records_have_a_folder_of_their_own(runs: Runs) -> None:
    keys = bad_apart(runs)
    runs.put("a.csv", "a\n1\n")
    runs.put("b.csv", "a\nx\n")
    runs.put("c.parquet", "no parquet")
    runs.read(**keys)
    assert names_below(runs.folder) == ["a.csv", "bad/b.csv", "bad/c.parquet"]
    runs.put("d.csv", "a\nx\n")
    runs.read(**move(runs, **keys))
    assert names_below(runs.folder) == ["bad/b.csv", "bad/c.parquet", "bad/d.csv", "done/a.csv"]


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv.gz", gzip.compress(b"a\n1\n", mtime=0)[:-6]), ("a.csv", b"a\n1\n2,3\n")]
)
def test_what_was_not_read_of_a_file_is_not_removed(runs: Runs, name: str, content: bytes) -> None:
    runs.put(name, content)
    keys: dict[str, Any] = {"errors_tolerance": "all", "cleanup_policy": "DELETE"}
    runs.read(**keys)
    runs.read(**keys)
    assert (names_below(runs.folder), len(runs.errors)) == ([name], 1)


def test_bad_records_of_earlier_runs_count(runs: Runs) -> None:
    keys = bad_apart(runs)
    runs.put("a.csv", "a\nx\n1\n2\n")
    runs.read(most=2, **keys)
    runs.read(**keys)
    assert names_below(runs.folder) == ["bad/a.csv"]


def test_of_a_link_the_file_is_kept_and_the_link_is_removed(runs: Runs) -> None:
    root = runs.folder
    runs.put("other/a.csv", "a\n1\n")
    runs.folder /= "in"
    runs.folder.mkdir()
    (runs.folder / "a.csv").symlink_to("../other/a.csv")
    assert runs.read(**move(runs, finished_path=str(root / "far/away"))) == [{"a": 1}]
    assert (names_below(root), runs.warnings) == (["far/away/a.csv", "other/a.csv"], [])
    assert (root / "far/away/a.csv").read_text() == "a\n1\n"


def test_another_file_system_gets_copies(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", no_link)
    runs.put("a.csv", "a\n1\n")
    runs.read(**move(runs))
    assert names_below(runs.folder) == ["done/a.csv"]


def test_a_copy_of_a_killed_run_is_not_made_twice(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(local.LocalPlace, "remove", lambda *_: False)
        runs.put("a.csv", "a\n1\n")
        runs.read(**move(runs))
    assert names_below(runs.folder) == ["a.csv", "done/a.csv"]
    runs.read(**move(runs))
    assert names_below(runs.folder) == ["done/a.csv"]


def test_a_full_disk_is_a_warning_and_the_next_run_tries_again(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", full)
        runs.put("a.csv", "a\n1\n")
        assert runs.read(**move(runs)) == [{"a": 1}]
    assert "1 files that were read could not be moved or removed; the next run tries again" in runs.warnings[0]
    assert runs.read(**move(runs)) == []
    assert names_below(runs.folder) == ["done/a.csv"]


def test_a_file_that_takes_the_name_while_it_is_removed_stays(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename
    path = runs.put("a.csv", "a\n1\n")

    def replaced(self: Path, target: Path) -> Path:
        if self == path:
            runs.put("b.csv", "a\n2\n").replace(path)
            monkeypatch.setattr(Path, "rename", rename)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", replaced)
    runs.read(cleanup_policy="DELETE")
    assert path.read_text() == "a\n2\n"


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"cleanup.policy": "MOVE"}, "finished.path"),
        ({"finished.path": "/done"}, "finished.path"),
        ({"cleanup.policy": "MOVE", "finished.path": "/in"}, "finished.path"),
        ({"cleanup.policy": "MOVE", "finished.path": "/"}, "finished.path"),
        ({"cleanup.policy": "MOVE", "finished.path": "s3://bucket/done"}, "finished.path"),
        ({"error.path": "/in"}, "error.path"),
    ],
)
def test_folders_that_cannot_be_are_refused(keys: dict[str, str], wrong: str) -> None:
    assert list(FilesSourceConnector.validate({"directory": "/in", **keys})) == [wrong]


@pytest.mark.parametrize("path", ["/in/done", "/done", "/inside"])
def test_folders_elsewhere_and_below_are_allowed(path: str) -> None:
    props = {"directory": "/in", "cleanup.policy": "MOVE", "finished.path": path, "error.path": f"{path}/bad"}
    assert FilesSourceConnector.validate(props) == {}


@pytest.mark.parametrize("target", ["link/in", "link", "in/../in"])
def test_folders_that_are_or_hold_the_directory_by_a_link_are_found_before_the_run(runs: Runs, target: str) -> None:
    root, runs.folder = runs.folder, runs.folder / "in"
    runs.folder.mkdir()
    (root / "link").symlink_to(root)
    with pytest.raises(ConfigError) as error:
        runs.connector(**{"cleanup.policy": "MOVE", "finished.path": f"{root}/{target}"}).check()
    assert list(error.value.errors) == ["finished.path"]


def test_what_was_moved_below_the_directory_by_way_of_a_link_is_not_read_again(runs: Runs) -> None:
    root, runs.folder = runs.folder, runs.folder / "in"
    (root / "link").symlink_to(root)
    runs.put("a.csv", "a\n1\n")
    target = str(root / "link/in/done")
    assert runs.read(**move(runs, finished_path=target)) == [{"a": 1}]
    assert runs.read(**move(runs, finished_path=target)) == []
    assert names_below(runs.folder) == ["done/a.csv"]


def test_a_target_that_cannot_be_written_is_found_before_the_run(runs: Runs) -> None:
    blocked = runs.put("file", "x")
    keys = {"cleanup.policy": "MOVE", "finished.path": f"{blocked}/done"}
    with pytest.raises(ConfigError) as error:
        runs.connector(**keys).check()
    assert list(error.value.errors) == ["finished.path"]
