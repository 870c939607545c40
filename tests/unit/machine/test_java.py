"""Finding Java, with scripts that pretend to be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import find_java, java_environment


def fake_java(folder: Path, says: str, exit_code: int = 0) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {exit_code}\n")
    program.chmod(0o755)
    return program


class TestFindJava:
    @pytest.mark.parametrize(
        ("says", "version"),
        [
            ('openjdk version "17.0.15" 2025-04-15', 17),
            ('java version "21" 2023-09-19 LTS', 21),
            ('openjdk version "25-ea" 2025-09-16', 25),
        ],
    )
    def test_new_enough(self, tmp_path: Path, says: str, version: int) -> None:
        program = fake_java(tmp_path, says)
        java = find_java({"PATH": f"/nowhere:{program.parent}"})
        assert (java.path, java.version) == (program, version)

    def test_java_home_wins_over_path(self, tmp_path: Path) -> None:
        home, other = tmp_path / "home", tmp_path / "other"
        program = fake_java(home, 'openjdk version "17.0.1"')
        fake_java(other, 'openjdk version "21.0.1"')
        assert find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")}).path == program

    @pytest.mark.parametrize(
        ("says", "version"), [('java version "1.8.0_392"', 8), ('openjdk version "11.0.22" 2024-01-16', 11)]
    )
    def test_too_old(self, tmp_path: Path, says: str, version: int) -> None:
        program = fake_java(tmp_path, says)
        with pytest.raises(
            SetupError, match=rf"Java {version} was found at {program}, but Spark and Kafka need 17 or newer\. Install"
        ):
            find_java({"PATH": str(program.parent)})

    @pytest.mark.parametrize("env", [{}, {"PATH": ""}, {"PATH": "/nowhere"}, {"JAVA_HOME": ""}])
    def test_none(self, env: dict[str, str]) -> None:
        with pytest.raises(SetupError, match=r"No Java was found.*JAVA_HOME.*PATH\.$") as caught:
            find_java({"PATH": "", **env})
        assert caught.value.exit_code == 1

    def test_java_home_without_java(self, tmp_path: Path) -> None:
        with pytest.raises(
            SetupError, match=f"JAVA_HOME is set to {tmp_path}, but there is no program {tmp_path}/bin/java"
        ):
            find_java({"JAVA_HOME": str(tmp_path)})

    @pytest.mark.parametrize(
        ("says", "code", "reason"),
        [("Segmentation fault", 139, "139"), ("Welcome", 0, "Welcome"), ("", 0, "nothing|:")],
    )
    def test_not_a_java(self, tmp_path: Path, says: str, code: int, reason: str) -> None:
        fake_java(tmp_path, says, code)
        with pytest.raises(SetupError, match=rf"java -version failed .*{reason}"):
            find_java({"JAVA_HOME": str(tmp_path)})

    def test_cannot_be_executed(self, tmp_path: Path) -> None:
        fake_java(tmp_path, "").write_bytes(b"\x7fELFnonsense")
        with pytest.raises(SetupError, match="does not run"):
            find_java({"JAVA_HOME": str(tmp_path)})

    def test_it_is_asked_once_and_again_when_it_was_replaced(self, tmp_path: Path) -> None:
        calls = tmp_path / "calls"
        for version in (17, 21):
            program = fake_java(tmp_path, f'openjdk version "{version}.0.1"')
            program.write_text(program.read_text().replace("exit", f"echo {version} >> {calls}\nexit"))
            assert [find_java({"JAVA_HOME": str(tmp_path)}).version for _ in range(2)] == [version, version]
        assert calls.read_text().split() == ["17", "21"]

    def test_the_real_one_of_this_machine(self) -> None:
        assert find_java().version >= 17


class TestJavaEnvironment:
    @pytest.mark.parametrize(
        ("env", "changed"),
        [
            ({}, {"LC_CTYPE": "C.UTF-8"}),
            ({"LANG": "C"}, {"LC_CTYPE": "C.UTF-8"}),
            ({"LANG": "de_AT.UTF-8", "LC_ALL": "POSIX"}, {"LC_ALL": "C.UTF-8"}),
            ({"LANG": "C", "LC_CTYPE": "de_AT.UTF-8"}, {}),
            ({"LANG": "de_AT.ISO-8859-1"}, {}),
        ],
    )
    def test_is_not_ascii(self, env: dict[str, str], changed: dict[str, str]) -> None:
        assert java_environment(env) == env | changed
