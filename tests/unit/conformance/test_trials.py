"""Trials: what a connector is configured with when it is tried, and that nothing live is touched."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.findings import Broken, Difference, Finding, Guarantee, Passed, Status, Verdict
from airflow_kconnect.conformance.harness import Arrived, ConfigOnly, Harness, SinkHarness
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.runs import Ended
from airflow_kconnect.conformance.sink_checks import SINK_CHECKS
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import examined
from airflow_kconnect.conformance.task_checks import TASK_CHECKS
from airflow_kconnect.conformance.topics import Topics
from airflow_kconnect.conformance.trials import MAX_RECORDS, RECORDS, Trial, drained
from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from tests.support.connectors.lines import Lines, LinesHarness, LinesTask, OffsetsOfBatches, TimesHarness
from tests.support.connectors.rows import Rows


class NoTopics(Topics):
    """Of a cluster in which there are none."""

    def __init__(self) -> None:
        self.removed: list[str] = []

    def create(self, topic: str) -> None:
        """Nothing happens."""

    def write(self, topic: str, records: object) -> None:
        """Nothing happens."""

    def ends(self) -> dict[Any, int]:
        return {}

    def remove(self, part: str) -> None:
        self.removed.append(part)


class OwnLab(Lab):
    """A lab without a cluster. :param given: a configuration, or a harness."""

    def __init__(self, connector: type[Connector], given: Mapping[str, Any] | type[Harness], folder: Path) -> None:
        def harness(own: Path, topic: str) -> Harness:
            return ConfigOnly(own, topic, given) if isinstance(given, Mapping) else given(own, topic)

        super().__init__(Subject(connector, "own"), harness, {}, folder)
        self.topics = NoTopics()


@pytest.mark.parametrize(
    "key", ["consumer.override.group.id", "topics.regex", "topics", "errors.deadletterqueue.topic.name"]
)
def test_a_sink_is_tried_without_the_group_and_the_topics_of_live_runs(key: str, tmp_path: Path) -> None:
    with OwnLab(Rows, {key: "live"}, tmp_path).trial(0, counted=False) as trial:
        assert "live" not in trial.config.values()


@pytest.mark.parametrize("key", ["topic", "topic.prefix"])
def test_a_source_of_which_only_the_configuration_is_known_writes_to_topics_of_its_own(
    key: str, tmp_path: Path
) -> None:
    class Own(Lines):
        @classmethod
        def config(cls) -> Any:
            return super().config().define("topic.prefix", Type.STRING)

    with OwnLab(Own, {key: "live"}, tmp_path).trial(0) as trial:
        assert trial.config[key] == trial.harness.topic


def test_the_topics_of_a_trial_are_removed_after_it(tmp_path: Path) -> None:
    lab = OwnLab(Rows, {}, tmp_path)
    with lab.trial(0, counted=False) as trial:
        assert isinstance(lab.topics, NoTopics) and lab.topics.removed == []
    assert lab.topics.removed == [trial.harness.topic]


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """A variable whose value is `tiger`."""
    file = tmp_path / "secrets.properties"
    file.write_text("password=tiger\n")
    return f"${{file:{file}:password}}"


def test_connectors_get_values_of_variables_and_texts_as_runs_give_them(secret: str, tmp_path: Path) -> None:
    given = {"file": secret, "is.quick": True}
    with OwnLab(Lines, given, tmp_path).trial(0) as trial:
        assert (trial.props["file"], trial.props["is.quick"], trial.config["file"]) == ("tiger", "true", secret)


def test_findings_do_not_show_values_of_variables(secret: str, tmp_path: Path) -> None:
    def look(lab: Lab) -> Passed:
        with lab.trial(0) as trial:
            raise ValueError(f"{trial.props['file']} is refused")

    assert "tiger" not in Check("any", "fails", look).finding(OwnLab(Lines, {"file": secret}, tmp_path)).text


class _Refused(LinesTask):
    def start(self, props: Mapping[str, str]) -> None:
        raise RetriableError("the server is down")


@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: str(check.name))
def test_an_error_of_a_task_is_a_finding_and_not_taken_for_one_of_kafka(check: Check, tmp_path: Path) -> None:
    class Down(Lines):
        task = _Refused

    finding = check.finding(OwnLab(Down, LinesHarness, tmp_path))
    assert (finding.status, "the server is down" in finding.text) == (Status.FAILED, True)


def _offsets(connector: type[Lines], folder: Path) -> Finding:
    (check,) = (each for each in TASK_CHECKS if each.name == "offsets")
    return check.finding(OwnLab(connector, LinesHarness, folder))


def test_a_source_may_claim_no_more_than_at_least_once_if_records_share_an_offset(tmp_path: Path) -> None:
    class Shares(OffsetsOfBatches):
        support = ExactlyOnceSupport.UNSUPPORTED

    finding = _offsets(Shares, tmp_path)
    assert (finding.status, "none of their own" in finding.text) == (Status.PASSED, True), finding
    killed = Finding("killed:random", Status.PASSED, "each record is there once")
    assert Verdict.of(Guarantee.AT_LEAST_ONCE, [finding, killed], complete=True).may is Guarantee.AT_LEAST_ONCE


def test_offsets_of_their_own_are_seen(tmp_path: Path) -> None:
    assert (_offsets(Lines, tmp_path).doubled, "no two are the same" in _offsets(Lines, tmp_path).text) == (0, True)


class _Scripted(Trial):
    """Runs that write as much as their bound allows, until there is nothing left."""

    def __init__(self, there: int, *, forgets: bool = False) -> None:
        self.left, self.forgets = there, forgets
        self.there = there

    @property
    def total(self) -> int:
        return self.there

    def add(self, count: int) -> None:
        self.left += count

    def difference(self) -> Difference:
        return Difference.of(Counter(), Counter())

    def run(self, keys: Mapping[str, str] | None = None) -> Ended:
        written = min(self.left, int((keys or {}).get(MAX_RECORDS, self.left)))
        self.left -= 0 if self.forgets else written
        return Ended(0, {"splits": 1, "records": {"written": written}})


@pytest.mark.parametrize("there", [0, 10, 1000])
def test_runs_with_a_bound_and_a_last_one_without_move_all_that_there_is(there: int) -> None:
    trial = _Scripted(there)
    drained(trial, 1)
    assert trial.left == 0


def test_runs_with_a_bound_that_write_the_same_again_are_seen() -> None:
    with pytest.raises(Broken, match="again and again"):
        drained(_Scripted(10, forgets=True), 1)


class _Numbers(SinkHarness):
    """Its target has all records, and no texts."""

    def config(self) -> dict[str, str]:
        return {}

    def arrived(self) -> range:
        return range(RECORDS + 3)


def test_a_sink_whose_texts_cannot_be_read_back_has_not_passed_a_check_of_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trial, "run", lambda *_: None)
    (check,) = (each for each in SINK_CHECKS if each.name == "nulls")
    finding = check.finding(OwnLab(Rows, _Numbers, tmp_path))
    assert (finding.status, "texts are not known" in finding.text) == (Status.DOES_NOT_APPLY, True), finding


class _NoConfig(LinesHarness):
    def config(self) -> dict[str, str]:
        raise KeyError("database")


@pytest.mark.parametrize(
    ("connector", "harness", "reason"),
    [(Rows, LinesHarness, "needs a SinkHarness"), (Lines, _NoConfig, "KeyError: 'database'")],
)
def test_a_harness_that_cannot_be_used_is_an_error_before_all_checks(
    connector: type[Connector], harness: type[Harness], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=reason):
        examined(OwnLab(connector, harness, tmp_path), TASK_CHECKS)


def test_a_sink_of_tables_that_is_exactly_once_claims_so_although_it_refuses_replays(tmp_path: Path) -> None:
    class Tables(PlannedSinkConnector):
        exactly_once = True
        check = judged = write = publish = is_published = discard = None  # type: ignore[assignment]

        @classmethod
        def config(cls) -> ConfigDef:
            return ConfigDef()

        @classmethod
        def replay_problem(cls, props: Mapping[str, str]) -> str | None:
            return "has records twice after it"

    assert OwnLab(Tables, {}, tmp_path).claims is Guarantee.EXACTLY_ONCE


class _OwnRecords(_Numbers):
    def record(self, number: int, text: str | None) -> tuple[bytes | None, bytes | None]:
        return None, b"in another format"


@pytest.mark.parametrize(
    ("given", "converter"),
    [({}, "org.apache.kafka.connect.json.JsonConverter"), ({"value.converter": "own"}, "own"), (_OwnRecords, None)],
)
def test_a_sink_reads_records_of_the_kit_whatever_converter_the_worker_has(
    given: Mapping[str, Any] | type[Harness], converter: str | None, tmp_path: Path
) -> None:
    with OwnLab(Rows, given, tmp_path).trial(0, counted=False) as trial:
        assert trial.config.get("value.converter") == converter


class _MakesATable(_Numbers):
    def config(self) -> dict[str, str]:
        (self.folder / "table").mkdir()
        return {}


def test_a_harness_is_asked_once_for_its_configuration(tmp_path: Path) -> None:
    with OwnLab(Rows, _MakesATable, tmp_path).trial() as trial:
        assert trial.added == RECORDS


class _TimedTask(LinesTask):
    def record(self, number: int, text: str) -> SourceRecord:
        return replace(super().record(number, text), value={"n": number, "text": text, "at": time.monotonic_ns()})


class _Timed(Lines):
    task = _TimedTask


class _OtherBytes(LinesHarness):
    def identity(self, record: Arrived) -> str:
        raise ValueError("not Avro")


@pytest.mark.parametrize(
    ("harness", "status"),
    [(LinesHarness, Status.FAILED), (TimesHarness, Status.PASSED), (_OtherBytes, Status.DOES_NOT_APPLY)],
)
def test_a_task_delivers_the_same_again_if_only_that_differs_which_the_identity_leaves_out(
    harness: type[Harness], status: Status, tmp_path: Path
) -> None:
    (check,) = (each for each in TASK_CHECKS if each.name == "same-again")
    assert check.finding(OwnLab(_Timed, harness, tmp_path)).status is status
