"""Where values come from: files, directories, environment variables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airflow_kconnect.variables.providers import MAX_BYTES
from tests.support.variables import CANARY, errors_of, resolved, resolver

pytestmark = pytest.mark.usefixtures("environment")


class TestFile:
    def test_value_of_a_key(self, secrets: Path) -> None:
        assert resolved(f"${{file:{secrets}/db.properties:password}}") == CANARY

    def test_empty_value(self, secrets: Path) -> None:
        assert resolved(f"${{file:{secrets}/db.properties:none}}") == ""

    def test_key_with_colons(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("a\\:b=1")
        assert resolved(f"${{file:{tmp_path}/f:a:b}}") == "1"

    def test_a_file_is_read_once(self, secrets: Path) -> None:
        providers = resolver()
        text = f"${{file:{secrets}/db.properties:user}}"
        assert providers.resolve({"a": text}) == {"a": "etl"}
        (secrets / "db.properties").unlink()
        assert providers.resolve({"a": text, "b": f"{text}{text.replace('user', 'none')}"}) == {"a": "etl", "b": "etl"}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param(b"", "names an empty file", id="empty"),
            pytest.param(b"k=\xff\xfe", "names a file that is not UTF-8 text", id="not UTF-8"),
            pytest.param(b"k=a\0b", "names a file that is not UTF-8 text", id="NUL"),
            pytest.param(b"#" * (MAX_BYTES + 1), "names a file of more than 1000000 bytes", id="large"),
            pytest.param(b"k=\\u12", "line 1: malformed \\uXXXX escape", id="malformed"),
            pytest.param(b"other=1", "names a key that the file does not have", id="key"),
        ],
    )
    def test_bad_file(self, tmp_path: Path, content: bytes, message: str) -> None:
        (tmp_path / "f").write_bytes(content)
        (error,) = errors_of(resolver(), key=f"x${{file:{tmp_path}/f:k}}")["key"]
        assert error.startswith(f"variable ${{file:{tmp_path}/f:k}} ")
        assert message in error

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("", "has no path"),
            ("/nowhere/at/all", "cannot be read: No such file or directory"),
            ("/tmp", "does not name a regular file"),
            ("/dev/zero", "does not name a regular file"),
            ("/a\0b", "cannot be read: the path is not valid"),
            ("/\ud800", "cannot be read: the path is not valid"),
            ("/" + "a" * 300, "cannot be read: File name too long"),
        ],
    )
    def test_bad_path(self, path: str, message: str) -> None:
        (error,) = errors_of(resolver(), key=f"${{file:{path}:k}}")["key"]
        assert message in error
        assert error.isprintable()

    def test_a_loop_of_links(self, tmp_path: Path) -> None:
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        (error,) = errors_of(resolver(), key=f"${{file:{tmp_path}/loop:k}}")["key"]
        assert "cannot be read" in error

    def test_a_pipe_does_not_block(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (error,) = errors_of(resolver(), key=f"${{file:{tmp_path}/pipe:k}}")["key"]
        assert "does not name a regular file" in error

    def test_a_long_variable_is_cut_in_the_error(self) -> None:
        (error,) = errors_of(resolver(), key=f"${{file:{'a/' * 10_000}:k}}")["key"]
        assert len(error) < 300


class TestDirectory:
    def test_content_with_its_line_end(self, secrets: Path) -> None:
        assert resolved(f"${{dir:{secrets}:token}}") == f"{CANARY}\n"

    def test_links_as_kubernetes_makes_them(self, tmp_path: Path) -> None:
        (tmp_path / "..2026").mkdir()
        (tmp_path / "..2026" / "token").write_text("x")
        (tmp_path / "..data").symlink_to("..2026")
        (tmp_path / "token").symlink_to("..data/token")
        providers = resolver(_dir_param_allowed_paths=str(tmp_path))
        assert providers.resolve({"a": f"${{dir:{tmp_path}:token}}"}) == {"a": "x"}

    @pytest.mark.parametrize("key", ["", ".", "..", "../secrets/token", "a/b", "/etc/hostname"])
    def test_only_files_of_the_directory_itself(self, secrets: Path, key: str) -> None:
        assert errors_of(resolver(), k=f"${{dir:{secrets}:{key}}}") == {
            "k": [f"variable ${{dir:{secrets}:{key}}} must name a file of the directory itself"]
        }

    def test_without_path(self) -> None:
        assert "has no path" in errors_of(resolver(), key="${dir:token}")["key"][0]


class TestEnvironment:
    @pytest.mark.parametrize(
        ("variable", "message"),
        [
            ("${env:KC_MISSING}", "names an environment variable that is not set for the job"),
            ("${env:}", "names an environment variable that is not set for the job"),
            ("${env:/x:KC_USER}", "has a path"),
        ],
    )
    def test_error(self, variable: str, message: str) -> None:
        (error,) = errors_of(resolver(), key=variable)["key"]
        assert error.startswith(f"variable {variable} {message}")

    @pytest.mark.parametrize(("pattern", "allowed"), [("KC_.*", True), ("KC", False), ("C_USER", False), ("", False)])
    def test_the_pattern_must_match_the_whole_name(self, pattern: str, allowed: bool) -> None:
        providers = resolver(_env_param_allowlist_pattern=pattern)
        if allowed:
            assert providers.resolve({"a": "${env:KC_USER}"}) == {"a": "etl"}
        else:
            assert "is not allowed by `allowlist.pattern`" in errors_of(providers, a="${env:KC_USER}")["a"][0]

    def test_not_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KC_BYTES", "\udcff")
        assert "is not UTF-8 text" in errors_of(resolver(), key="${env:KC_BYTES}")["key"][0]


class TestAllowedPaths:
    @pytest.mark.parametrize(
        ("path", "allowed"),
        [
            ("{secrets}/db.properties", True),
            ("{secrets}/../secrets/db.properties", True),
            ("{secrets}/inner", True),
            ("{root}/outside.properties", False),
            ("{secrets}/../outside.properties", False),
            ("{secrets}/out", False),
            ("{secrets}/up/outside.properties", False),
            ("{root}/secrets-too/db.properties", False),
            ("{root}/missing", False),
        ],
    )
    def test_path(self, tmp_path: Path, secrets: Path, path: str, allowed: bool) -> None:
        (tmp_path / "outside.properties").write_text("user=root")
        (tmp_path / "secrets-too").mkdir()
        (tmp_path / "secrets-too" / "db.properties").write_text("user=root")
        (secrets / "out").symlink_to(tmp_path / "outside.properties")
        (secrets / "up").symlink_to(tmp_path)
        (secrets / "inner").symlink_to(secrets / "db.properties")
        providers = resolver(_file_param_allowed_paths=f"/usr,{secrets}")
        props = {"a": f"${{file:{path.format(root=tmp_path, secrets=secrets)}:user}}"}
        if allowed:
            assert providers.resolve(props) == {"a": "etl"}
        else:
            assert "is outside `allowed.paths`" in errors_of(providers, **props)["a"][0]

    def test_an_allowed_path_may_be_a_link(self, tmp_path: Path, secrets: Path) -> None:
        (tmp_path / "link").symlink_to(secrets)
        providers = resolver(_file_param_allowed_paths=str(tmp_path / "link"))
        assert providers.resolve({"a": f"${{file:{tmp_path}/link/db.properties:user}}"}) == {"a": "etl"}

    def test_a_link_in_a_directory_does_not_lead_out(self, tmp_path: Path, secrets: Path) -> None:
        (tmp_path / "outside").write_text(CANARY)
        (secrets / "out").symlink_to(tmp_path / "outside")
        providers = resolver(_dir_param_allowed_paths=str(secrets))
        assert "is outside `allowed.paths`" in errors_of(providers, a=f"${{dir:{secrets}:out}}")["a"][0]
