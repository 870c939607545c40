"""`kconnect preview`: what it reads and prints; the preview itself is another process."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.cli.preview_table import opened, preview_table

runner = CliRunner()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "connector.json"
    path.write_text(json.dumps({"value.converter": "StringConverter"}))
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{", "line 1: not JSON", id="not JSON"),
        pytest.param('{}\n"x"\n', "line 2: a record is a JSON object", id="no object"),
    ],
)
def test_a_wrong_record_is_named_by_its_line(config: Path, tmp_path: Path, text: str, expected: str) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text(text)
    result = runner.invoke(app, ["preview", "--config", str(config), "--input", str(records)])
    assert (result.exit_code, expected in " ".join(result.output.split())) == (1, True)


def test_a_missing_file_is_an_error(config: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["preview", "--config", str(config), "--input", str(tmp_path / "nothing")])
    assert (result.exit_code, "cannot read" in " ".join(result.output.split())) == (1, True)


class Registered:
    """Connectors that answer previews; what they were asked for."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.records, self.asked = records, list[tuple[str, dict[str, Any]]]()

    def previewed(self, connector: str, wanted: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((connector, wanted))
        return {"transformations": [], "records": self.records}

    def close(self) -> None:
        """Nothing is open."""


def live(
    monkeypatch: pytest.MonkeyPatch, records: list[dict[str, Any]], *arguments: str
) -> tuple[Registered, str, list[dict[str, Any]]]:
    """What connectors of a target were asked for, what was said, and the lines of the answer."""
    registered = Registered(records)
    monkeypatch.setattr(Target, "connectors", lambda target: registered)
    result = runner.invoke(app, ["preview", *arguments])
    assert result.exit_code == 0, result.output
    return registered, result.stderr, [json.loads(line) for line in result.stdout.splitlines()]


def test_without_input_the_records_are_live_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    records: list[dict[str, Any]] = [
        {"before": None, "read": {"value": "1"}, "after": [{"value": "2"}, {"dropped": True}]},
        {"before": {"value": "a"}, "read": {"error": {"stage": "S", "message": "m"}}, "after": []},
        {"before": None, "read": {"value": "3"}, "after": []},
    ]
    registered, _, lines = live(monkeypatch, records, "orders", "-n", "7")
    assert registered.asked == [("orders", {"latest": 7})]
    assert lines == [{"dropped": True}, {"error": {"stage": "S", "message": "m"}}, {"value": "3"}]


def test_a_registered_connector_with_samples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    samples = tmp_path / "records.jsonl"
    samples.write_text('{"value": "1"}')
    registered, _, _ = live(monkeypatch, [], "orders", "--input", str(samples))
    assert registered.asked == [("orders", {"records": [{"value": "1"}]})]


def test_nothing_new_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert live(monkeypatch, [], "orders")[1:] == ("There are no new records.\n", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="text"),
        pytest.param('{"a":1}', {"a": 1}, id="JSON"),
        pytest.param('{"schema":null,"payload":[1]}', [1], id="envelope"),
        pytest.param(None, None, id="null"),
    ],
)
def test_values_are_shown_as_data(text: str | None, expected: object) -> None:
    assert opened(text) == expected


def rendered(before: dict[str, Any], after: dict[str, Any]) -> str:
    """The table of one record, 120 characters wide; what is red stands in -...-, what is green in +...+."""
    console = Console(width=120, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(preview_table([before], [after]))
    text = re.sub("\x1b\\[31m(.*?)\x1b\\[0m", r"-\1-", capture.get())
    return re.sub("\x1b\\[[0-9;]*m", "", re.sub("\x1b\\[32m(.*?)\x1b\\[0m", r"+\1+", text))


class TestTable:
    def test_a_line_per_member_says_what_has_changed(self) -> None:
        before = {"topic": "t", "value": '{"id":1,"name":"Ann"}', "headers": [{"key": "h", "value": "1"}]}
        after = {"topic": "t", "value": '{"id":1,"name":"***","x":[1,2]}', "headers": [{"key": "h", "value": "1"}]}
        text = rendered(before, after)
        assert '-value.name: "Ann"-' in text
        assert '+value.name: "***"+' in text
        assert "+value.x: [1, 2]+" in text
        assert text.count("value.id: 1") == text.count("header h: 1") == 2

    def test_long_values_are_cut_and_no_line_is_too_long(self) -> None:
        text = rendered({"value": "x" * 5_000}, {"value": "y" * 5_000})
        assert len(text.splitlines()) == 5
        assert all(len(line) <= 120 + 4 for line in text.splitlines())

    def test_of_many_members_those_that_have_changed_are_shown(self) -> None:
        before = {f"m{n}": n for n in range(100)}
        text = rendered({"value": json.dumps(before)}, {"value": json.dumps(before | {"m77": 0})})
        assert "-value.m77: 77-" in text
        assert "... 70 more, unchanged" in text

    def test_errors_and_what_looks_like_markup_are_shown_as_they_are(self) -> None:
        text = rendered({"value": "[red]a"}, {"error": {"stage": "S", "class": "C", "message": "because [b]"}})
        assert "S: because [b]" in text
        assert 'value: "[red]a"' in text

    def test_dropped_records_and_tombstones(self) -> None:
        assert "dropped" in rendered({"value": None}, {"dropped": True})
        assert "value: null" in rendered({"value": None}, {"dropped": True})
