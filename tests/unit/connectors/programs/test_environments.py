"""Environments of programs: made once, whole or not at all, and made again when a part of them is gone."""

from __future__ import annotations

import logging
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.programs import environments
from airflow_kconnect.connectors.programs.environments import installed, package_of, requirement_problem
from airflow_kconnect.connectors.programs.inherited import inherited_variables

TWO_PROGRAMS = "tap-hello = tap_hello:main\nother = tap_hello:main"
METADATA = """Metadata-Version: 2.1
Name: tap-hello
Version: 1.2
Classifier: License :: OSI Approved :: MIT License
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def requirement(tmp_path: Path) -> str:
    """A package with two programs, which needs no network to be installed."""
    return wheel(tmp_path, TWO_PROGRAMS)


def wheel(folder: Path, programs: str) -> str:
    files = {
        "tap_hello.py": "def main():\n    print('hello')\n",
        "tap_hello-1.2.dist-info/METADATA": METADATA,
        "tap_hello-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tap_hello-1.2.dist-info/entry_points.txt": f"[console_scripts]\n{programs}\n",
    }
    path = folder / "tap_hello-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("tap_hello-1.2.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    return f"tap-hello @ {path.as_uri()}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A requirement, and a cache in which it is installed: that takes a second."""
    folder = tmp_path_factory.mktemp("filled")
    requirement = wheel(folder, TWO_PROGRAMS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCONNECT_CACHE", str(folder / "cache"))
        of(requirement)
    return requirement, folder / "cache"


@pytest.fixture
def present(filled: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """A requirement that is installed already."""
    monkeypatch.setenv("KCONNECT_CACHE", str(filled[1]))
    return filled[0]


def of(requirement: str, executable: str | None = None) -> environments.Installed:
    return installed([requirement], executable=executable, key="singer.tap")


def test_a_package_is_installed_and_its_program_runs(present: str) -> None:
    found = of(present)
    output = subprocess.run(found.command, capture_output=True, text=True, check=True).stdout
    assert (output, found.name, found.version) == ("hello\n", "tap-hello", "1.2")


def test_it_is_installed_once_with_its_licence_told_and_again_when_a_part_is_gone(
    requirement: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    program = Path(of(requirement).command[1])
    assert "its licence: MIT License" in caplog.text
    of(requirement)
    installations = [caplog.text.count("installed tap-hello 1.2 in")]
    program.unlink()
    of(requirement)
    installations.append(caplog.text.count("installed tap-hello 1.2 in"))
    assert (installations, program.is_file()) == ([1, 2], True)


def test_an_installation_that_was_broken_off_is_done_again(requirement: str, cache: Path) -> None:
    folder = Path(of(requirement).command[0]).parents[1]
    (folder / ".complete.json").unlink()
    (folder / "bin" / "python").unlink()
    assert Path(of(requirement).command[0]).exists()


def test_a_package_that_is_not_there_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(RetriableError, match="tap-hello cannot be installed"):
        of(f"tap-hello @ {(tmp_path / 'none-1.0-py3-none-any.whl').as_uri()}")
    assert [each.name for each in (cache / "programs").iterdir() if each.is_dir()] == []


def test_a_login_in_an_address_is_in_no_log_and_on_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    called = tmp_path / "called"
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho "$@" >> {called}\nif [ "$1" = pip ]; then cat; exit 1; fi\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(RetriableError, match=r"tap-hello @ https://me:\.\.\.@host") as error:
        of("tap-hello @ https://me:hush-hush@host/x.whl")
    assert "hush-hush" not in called.read_text() + caplog.text + str(error.value)


def test_what_builds_a_package_inherits_no_secrets_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    (uv := tmp_path / "uv").write_text(f"#!/bin/sh\n/usr/bin/env > {seen}\nexit 1\n")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("KCONNECT_DB_PASSWORD", "hush-hush")
    monkeypatch.setenv("UV_INDEX_URL", "https://index.example.com")
    with pytest.raises(RetriableError):
        of("tap-hello")
    variables = seen.read_text()
    assert ("hush-hush" in variables, "index.example.com" in variables) == (False, True)


def test_a_program_finds_the_others_of_its_environment_by_their_names(
    present: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/that/of/the/job")
    environment = Path(of(present).command[0]).parents[1]
    variables = inherited_variables(environment)
    found = shutil.which("other", path=variables["PATH"])
    assert (variables["VIRTUAL_ENV"], found) == (str(environment), str(environment / "bin" / "other"))


def test_another_program_of_the_package_can_be_named(present: str) -> None:
    assert of(present, "other").command[1].endswith("/bin/other")


def test_a_program_that_is_not_there_is_named_with_those_that_are(present: str) -> None:
    with pytest.raises(ConfigError, match="the package tap-hello has no program third; it has other, tap-hello"):
        of(present, "third")


def test_one_of_several_programs_has_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not say which of its programs to start; it has a, b"):
        of(wheel(tmp_path, "a = tap_hello:main\nb = tap_hello:main"))


@pytest.mark.parametrize(("text", "name"), [("Tap_Hello==1.2", "tap-hello"), ("tap.hello[s3]>=1", "tap-hello")])
def test_names_are_compared_in_their_normal_form(text: str, name: str) -> None:
    assert package_of(text) == name


@pytest.mark.parametrize("text", ["--index-url=http://x", "tap hello", "", "../tap"])
def test_what_is_not_a_requirement_is_refused(text: str) -> None:
    assert "is not a requirement such as" in str(requirement_problem(text))
