"""Connector files."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.validation.connector import (
    load_connector_file,
)


class TestLoadConnectorFile:
    expected = {"name": "s", "tasks.max": "2"}

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("c.json", '{"name": "s", "config": {"tasks.max": 2}}'),
            ("c.json", '{"name": "s", "config": {"name": "s", "tasks.max": "2"}, "initial_state": "RUNNING"}'),
            ("c.json", '{"name": "s", "tasks.max": "2"}'),
            ("c.conf", ' \n{"name": "s", "tasks.max": "2"}'),
            ("c.properties", "name=s\ntasks.max = 2\n"),
            ("c", "name: s\n# comment\ntasks.max 2"),
        ],
    )
    def test_forms(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert load_connector_file(tmp_path / name) == self.expected

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("c.json", b"\xef\xbb\xbf{}", "byte order mark"),
            ("c.json", b'{"a": 1', "is not JSON: .* at line 1, column"),
            ("c.json", b"", "is not JSON"),
            ("c.json", b"[1]", "is not a map of configuration keys"),
            ("c.json", b'"text"', "is not a map of configuration keys"),
            ("c.json", b"[" * 100_000, "nested too deeply"),
            ("c.json", b'{"a": "1", "a": "2"}', "has the key `a` twice"),
            ("c.json", b'{"name": "s", "config": {"a": "1", "a": "2"}}', "has the key `a` twice"),
            ("c.json", b'{"name": "s", "config": {"name": "t"}}', "has different values of `name` inside and outside"),
            ("c.json", b'{"name": "s", "config": {}, "x": 1}', "unknown members next to `config`: x"),
            ("c.json", b'{"config": {}, "initial_state": "STOPPED"}', "sets `initial_state` to another value"),
            ("c.json", b'{"a": null}', "`a`: Null value can not be supplied"),
            ("c.json", b'{"a": {"b": 1}}', "`a`: Expected a string"),
            ("c.properties", b"a=1\na=2", "has the key `a` twice"),
            ("c.properties", b"a=\\u12", "line 1: malformed"),
            ("c.properties", b"a=\xff", "is not UTF-8 text"),
        ],
    )
    def test_wrong_files(self, tmp_path: Path, name: str, content: bytes, message: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ConfigError, match=message):
            load_connector_file(tmp_path / name)

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="the file does not exist"):
            load_connector_file(str(tmp_path / "none.json"))

    def test_directory(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="is a directory"):
            load_connector_file(tmp_path)

    def test_errors_do_not_show_values(self, tmp_path: Path) -> None:
        path = tmp_path / "c.json"
        path.write_text('{"password": "s3cret"', encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_connector_file(path)
        assert "s3cret" not in str(caught.value)
