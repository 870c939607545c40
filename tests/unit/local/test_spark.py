"""Finding spark-submit, and whether PySpark is whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.local import spark as module
from airflow_kconnect.local.errors import SetupError
from airflow_kconnect.local.spark import check_pyspark, find_spark_submit, job_path


def _program(folder: Path, name: str = "spark-submit") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one folder, which has nothing but a link to Java."""
    found = module.find_java().path
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "java").symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    return folder


class TestFindSparkSubmit:
    def test_a_distribution_on_path_comes_first(self, path: Path) -> None:
        program = _program(path)

        found = find_spark_submit()

        assert found.program == program
        assert found.pyspark is None
        assert found.java.version >= 17

    def test_without_one_it_is_that_of_pyspark(self, path: Path) -> None:
        found = find_spark_submit()

        assert found.pyspark is not None
        assert found.program == found.pyspark / "bin" / "spark-submit"

    def test_pips_copy_beside_python_stands_for_that_of_pyspark(self, monkeypatch: pytest.MonkeyPatch) -> None:
        scripts = Path(sys.executable).parent
        monkeypatch.setenv("PATH", f"{scripts}:/usr/bin:/bin")

        assert find_spark_submit().program.parent.name == "bin"
        assert find_spark_submit().pyspark is not None

    def test_another_name_is_looked_for(self, path: Path) -> None:
        program = _program(path, "spark3-submit")

        assert find_spark_submit("spark3-submit").program == program

    def test_none_at_all_says_what_to_install(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "elsewhere" / "python"))
        monkeypatch.setattr(module, "_pyspark_folder", lambda: None)

        with pytest.raises(SetupError, match=r"`spark-submit` was not found.*pip install 'airflow-kconnect\[spark\]'"):
            find_spark_submit()

    def test_no_java_is_said_before_anything_is_started(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("JAVA_HOME", raising=False)

        with pytest.raises(SetupError, match="No Java was found"):
            find_spark_submit()


class TestCheckPyspark:
    def _pyspark(self, folder: Path, python: str, jars: str | None) -> Path:
        (folder / "jars").mkdir()
        (folder / "version.py").write_text(f"__version__: str = '{python}'\n")
        if jars:
            (folder / "jars" / f"spark-core_2.13-{jars}.jar").touch()
        return folder

    def test_one_version_passes(self, tmp_path: Path) -> None:
        check_pyspark(self._pyspark(tmp_path, "4.3.0", "4.3.0"))

    def test_a_mixture_names_both_versions_and_the_cure(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError) as caught:
            check_pyspark(self._pyspark(tmp_path, "4.2.0", "4.3.0"))

        text = str(caught.value)
        assert "4.2.0" in text
        assert "pip install --force-reinstall --no-deps pyspark==4.3.0" in text

    def test_the_client_alone_is_not_enough(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="has no Spark jars"):
            check_pyspark(self._pyspark(tmp_path, "4.2.0", None))


class TestJobPath:
    def test_is_a_file(self) -> None:
        assert job_path().is_file()

    def test_a_missing_one_is_an_error(self) -> None:
        with pytest.raises(SetupError, match=r"jobs/no_job.py is missing"):
            job_path("no_job.py")
