"""Plug-ins of files: found without executing them, executed where they are used, sent to other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.files import ENVIRONMENT, PluginFile, carrying, of_environment
from airflow_kconnect.plugins.registry import CONNECTORS, TRANSFORMS, PluginRegistry, registry

TEXT = '''
from airflow_kconnect import sdk
from airflow_kconnect.sdk import PollSourceConnector, source, Transformation

@source(topic="numbers", key="n", cursor="n")
def numbers(count: int = 3):
    """Numbers."""
    yield from ({"n": n} for n in range(count))

@sdk.source
async def more():
    yield {}

def helper():
    raise RuntimeError

class Own(PollSourceConnector): ...
class Mask(sdk.PartTransformation): ...
class Helper: ...
'''


@pytest.fixture
def file(tmp_path: Path) -> PluginFile:
    path = tmp_path / "my_source.py"
    path.write_text(TEXT)
    return PluginFile.read(path)


def test_plugins_are_found_in_the_text(file: PluginFile) -> None:
    assert file.plugins == {"numbers": CONNECTORS, "more": CONNECTORS, "Own": CONNECTORS, "Mask": TRANSFORMS}


def test_a_file_is_not_executed_to_find_them(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0\n@source\ndef numbers(): ...\n")
    found = PluginRegistry({})
    found.add(PluginFile.read(path))
    assert found.names(CONNECTORS) == ["broken.numbers"]


@pytest.mark.parametrize("name", ["my_source.numbers", "numbers"])
def test_a_configuration_names_the_file_and_the_plugin(file: PluginFile, name: str) -> None:
    found = PluginRegistry({})
    found.add(file)
    assert found.connector(name).kind == "source"


def test_a_file_that_is_added_twice_is_one_plugin(file: PluginFile) -> None:
    found = PluginRegistry({})
    for _ in range(2):
        found.add(file)
    assert found.connector("numbers").kind == "source"


def test_two_files_of_the_same_name_are_an_error(file: PluginFile, tmp_path: Path) -> None:
    found = PluginRegistry({})
    found.add(file)
    found.add(PluginFile(str(tmp_path / "other" / "my_source.py"), TEXT))
    with pytest.raises(ConfigError, match="installed more than once"):
        found.connector("numbers")


def test_an_error_of_the_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0\n@source\ndef numbers(): ...\n")
    found = PluginRegistry({})
    found.add(PluginFile.read(path))
    with pytest.raises(ConfigError, match=r"broken\.py:numbers cannot be imported: ZeroDivisionError"):
        found.connector("numbers")


def test_a_text_that_is_not_python_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def f(:\n")
    with pytest.raises(ConfigError, match=r"wrong\.py is not Python: line 1: invalid syntax"):
        PluginRegistry({}).add(PluginFile.read(path))


@pytest.mark.parametrize(("name", "text"), [("my-source.py", "is not a Python file"), ("gone.py", "cannot be read")])
def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        PluginFile.read(tmp_path / name)


def test_the_environment_names_files_and_folders(file: PluginFile, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(file.path).parent / "plugins"
    folder.mkdir()
    for name in ("b.py", "a.py", "_private.py", "no-module.py", "notes.txt"):
        (folder / name).write_text("")
    monkeypatch.setenv(ENVIRONMENT, f"{file.path}:{folder}")
    assert [path.stem for path in of_environment()] == ["my_source", "a", "b"]


@pytest.mark.parametrize("broken", ["def f(:", "a\0b", None], ids=["a text", "zeros", "no file"])
def test_a_broken_file_of_the_environment_is_named_where_a_plugin_is_missing(
    broken: str | None, file: PluginFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(file.path).with_name("broken.py")
    if broken is not None:
        path.write_text(broken)
    monkeypatch.setenv(ENVIRONMENT, f"{path}:{file.path}")
    found = registry.__wrapped__()
    assert found.connector("numbers").kind == "source"
    with pytest.raises(ConfigError, match=rf"{ENVIRONMENT}` cannot be used: .*broken\.py"):
        found.connector("missing")


def test_a_file_may_be_added_instead_of_another(file: PluginFile, tmp_path: Path) -> None:
    found = PluginRegistry({})
    found.add(PluginFile(str(tmp_path / "other" / "my_source.py"), "def wrong(): ...\n@source\ndef numbers(): ...\n"))
    found.add(file, instead=True)
    assert found.connector("numbers").kind == "source"


def test_only_files_that_are_named_are_sent(file: PluginFile) -> None:
    found = PluginRegistry({})
    found.add(file)
    assert (found.files_of(["other"]), found.files_of(["numbers", "x"])) == ([], [file])


def test_another_process_executes_the_text_that_it_is_sent(file: PluginFile) -> None:
    function = carrying(file.module().numbers)
    Path(file.path).unlink()
    program = "import pickle, sys; print(list(pickle.load(sys.stdin.buffer)(count=2)))"
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(function), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "[{'n': 0}, {'n': 1}]"


def test_a_traceback_shows_lines_of_the_text(file: PluginFile) -> None:
    Path(file.path).unlink()
    with pytest.raises(RuntimeError) as error:
        file.module().helper()
    assert str(error.traceback[-1].statement).strip() == "raise RuntimeError"


def test_threads_get_a_module_when_it_is_executed(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text("import time\ntime.sleep(0.2)\ndone = True\n")
    slow = PluginFile.read(path)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: slow.module().done, range(2))) == [True, True]


def test_a_class_may_derive_from_one_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "my_sinks.py"
    path.write_text("class Base(NativeSinkConnector): ...\nclass Own(Base): ...\nclass Other(Unknown): ...\n")
    assert PluginFile.read(path).plugins == {"Base": CONNECTORS, "Own": CONNECTORS}
