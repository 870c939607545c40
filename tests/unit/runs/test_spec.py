"""Run specs: what goes into a job."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.spec import RunSpec, run_spec_file

SPEC = RunSpec(config={"name": "fs", "file": "/data/ü"}, worker={"group.id": "g"}, kind="source", run_id="run-1")

EMPTY = json.dumps({"config": {}, "worker": {}})


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As on a cluster, where Spark puts a copy of the file into the folder in which the driver runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spec_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "run.json"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        RunSpec.read(path)
    return caught.value.errors["--run"][0]


class TestRunSpec:
    def test_a_written_spec_is_read_back_equal(self) -> None:
        with run_spec_file(SPEC) as path:
            assert RunSpec.read(path) == SPEC

    def test_its_repr_has_no_values_of_variables(self) -> None:
        assert "hunter2" not in repr(RunSpec({}, {}, variables={"airflow:db:password": "hunter2"}))

    def test_only_its_owner_can_enter_the_folder_whatever_the_umask(self) -> None:
        before = os.umask(0)
        try:
            with run_spec_file(SPEC) as path:
                modes = [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path)]
        finally:
            os.umask(before)
        assert modes == [0o700, 0o600]

    def test_the_folder_is_gone_with_what_others_have_put_there(self) -> None:
        with run_spec_file(SPEC) as path:
            path.with_name(".a.sock").touch()
        assert not path.parent.exists()

    def test_the_file_is_gone_after_an_error_in_the_block(self) -> None:
        with pytest.raises(RuntimeError), run_spec_file(SPEC) as path:
            raise RuntimeError
        assert not path.exists()

    def test_a_file_that_the_block_removed_is_not_an_error(self) -> None:
        with run_spec_file(SPEC) as path:
            path.unlink()

    @pytest.mark.parametrize("mode", [0o600, 0o400, 0o700], ids=oct)
    def test_a_file_of_its_owner_is_read(self, tmp_path: Path, mode: int) -> None:
        assert RunSpec.read(spec_file(tmp_path, EMPTY, mode)) == RunSpec(config={}, worker={})

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o610, 0o620, 0o602, 0o777], ids=oct)
    def test_a_file_that_is_open_to_others_is_refused(self, tmp_path: Path, mode: int) -> None:
        path = spec_file(tmp_path, EMPTY, mode)
        assert refusal(path) == f"{path} is open to other users (mode {mode:o}): chmod 600 it"

    @pytest.mark.parametrize("mode", [0o644, 0o640, 0o555, 0o600], ids=oct)
    def test_the_copy_that_spark_has_made_is_closed_to_others(self, working_folder: Path, mode: int) -> None:
        path = spec_file(working_folder, EMPTY, mode)
        assert RunSpec.read(Path(path.name)) == RunSpec(config={}, worker={})
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o777], ids=oct)
    def test_a_copy_that_others_may_write_is_refused(self, working_folder: Path, mode: int) -> None:
        path = Path(spec_file(working_folder, EMPTY, mode).name)
        assert refusal(path) == f"run.json may be written by others (mode {mode:o}): chmod 600 it"

    def test_a_copy_that_cannot_be_closed_is_refused(
        self, working_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(path: Path, mode: int) -> None:
            raise PermissionError(1, "Operation not permitted")

        spec_file(working_folder, EMPTY, 0o644)
        monkeypatch.setattr(Path, "chmod", refuse)
        why = "is open to other users (mode 644) and cannot be closed to them: Operation not permitted"
        assert refusal(Path("run.json")) == f"run.json {why}"

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "none.json"
        assert refusal(path) == f"cannot read {path}: No such file or directory"

    def test_a_folder_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "folder"
        path.mkdir(mode=0o700)
        assert refusal(path) == f"cannot read {path}: Is a directory"

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "1", "null", "{}", '{"config": {}, "worker": {}, "password": "hunter2"}'],
        ids=["empty", "cut off", "list", "number", "null", "no members", "unknown member"],
    )
    def test_what_is_not_a_run_spec_is_refused(self, tmp_path: Path, text: str) -> None:
        assert "is not a run spec" in refusal(spec_file(tmp_path, text))

    def test_a_refusal_shows_no_values(self, tmp_path: Path) -> None:
        text = '{"config": {}, "worker": {}, "password": "hunter2"}'
        assert "hunter2" not in refusal(spec_file(tmp_path, text))
