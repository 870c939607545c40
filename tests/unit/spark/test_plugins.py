"""What `register` was given: under which names sources are found, and how they reach other processes."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import CONNECTORS, registry
from airflow_kconnect.spark import plugins
from airflow_kconnect.spark.plugins import GivenClass, Registered, registered
from tests.support.connectors import read_by_spark

FILE = """
from airflow_kconnect.sdk import source

@source
def written():
    yield {"n": NUMBER}
"""
MODULE = "tests.support.connectors.read_by_spark"


@pytest.fixture(autouse=True)
def nothing_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_registered", Registered())


def file(folder: Path, number: int = 1) -> Path:
    path = folder / "spark_shop.py"
    path.write_text(FILE.replace("NUMBER", str(number)))
    return path


def in_notebook(text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(text, cell)  # noqa: S102 - a cell
    return cell


def test_a_function_of_a_notebook_has_its_own_name_alone() -> None:
    function = in_notebook(FILE)["written"]
    assert registered([function], None).plugins == {"written": GivenClass("written", function.plugin_class)}


@pytest.mark.parametrize("name", ["orders", "OneShape"])
def test_what_is_in_a_package_has_the_name_of_its_module(name: str) -> None:
    assert list(registered([getattr(read_by_spark, name)], None).plugins) == [f"{MODULE}.{name}"]


def test_a_module_without_a_package_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    function = __import__(path.stem).written
    assert registered([function], None).plugins == {str(path): PluginFile.read(path)}
    assert inspect.getfile(function) == str(path)


def test_a_file_is_found_by_its_name(tmp_path: Path) -> None:
    with registered([file(tmp_path)], None).found():
        assert registry().connector("spark_shop.written").__name__ == "written"


def test_another_session_in_the_same_process_does_not_find_it(tmp_path: Path) -> None:
    with registered([file(tmp_path)], None).found():
        pass
    assert not registry().knows(CONNECTORS, "spark_shop.written")


def test_later_calls_add(tmp_path: Path) -> None:
    registered([read_by_spark.orders], {"group.id": "g"})
    known = registered([file(tmp_path)], None)
    assert (len(known.plugins), known.worker) == (2, {"group.id": "g"})


def test_what_was_changed_is_found_as_it_is_now(tmp_path: Path) -> None:
    yielded = []
    for number in (1, 2):
        with registered([file(tmp_path, number)], None).found():
            yielded += list(registry().connector("spark_shop.written").spec.function())  # type: ignore[attr-defined]
    assert yielded == [{"n": 1}, {"n": 2}]


def test_a_worker_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    path.write_text("config.providers=env\n")
    assert registered([], path).worker == {"config.providers": "env"}


def test_values_of_the_worker_are_not_shown() -> None:
    assert "s3cret" not in repr(registered([], {"sasl.password": "s3cret"}))


@pytest.mark.parametrize("wrong", [print, dict, 7], ids=str)
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="is not a source: register a function with @source"):
        registered([wrong], None)


def test_a_file_that_is_not_python_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def :")
    with pytest.raises(ConfigError, match="is not Python: line 1"):
        registered([path], None)


def test_importing_it_imports_neither_airflow_nor_spark() -> None:
    heavy = ("airflow", "pyspark", "confluent_kafka", "pyarrow", "pandas")
    code = f"import sys, airflow_kconnect.spark\nprint([name for name in {heavy!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
