"""Finding spark-submit, and whether PySpark is whole."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.machine.spark_home import spark_home
from airflow_kconnect.submit import spark as module
from airflow_kconnect.submit.spark import SUPPORTED, check_spark, find_spark_submit, job_path


def _program(folder: Path, name: str = "spark-submit") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def _archive(home: Path, version: str) -> None:
    (home / "python" / "lib").mkdir(parents=True)
    with zipfile.ZipFile(home / "python" / "lib" / "pyspark.zip", "w") as archive:
        archive.writestr("pyspark/version.py", f"__version__: str = '{version}'\n")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of one folder, which has nothing but a link to Java."""
    java = find_java().path
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "java").symlink_to(java)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("SPARK_HOME", raising=False)
    return folder


class TestFindSparkSubmit:
    def test_a_distribution_on_path_comes_first(self, path: Path) -> None:
        program = _program(path)

        submit = find_spark_submit()

        assert submit.program == program
        assert submit.pyspark is None
        assert submit.java.version >= 17

    def test_without_one_it_is_that_of_pyspark(self, path: Path) -> None:
        submit = find_spark_submit()

        assert submit.pyspark is not None
        assert submit.program == submit.pyspark / "bin" / "spark-submit"

    def test_the_folder_that_the_environment_names_comes_before_pyspark(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = _program(tmp_path / "spark" / "bin")
        (tmp_path / "spark" / "RELEASE").write_text(f"Spark {SUPPORTED[-1]}.0 built for Hadoop 3.4.1\n")
        _archive(tmp_path / "spark", f"{SUPPORTED[-1]}.0")
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))

        submit = find_spark_submit()

        assert submit.program == program
        assert submit.pyspark is None

    def test_a_folder_without_one_is_named(self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))

        with pytest.raises(SetupError, match=f"SPARK_HOME is set to {tmp_path}, but {tmp_path}/bin/spark-submit"):
            find_spark_submit()

    def test_the_version_is_checked_of_the_spark_that_the_program_starts(self, path: Path, tmp_path: Path) -> None:
        program = _program(tmp_path / "spark-3.5" / "bin")
        (tmp_path / "spark-3.5" / "RELEASE").write_text("Spark 3.5.1 built for Hadoop 3.3.4\n")
        (path / "spark-submit").symlink_to(program)

        with pytest.raises(ConfigError, match=r"spark-3.5 holds Spark 3.5.1; supported is"):
            find_spark_submit()

    def test_pips_copy_next_to_python_stands_for_that_of_pyspark(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SPARK_HOME", raising=False)
        scripts = Path(sys.executable).parent
        monkeypatch.setenv("PATH", f"{scripts}:/usr/bin:/bin")

        assert find_spark_submit().program.parent.name == "bin"
        assert find_spark_submit().pyspark is not None

    def test_pips_copy_is_known_by_another_path_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SPARK_HOME", raising=False)
        (tmp_path / "venv").symlink_to(Path(sys.executable).parents[1])
        monkeypatch.setenv("PATH", f"{tmp_path}/venv/bin:/usr/bin:/bin")

        assert find_spark_submit().pyspark is not None

    def test_another_name_is_looked_for(self, path: Path) -> None:
        program = _program(path, "spark3-submit")

        assert find_spark_submit("spark3-submit").program == program

    def test_none_at_all_says_what_to_install(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "elsewhere" / "python"))
        monkeypatch.setattr(module, "spark_home", lambda: None)

        with pytest.raises(SetupError, match=r"`spark-submit` was not found.*pip install 'airflow-kconnect\[spark\]'"):
            find_spark_submit()

    def test_no_java_is_said_before_anything_is_started(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("JAVA_HOME", raising=False)

        with pytest.raises(SetupError, match="No Java was found"):
            find_spark_submit()

    def test_a_user_without_a_name_learns_why_spark_would_not_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "getuid", lambda: 45678)

        with pytest.raises(SetupError, match=r"User id 45678 has no name.*Add it to /etc/passwd"):
            find_spark_submit()


class TestCheckSpark:
    def _spark(self, folder: Path, jars: str | None, python: str | None = None) -> Path:
        (folder / "jars").mkdir()
        if jars:
            (folder / "jars" / f"spark-core_2.13-{jars}.jar").touch()
        if python:
            _archive(folder, python)
        return folder

    def test_one_version_passes(self, tmp_path: Path) -> None:
        check_spark(self._spark(tmp_path, "4.3.0", "4.3.0"))

    def test_what_is_installed_here_passes(self) -> None:
        home = spark_home()
        assert home is not None

        check_spark(home)

    def test_python_files_that_the_client_has_overwritten_do_not_matter(self, tmp_path: Path) -> None:
        (tmp_path / "version.py").write_text("__version__: str = '4.2.0'\n")

        check_spark(self._spark(tmp_path, "4.3.0", "4.3.0"))

    @pytest.mark.parametrize("python", ["4.2.0", None])
    def test_a_mixture_names_both_versions_and_the_cure(self, tmp_path: Path, python: str | None) -> None:
        with pytest.raises(ConfigError) as caught:
            check_spark(self._spark(tmp_path, "4.3.0", python))

        text = str(caught.value)
        assert (python or "unknown") in text
        assert "pip install --force-reinstall --no-deps pyspark==4.3.0" in text

    def test_the_client_alone_is_not_enough(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="has no Spark jars"):
            check_spark(self._spark(tmp_path, None))

    @pytest.mark.parametrize("version", ["3.5.6", "4.30.1", "5.0.0-preview1"])
    def test_another_version_names_what_was_found_and_what_is_supported(self, tmp_path: Path, version: str) -> None:
        with pytest.raises(
            ConfigError, match=rf"{tmp_path} holds Spark {version}; supported is Spark .*{SUPPORTED[-1]}"
        ):
            check_spark(self._spark(tmp_path, version))

    def test_the_version_of_a_distribution_is_in_its_file_release(self, tmp_path: Path) -> None:
        (tmp_path / "RELEASE").write_text("Spark 3.5.1 (git revision fd86f85) built for Hadoop 3.3.4\n")

        with pytest.raises(ConfigError, match=r"holds Spark 3.5.1"):
            check_spark(self._spark(tmp_path, None))


class TestJobPath:
    def test_is_a_file(self) -> None:
        assert job_path().is_file()

    def test_a_missing_one_is_an_error(self) -> None:
        with pytest.raises(SetupError, match=r"jobs/no_job.py is missing"):
            job_path("no_job.py")
