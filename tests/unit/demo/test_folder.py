"""The folder of a demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.demo.folder import DemoFolder, example_dag
from airflow_kconnect.machine.errors import SetupError


class TestTaken:
    def test_a_folder_that_is_missing_is_created(self, tmp_path: Path) -> None:
        with DemoFolder(tmp_path / "a b" / "demo").taken():
            assert (tmp_path / "a b" / "demo").is_dir()

    def test_a_folder_with_files_of_others_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "thesis.txt").write_text("mine")

        with pytest.raises(SetupError, match="is not empty and was not created by the demo"):
            DemoFolder(tmp_path).taken().__enter__()

        assert (tmp_path / "data" / "thesis.txt").read_text() == "mine"

    def test_the_folder_of_an_earlier_demo_is_taken_again(self, tmp_path: Path) -> None:
        with DemoFolder(tmp_path).taken():
            (tmp_path / "airflow.log").touch()
        with DemoFolder(tmp_path).taken():
            pass

    def test_two_demos_do_not_share_a_folder(self, tmp_path: Path) -> None:
        with DemoFolder(tmp_path).taken(), pytest.raises(SetupError, match="Another demo is running in"):
            DemoFolder(tmp_path).taken().__enter__()

    def test_a_path_that_is_a_file_is_an_error_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(SetupError, match="Cannot write"):
            DemoFolder(tmp_path / "file").taken().__enter__()


class TestClear:
    def test_removes_what_the_last_demo_left(self, tmp_path: Path) -> None:
        folder = DemoFolder(tmp_path)
        folder.clear()
        (folder.data / "input.csv").touch()

        folder.clear()

        assert list(folder.data.iterdir()) == []

    def test_leaves_the_database_of_airflow(self, tmp_path: Path) -> None:
        folder = DemoFolder(tmp_path)
        folder.airflow.mkdir()
        (folder.airflow / "airflow.db").touch()

        folder.clear()

        assert (folder.airflow / "airflow.db").exists()


class TestExampleDag:
    @pytest.mark.parametrize("dag_id", ["example_file_pipeline", "example_table_pipeline"])
    def test_is_found(self, dag_id: str) -> None:
        assert f'dag_id="{dag_id}"' in example_dag(dag_id).read_text("utf-8")

    def test_one_that_is_missing_is_an_error(self) -> None:
        with pytest.raises(SetupError, match=r"example_dags/nothing\.py is missing"):
            example_dag("nothing")
