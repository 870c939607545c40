"""What the demo shows at its begin and end."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from airflow_kconnect.demo import tables
from airflow_kconnect.demo.engines import DUCKDB_MISSING
from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.demo.lake import LakePipeline
from airflow_kconnect.demo.pipelines import Answer, FilePipeline, Run, TablePipeline

REPORT = {
    "guarantee": "exactly_once",
    "records": {"read": 1_234_567, "written": 1_234_567},
    "durations_s": {"total": 123.4},
}


@pytest.fixture
def narrow() -> Console:
    return Console(file=io.StringIO(), width=80)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


class TestRuns:
    def test_nothing_is_cut_in_80_columns(self, narrow: Console) -> None:
        run = Run("example_table_pipeline", "+1,234 lines", 123.4, {"read_table": REPORT, "write_parquet": REPORT})

        tables.show_runs(narrow, [run])

        assert "…" not in shown(narrow)
        assert max(map(len, shown(narrow).splitlines())) <= 80

    def test_names_the_guarantee(self, narrow: Console) -> None:
        tables.show_runs(narrow, [Run("a", "b", 1.0, {"t": REPORT})])

        assert "exactly once" in shown(narrow)


class TestPlan:
    def test_says_that_the_data_is_generated(self, narrow: Console, tmp_path: Path) -> None:
        tables.show_plan(narrow, [FilePipeline(tmp_path), TablePipeline(tmp_path)], DemoFolder(tmp_path), first=True)

        assert "generated: 1,461 lines and 560 rows" in shown(narrow)

    def test_says_what_happens_between_the_runs(self, narrow: Console, tmp_path: Path) -> None:
        tables.show_plan(narrow, [LakePipeline(tmp_path)], DemoFolder(tmp_path), first=True)

        assert "more changes arrive, deletions among them, and it moves only these" in " ".join(shown(narrow).split())

    @pytest.mark.parametrize(("first", "expected"), [(True, "60 MB"), (False, "none")])
    def test_says_what_is_downloaded(self, narrow: Console, tmp_path: Path, first: bool, expected: str) -> None:
        tables.show_plan(narrow, [FilePipeline(tmp_path)], DemoFolder(tmp_path), first=first)

        assert expected in next(line for line in shown(narrow).splitlines() if line.startswith("Downloads"))


class TestAnswer:
    ROWS = [{"item": "figs", "orders": 66}, {"item": "jam", "orders": 7}]

    def test_each_program_has_a_column(self, narrow: Console) -> None:
        tables.show_answer(narrow, Answer("select 1", ("item", "orders"), {"Spark": self.ROWS, "DuckDB": self.ROWS}))

        assert [line.split() for line in shown(narrow).splitlines() if "figs" in line] == [
            ["│", "figs", "│", "66", "│", "66", "│"]
        ]

    def test_a_row_that_one_of_them_lacks_is_shown(self, narrow: Console) -> None:
        answers = {"Spark": self.ROWS[:1], "DuckDB": self.ROWS}
        tables.show_answer(narrow, Answer("select 1", ("item", "orders"), answers))

        assert "66" in shown(narrow)
        assert " 7 " in shown(narrow)

    def test_says_how_to_see_more(self, narrow: Console) -> None:
        tables.show_answer(narrow, Answer("select 1", ("item",), {"Spark": []}, DUCKDB_MISSING))

        assert "pip install 'airflow-kconnect[demo]'" in shown(narrow)


class TestNext:
    @pytest.mark.parametrize("running", [True, False])
    def test_commands_can_be_copied_whatever_the_folder_is_called(self, narrow: Console, running: bool) -> None:
        folder = DemoFolder(Path("/home/me/a long folder with blanks in its name/and another one below it/demo"))

        tables.show_next(narrow, folder, [FilePipeline(folder.data)], "127.0.0.1:9092", running=running)

        lines = [line.strip() for line in shown(narrow).splitlines()]
        assert lines[-3].endswith(f"kconnect broker stop --data {shlex.quote(str(folder.broker))}")

    def test_the_command_can_be_typed_where_its_environment_is_not_active(
        self, narrow: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = tmp_path / "my venv" / "bin" / "kconnect"
        script.parent.mkdir(parents=True)
        script.touch()
        monkeypatch.setattr("sys.executable", str(script.with_name("python")))
        monkeypatch.chdir(tmp_path)

        tables.show_next(narrow, DemoFolder(tmp_path), [FilePipeline(tmp_path)], "127.0.0.1:9092", running=True)

        assert "  'my venv/bin/kconnect' broker stop" in shown(narrow)
