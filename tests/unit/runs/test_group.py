from __future__ import annotations

import json

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.group import (
    GroupSpec,
    MemberEnd,
    check_group,
    exit_code_of,
    lost,
    predecessors,
    priority_of,
)
from airflow_kconnect.runs.spec import RunSpec

SOURCE = {"name": "orders-file", "topic": "orders"}
SINK = {"name": "orders-files", "topics": "orders,returns"}


def failed(code: int) -> MemberEnd:
    return MemberEnd("c", error={"error": "E", "message": "m", "exit_code": code, "errors": None})


def refusal(*configs: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as raised:
        check_group(configs)
    return str(raised.value)


class TestSpec:
    def test_comes_back_as_it_was(self) -> None:
        spec = GroupSpec((RunSpec(SOURCE, {"group.id": "g"}), RunSpec(SINK, {})), max_parallel=2)
        assert GroupSpec.of(json.loads(json.dumps(spec.as_dict()))) == spec

    def test_what_its_runs_share_is_written_once(self) -> None:
        worker = {"ssl.ca.pem": "certificate"}
        spec = GroupSpec((RunSpec(SOURCE, worker), RunSpec(SINK, worker)))
        assert json.dumps(spec.as_dict()).count("certificate") == 1

    def test_its_runs_have_its_token(self) -> None:
        spec = GroupSpec((RunSpec(SOURCE, {}),))
        assert GroupSpec.of(spec.as_dict()).runs[0].token == spec.token

    def test_what_is_none_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="is not the run spec of a group"):
            GroupSpec.of({"runs": []})


class TestExitCode:
    @pytest.mark.parametrize(("codes", "expected"), [((0, 0), 0), ((0, 3), 3), ((4, 3), 3), ((3, 5), 5), ((5, 1), 1)])
    def test_what_needs_a_person_comes_first(self, codes: tuple[int, ...], expected: int) -> None:
        assert exit_code_of(failed(code) if code else MemberEnd("c") for code in codes) == expected

    def test_a_lost_run_is_retried(self) -> None:
        assert lost("c", "the job ended").retried

    def test_a_wrong_configuration_is_not(self) -> None:
        assert not failed(1).retried


class TestOrder:
    def test_a_sink_is_after_the_source_that_writes_its_topic(self) -> None:
        assert predecessors([SINK, SOURCE])["orders-files"] == {"orders-file"}

    def test_or_whose_topics_begin_as_its_own(self) -> None:
        tables = {"name": "tables", "topic.prefix": "shop."}
        assert predecessors([{**SINK, "topics": "shop.orders"}, tables])["orders-files"] == {"tables"}

    def test_a_pattern_of_topics_counts(self) -> None:
        pattern = {"name": "sink", "topics.regex": "ord.*"}
        assert predecessors([pattern, SOURCE])["sink"] == {"orders-file"}

    def test_others_are_not_ordered(self) -> None:
        assert predecessors([{**SINK, "topics": "returns"}, SOURCE])["orders-files"] == set()

    def test_names_are_obeyed_if_they_are_in_the_group(self) -> None:
        later = {"name": "later", "topic": "x", "kconnect.group.after": "orders-file, elsewhere"}
        assert predecessors([later, SOURCE])["later"] == {"orders-file"}

    def test_a_circle_is_refused(self) -> None:
        first = {**SOURCE, "kconnect.group.after": "orders-files"}
        assert "the order is impossible: orders-file" in refusal(first, SINK)


class TestCheck:
    def test_a_name_is_there_once(self) -> None:
        assert "connector orders-file is there 2 times" in refusal(SOURCE, SOURCE)

    def test_each_connector_has_a_name(self) -> None:
        assert "a connector has no `name`" in refusal({"topic": "orders"})


@pytest.mark.parametrize(("text", "priority"), [("5", 5), (" -1 ", -1), ("high", 0), ("", 0)])
def test_priorities_are_numbers(text: str, priority: int) -> None:
    assert priority_of({"kconnect.group.priority": text}) == priority
