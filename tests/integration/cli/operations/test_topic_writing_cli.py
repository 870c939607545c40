"""`kconnect topic list` and `kconnect topic produce` as a user meets them, with a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from tests.support import unique
from tests.support.kafka import produce

Kconnect = Callable[..., Result]


@pytest.fixture
def kconnect(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> Kconnect:
    """The command: `kconnect("list")` is `kconnect topic list`."""
    monkeypatch.setenv("KCONNECT_BOOTSTRAP_SERVERS", bootstrap)
    monkeypatch.setenv("COLUMNS", "200")

    def go(*arguments: object, stdin: str | bytes = "") -> Result:
        return CliRunner().invoke(app, ["topic", *map(str, arguments)], input=stdin)

    return go


def _records(kconnect: Kconnect, topic: str) -> list[dict[str, Any]]:
    result = kconnect("tail", topic, "--from-beginning", "--json")
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def _pairs(kconnect: Kconnect, topic: str) -> list[tuple[str | None, str | None]]:
    return [(record["key"], record["value"]) for record in _records(kconnect, topic)]


class TestList:
    def test_topics_have_partitions_and_records(
        self, kconnect: Kconnect, topic: Callable[..., str], bootstrap: str
    ) -> None:
        name = topic(partitions=2)
        produce(bootstrap, name, ["a", "b"], partition=1)
        listed = json.loads(kconnect("list", "--json").stdout)["topics"]
        assert {"topic": name, "partitions": 2, "records": 2} in listed

    def test_internal_ones_are_listed_if_asked_for(self, kconnect: Kconnect, topic: Callable[..., str]) -> None:
        hidden = topic(prefix="__own")
        assert hidden not in kconnect("list").stdout
        assert hidden in kconnect("list", "--all").stdout


class TestProduce:
    def test_each_line_is_a_value(self, kconnect: Kconnect, topic: Callable[..., str]) -> None:
        name = topic()
        result = kconnect("produce", name, stdin="one\ntwo\n\nlast")
        assert result.stdout == f"4 records are written to topic {name}: {name}-0@0 to 3.\n"
        assert _pairs(kconnect, name) == [(None, "one"), (None, "two"), (None, ""), (None, "last")]

    def test_a_file_has_bytes(self, kconnect: Kconnect, topic: Callable[..., str], tmp_path: Path) -> None:
        name, file = topic(), tmp_path / "lines"
        file.write_bytes(b"\xffpill\n")
        assert f"{name}-0@0.\n" in kconnect("produce", name, "--file", file).stdout
        assert _pairs(kconnect, name) == [(None, "\udcffpill")]

    def test_keys_headers_and_null(self, kconnect: Kconnect, topic: Callable[..., str]) -> None:
        name = topic()
        options = ("--key-separator", ":", "--null-value", "-", "--header", "h=1=2")
        kconnect("produce", name, *options, stdin="k:a:b\nk:-\n")
        assert _pairs(kconnect, name) == [("k", "a:b"), ("k", None)]
        assert _records(kconnect, name)[0]["headers"] == [{"key": "h", "value": "1=2"}]

    def test_all_records_may_have_one_key(self, kconnect: Kconnect, topic: Callable[..., str]) -> None:
        name = topic()
        kconnect("produce", name, "--key", "k", stdin="a\nb\n")
        assert _pairs(kconnect, name) == [("k", "a"), ("k", "b")]

    def test_what_tail_prints_is_written_as_it_was(
        self, kconnect: Kconnect, topic: Callable[..., str], bootstrap: str
    ) -> None:
        name, copy = topic(), unique("copy")
        produce(bootstrap, name, [b"\xff\n\x00", None, "{}"], key="k", headers=[("h", b"1"), ("n", None)])
        printed = kconnect("tail", name, "--from-beginning", "--json").stdout
        assert kconnect("produce", copy, "--json", "--create", stdin=printed).exit_code == 0
        written = [{**record, "topic": name} for record in _records(kconnect, copy)]
        assert written == _records(kconnect, name)

    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("{", "line 2 is not JSON"),
            ('{"key": "k"}', "line 2 is not an object with a `value`"),
            ('{"value": {"id": 1}}', "line 2 has a `value` that is neither a text nor null"),
            ('{"value": "v", "headers": {"h": "1"}}', "line 2 has `headers` that are not a list"),
            ('{"value": "\\ud800"}', "line 2 has a `value` with half of a character"),
        ],
    )
    def test_a_wrong_line_is_named_and_those_before_it_are_written(
        self, kconnect: Kconnect, topic: Callable[..., str], line: str, text: str
    ) -> None:
        name = topic()
        result = kconnect("produce", name, "--json", stdin=f'{{"value": "first"}}\n{line}\n')
        assert result.exit_code == 1
        assert text in result.stderr
        assert "the lines before it are written" in result.stderr
        assert _pairs(kconnect, name) == [(None, "first")]

    def test_a_line_without_its_key_is_named(self, kconnect: Kconnect, topic: Callable[..., str]) -> None:
        result = kconnect("produce", topic(), "--key-separator", "|", stdin="no key\n")
        assert (result.exit_code, "line 1 has no `|`" in result.stderr) == (1, True)

    def test_no_topic_is_created_by_a_typing_error(self, kconnect: Kconnect) -> None:
        name = unique("nowhere")
        result = kconnect("produce", name, stdin="a\n")
        assert (result.exit_code, f"topic {name} does not exist" in result.stderr) == (1, True)
        assert name not in kconnect("list", "--all").stdout

    @pytest.mark.parametrize("internal", ["__own", "connect-configs", "connect-offsets", "connect-status"])
    def test_internal_topics_are_refused(self, kconnect: Kconnect, internal: str) -> None:
        result = kconnect("produce", internal, "--create", stdin="a\n")
        assert (result.exit_code, f"topic {internal} is internal" in result.stderr) == (1, True)

    def test_internal_topics_are_written_to_by_force(self, kconnect: Kconnect, topic: Callable[..., str]) -> None:
        name = topic(prefix="__own")
        assert kconnect("produce", name, "--force", stdin="a\n").exit_code == 0
        assert _pairs(kconnect, name) == [(None, "a")]

    @pytest.mark.parametrize(
        "options", [("--key", "k", "--key-separator", ":"), ("--json", "--key", "k"), ("--header", "x")]
    )
    def test_options_that_contradict_are_wrong_usage(self, kconnect: Kconnect, options: tuple[str, ...]) -> None:
        assert kconnect("produce", "t", *options).exit_code == 2
