"""`kconnect demo`: its options and its errors; the demo itself is run in tests/airflow."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app


def demo(*options: str) -> Result:
    return CliRunner().invoke(app, ["demo", *options], env={"COLUMNS": "80"})


class TestDemo:
    def test_help_says_what_it_needs_and_how_long_it_takes(self) -> None:
        text = " ".join(demo("--help").stdout.split())

        assert "Java 17" in text
        assert "60 MB" in text
        assert "four minutes" in text

    def test_a_folder_of_others_is_an_error_in_words(self, tmp_path: Path) -> None:
        (tmp_path / "mine").touch()

        ended = demo("--folder", str(tmp_path))

        assert ended.exit_code == 1
        assert "is not empty and was not created by the demo" in ended.stderr
        assert "Traceback" not in ended.output

    def test_without_a_folder_it_is_next_to_the_broker(self, tmp_path: Path) -> None:
        (tmp_path / "demo").mkdir()
        (tmp_path / "demo" / "mine").touch()

        ended = CliRunner().invoke(app, ["demo"], env={"KCONNECT_HOME": str(tmp_path)})

        assert str(tmp_path / "demo") in ended.stderr.replace("\n", "")
