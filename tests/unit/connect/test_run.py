"""Run specs, events and reports: what goes into a job and what comes out."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.run import (
    EVENT_PREFIX,
    RunReport,
    RunSpec,
    describe_event,
    event_line,
    parse_event,
    run_spec_file,
)

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


def _members(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(
        ["event", "name", "text", "step", "steps", "url", "records", "rate", "tasks", "tasks_done", "elapsed_s",
         "expected", "report", "error", "message", "exit_code", "connector", "kind", "connector_class", "run_id"]
    )  # fmt: skip
    events = st.sampled_from(["phase", "spark_ui", "progress", "report", "error", "new"])
    return (
        st.lists(values, max_size=3)
        | st.dictionaries(names, values)
        | st.builds(lambda event, members: {**members, "event": event}, events, st.dictionaries(names, values))
    )


class TestEvents:
    def test_an_event_is_parsed_as_it_was_written(self) -> None:
        assert parse_event(event_line("phase", token="t", name="planning"), "t") == {
            "event": "phase",
            "name": "planning",
        }

    def test_an_event_is_one_line(self) -> None:
        assert "\n" not in event_line("error", message="two\nlines")

    @pytest.mark.parametrize(
        "line",
        [
            "",
            "hello",
            "KCONNECT",
            "KCONNECT t {",
            "KCONNECT t []",
            "KCONNECT t 1",
            ' KCONNECT t {"event":"phase","name":"x"}',
        ],
        ids=["empty", "other text", "prefix only", "cut off", "list", "number", "indented"],
    )
    def test_what_is_not_an_event_is_none(self, line: str) -> None:
        assert parse_event(line, "t") is None

    @pytest.mark.parametrize("token", ["other", "", None], ids=["another", "empty", "none"])
    def test_without_the_token_of_the_run_there_is_no_event(self, token: str | None) -> None:
        assert parse_event(event_line("phase", token=token, name="planning"), "t") is None
        assert parse_event(event_line("phase", token="t", name="planning"), token) is None

    def test_each_run_has_a_token_of_its_own(self) -> None:
        assert len({RunSpec({}, {}).token for _ in range(3)}) == 3

    @given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), _members, max_leaves=20))
    def test_no_event_ends_its_reader(self, event: Any) -> None:
        line = f"{EVENT_PREFIX}t {json.dumps(event)}"
        parsed = parse_event(line, "t")
        assert parsed is None or isinstance(describe_event(parsed), str)

    @pytest.mark.parametrize(
        ("event", "text"),
        [
            pytest.param({"event": "phase", "name": "planning"}, "planning", id="phase"),
            pytest.param({"event": "error", "error": "DataError", "message": "bad"}, "DataError: bad", id="error"),
            pytest.param({"event": "new", "n": 1}, 'new: {"n": 1}', id="an event of a later version"),
            pytest.param(
                {"event": "progress", "records": 12345, "rate": 1234.5, "tasks_done": 1, "tasks": 3, "elapsed_s": 10.0},
                "12,345 records, 1,234/s, 1/3 splits done, 10 s",
                id="progress without an expected number",
            ),
            pytest.param(
                {
                    "event": "progress",
                    "records": 1,
                    "rate": 1,
                    "tasks_done": 0,
                    "tasks": 1,
                    "elapsed_s": 1,
                    "expected": 2000,
                },
                "1 of 2,000 records, 1/s, 0/1 splits done, 1 s",
                id="progress with an expected number",
            ),
        ],
    )
    def test_description(self, event: dict[str, Any], text: str) -> None:
        assert describe_event(event) == text


class TestRunReport:
    REPORT = RunReport(
        connector="fs",
        kind="source",
        connector_class="FileStreamSourceConnector",
        run_id="r",
        records={"written": 1234567},
        durations_s={"total": 12.34},
    )

    def test_the_summary_of_a_complete_run(self) -> None:
        assert self.REPORT.summary() == "fs: 1,234,567 records written in 12.3 s (exactly_once)"

    def test_one_record_is_one(self) -> None:
        assert replace(self.REPORT, records={"written": 1}).summary().startswith("fs: 1 record written")

    def test_the_summary_of_a_bounded_run_says_that_there_is_more(self) -> None:
        report = RunReport(**{**self.REPORT.as_dict(), "complete": False})
        assert report.summary().endswith("(exactly_once, not complete)")

    def test_a_report_survives_json(self) -> None:
        assert RunReport(**json.loads(json.dumps(self.REPORT.as_dict()))) == self.REPORT

    def test_a_report_of_a_later_version_is_read_as_far_as_it_is_known(self) -> None:
        assert RunReport.of({**self.REPORT.as_dict(), "new": 1}) == self.REPORT

    def test_a_report_event_is_described_by_its_summary(self) -> None:
        event = parse_event(event_line("report", token="t", report=self.REPORT.as_dict()), "t")
        assert event is not None
        assert describe_event(event) == self.REPORT.summary()

    def test_the_address_of_sparks_ui_is_described_for_people(self) -> None:
        event = parse_event(event_line("spark_ui", token="t", url="http://10.0.0.7:4040"), "t")
        assert event is not None
        assert describe_event(event) == "Spark UI: http://10.0.0.7:4040"
