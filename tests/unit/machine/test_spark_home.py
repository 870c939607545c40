"""Finding Spark's folder, and importing the PySpark that belongs to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from airflow_kconnect.machine import spark_home as module
from airflow_kconnect.machine.spark_home import install_folder, python_path, spark_home

REPOSITORY = Path(__file__).parents[3]


def _spark(folder: Path, version: str = "4.3.0") -> Path:
    """A Spark in which pip's PySpark and its archive have the same two files."""
    (folder / "jars").mkdir(parents=True)
    archive = folder / "python" / "lib" / "pyspark.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as out:
        for name, text in (("__init__.py", "whole = True"), ("version.py", f"__version__: str = '{version}'\n")):
            out.writestr(f"pyspark/{name}", text)
            (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))


def _said(path: list[Path], script: str) -> str:
    """What a Python says that has these folders and archives on its path, and no PySpark elsewhere."""
    entries = [*path, REPOSITORY]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, entries)), "PYTHONDONTWRITEBYTECODE": ""}
    program = f"import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]; {script}"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


_HOME = "from airflow_kconnect.machine.spark_home import spark_home; print(spark_home())"


class TestSparkHome:
    def test_is_the_one_that_the_environment_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_HOME", "/opt/spark")

        assert spark_home() == Path("/opt/spark")

    def test_is_that_of_pips_pyspark(self) -> None:
        home = spark_home()

        assert home is not None
        assert list(home.glob("jars/spark-core_*.jar"))

    def test_is_found_from_the_archive_that_a_job_imports_from(self, tmp_path: Path) -> None:
        home = _spark(tmp_path / "pyspark")

        assert _said([home / "python" / "lib" / "pyspark.zip"], _HOME) == str(home)

    def test_is_found_from_the_python_folder_of_a_distribution(self, tmp_path: Path) -> None:
        home = _spark(tmp_path / "spark")
        shutil.copytree(home, home / "python" / "pyspark", ignore=shutil.ignore_patterns("jars", "python"))

        assert _said([home / "python"], _HOME) == str(home)

    def test_is_found_after_the_client_was_uninstalled_from_the_same_folder(self, tmp_path: Path) -> None:
        home = _spark(tmp_path / "pyspark")
        (home / "__init__.py").unlink()

        assert _said([tmp_path], _HOME) == str(home)

    def test_is_the_installed_one_where_this_python_has_the_client_only(self, tmp_path: Path) -> None:
        (tmp_path / "pyspark").mkdir()
        home = _spark(install_folder() / "pyspark")

        assert _said([tmp_path], _HOME) == str(home)

    def test_none_is_not_an_error(self) -> None:
        assert _said([], _HOME) == "None"


class TestPythonPath:
    def test_is_the_archives_of_spark(self) -> None:
        home = spark_home()
        assert home is not None

        pyspark, py4j = python_path(home)

        assert pyspark == str(home / "python" / "lib" / "pyspark.zip")
        assert Path(py4j).is_file()

    def test_of_an_installed_spark_has_what_was_installed_with_it(self) -> None:
        home = _spark(install_folder() / "pyspark")

        assert python_path(home)[-1] == str(install_folder())


_IMPORT = (
    "from airflow_kconnect.machine.spark_home import use_whole_pyspark; use_whole_pyspark();"
    " import pyspark; print(pyspark.whole, '.zip' in pyspark.__file__)"
)


class TestUseWholePyspark:
    def test_intact_files_are_imported(self, tmp_path: Path) -> None:
        _spark(tmp_path / "pyspark")

        assert _said([tmp_path], _IMPORT) == "True False"

    @pytest.mark.parametrize("file", ["__init__.py", "version.py"])
    def test_with_files_of_another_version_the_archive_is_imported(self, tmp_path: Path, file: str) -> None:
        home = _spark(tmp_path / "pyspark")
        (home / file).write_text("whole = False" if file == "__init__.py" else "__version__: str = '4.2.0'\n")

        assert _said([tmp_path], _IMPORT) == "True True"

    def test_with_files_missing_the_archive_is_imported(self, tmp_path: Path) -> None:
        (_spark(tmp_path / "pyspark") / "version.py").unlink()

        assert _said([tmp_path], _IMPORT) == "True True"

    def test_in_a_job_nothing_changes(self, tmp_path: Path) -> None:
        archive = _spark(tmp_path / "pyspark") / "python" / "lib" / "pyspark.zip"
        script = (
            "from airflow_kconnect.machine import spark_home; old = list(sys.path); spark_home.use_whole_pyspark();"
        )

        assert _said([archive], f"{script} print(sys.path == old)") == "True"

    def test_once_pyspark_is_imported_nothing_changes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyspark", module)
        before = list(sys.path)

        module.use_whole_pyspark()

        assert sys.path == before


_UNPACKED = (
    "from airflow_kconnect.machine.spark_home import use_unpacked_pyspark; use_unpacked_pyspark(unpack={});"
    " import pyspark; print(pyspark.__file__)"
)


class TestUseUnpackedPyspark:
    def _in_a_job(self, home: Path, *, unpack: bool) -> str:
        return _said([home / "python" / "lib" / "pyspark.zip", home.parent], _UNPACKED.format(unpack))

    def test_a_copy_of_the_archive_is_imported_from_the_cache(self, tmp_path: Path) -> None:
        home = _spark(tmp_path / "pyspark")

        file = Path(self._in_a_job(home, unpack=True))

        assert file.is_relative_to(tmp_path / "cache")
        assert file.read_text() == "whole = True"

    def test_the_copy_is_kept_compiled(self, tmp_path: Path) -> None:
        file = Path(self._in_a_job(_spark(tmp_path / "pyspark"), unpack=True))

        assert list(file.parent.glob("__pycache__/__init__.*.pyc"))

    def test_others_use_the_copy_once_it_is_there(self, tmp_path: Path) -> None:
        home = _spark(tmp_path / "pyspark")

        before, made, after = (self._in_a_job(home, unpack=unpack) for unpack in (False, True, False))

        assert ".zip" in before
        assert made == after

    def test_nothing_is_left_next_to_the_copy(self, tmp_path: Path) -> None:
        file = Path(self._in_a_job(_spark(tmp_path / "pyspark"), unpack=True))

        assert list((tmp_path / "cache" / "pyspark").iterdir()) == [file.parents[1]]

    def test_an_archive_of_another_installation_has_another_copy(self, tmp_path: Path) -> None:
        first = self._in_a_job(_spark(tmp_path / "one" / "pyspark"), unpack=True)
        second = self._in_a_job(_spark(tmp_path / "two" / "pyspark", "4.3.1"), unpack=True)

        assert first != second

    def test_a_cache_that_cannot_be_written_leaves_the_archive(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KCONNECT_CACHE", "/dev/null")

        assert ".zip" in self._in_a_job(_spark(tmp_path / "pyspark"), unpack=True)
