"""Events on the output of a job."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.runs.events import EVENT_PREFIX, describe_event, event_line, parse_event
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec

REPORT = RunReport(connector="fs", kind="source", connector_class="FileStreamSourceConnector", run_id="r")


def _members(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(
        ["event", "name", "text", "step", "steps", "url", "records", "rate", "tasks", "tasks_done", "elapsed_s",
         "expected", "report", "error", "message", "exit_code", "connector", "kind", "connector_class", "run_id"]
    )  # fmt: skip
    events = st.sampled_from(["phase", "spark_ui", "progress", "report", "error", "new"])
    return (
        st.lists(values, max_size=3)
        | st.dictionaries(names, values)
        | st.builds(lambda event, members: {**members, "event": event}, events, st.dictionaries(names, values))
    )


class TestEvents:
    def test_an_event_is_parsed_as_it_was_written(self) -> None:
        assert parse_event(event_line("phase", token="t", name="planning"), "t") == {
            "event": "phase",
            "name": "planning",
        }

    def test_an_event_is_one_line(self) -> None:
        assert "\n" not in event_line("error", message="two\nlines")

    @pytest.mark.parametrize(
        "line",
        [
            "",
            "hello",
            "KCONNECT",
            "KCONNECT t {",
            "KCONNECT t []",
            "KCONNECT t 1",
            ' KCONNECT t {"event":"phase","name":"x"}',
        ],
        ids=["empty", "other text", "prefix only", "cut off", "list", "number", "indented"],
    )
    def test_what_is_not_an_event_is_none(self, line: str) -> None:
        assert parse_event(line, "t") is None

    @pytest.mark.parametrize("token", ["other", "", None], ids=["another", "empty", "none"])
    def test_without_the_token_of_the_run_there_is_no_event(self, token: str | None) -> None:
        assert parse_event(event_line("phase", token=token, name="planning"), "t") is None
        assert parse_event(event_line("phase", token="t", name="planning"), token) is None

    def test_each_run_has_a_token_of_its_own(self) -> None:
        assert len({RunSpec({}, {}).token for _ in range(3)}) == 3

    @given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), _members, max_leaves=20))
    def test_no_event_ends_its_reader(self, event: Any) -> None:
        line = f"{EVENT_PREFIX}t {json.dumps(event)}"
        parsed = parse_event(line, "t")
        assert parsed is None or isinstance(describe_event(parsed), str)

    @pytest.mark.parametrize(
        ("event", "text"),
        [
            pytest.param({"event": "phase", "name": "planning"}, "planning", id="phase"),
            pytest.param({"event": "error", "error": "DataError", "message": "bad"}, "DataError: bad", id="error"),
            pytest.param({"event": "new", "n": 1}, 'new: {"n": 1}', id="an event of a later version"),
            pytest.param(
                {"event": "progress", "records": 12345, "rate": 1234.5, "tasks_done": 1, "tasks": 3, "elapsed_s": 10.0},
                "12,345 records, 1,234/s, 1/3 splits done, 10 s",
                id="progress without an expected number",
            ),
            pytest.param(
                {
                    "event": "progress",
                    "records": 1,
                    "rate": 1,
                    "tasks_done": 0,
                    "tasks": 1,
                    "elapsed_s": 1,
                    "expected": 2000,
                },
                "1 of 2,000 records, 1/s, 0/1 splits done, 1 s",
                id="progress with an expected number",
            ),
        ],
    )
    def test_description(self, event: dict[str, Any], text: str) -> None:
        assert describe_event(event) == text

    def test_a_report_event_is_described_by_its_summary(self) -> None:
        event = parse_event(event_line("report", token="t", report=REPORT.as_dict()), "t")
        assert event is not None
        assert describe_event(event) == REPORT.summary()

    def test_the_address_of_sparks_ui_is_described_for_people(self) -> None:
        event = parse_event(event_line("spark_ui", token="t", url="http://10.0.0.7:4040"), "t")
        assert event is not None
        assert describe_event(event) == "Spark UI: http://10.0.0.7:4040"
