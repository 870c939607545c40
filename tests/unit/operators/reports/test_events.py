"""Which asset events a run records, and what they say about it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, connector_alias, topic_asset
from airflow_kconnect.operators.reports.events import event_facts
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.connector_tasks import SINK, SOURCE, context, ending_with, fake_spark, report
from tests.support.spark.fake_spark import FakeSpark

LAKE = Asset("lake")
HOUR = {"data_interval_start": datetime.fromisoformat("2026-01-01T10:00:00+01:00")}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    return fake_spark(tmp_path, monkeypatch)


class TestTopics:
    def _events(self, spark: FakeSpark, content: dict[str, Any], **parameters: Any) -> list[Any]:
        spark.behave(ending_with(content))
        given = context()
        KafkaSourceOperator(task_id="t", connector=SOURCE, **parameters).execute(given)
        return list(given["outlet_events"][connector_alias("lines")].asset_alias_events)

    def test_each_topic_gets_one_with_the_facts_of_the_run(self, spark: FakeSpark) -> None:
        content = report(topics=["a", "b"])

        events = self._events(spark, content)

        assert [event.dest_asset_key.uri for event in events] == [topic_asset("a").uri, topic_asset("b").uri]
        assert events[0].extra == {
            "connector": "lines",
            "run": "d/r/t#1",
            "records": content["records"],
            "complete": True,
            "offsets": content["offsets"],
            "partitions": 1,
            "guarantee": "exactly_once",
        }

    def test_there_is_none_when_nothing_was_written(self, spark: FakeSpark) -> None:
        assert self._events(spark, report(records={"read": 0, "written": 0}, topics=[])) == []

    def test_there_is_none_when_switched_off(self, spark: FakeSpark) -> None:
        assert self._events(spark, report(), asset_events=False) == []


class TestFacts:
    def test_they_are_small_whatever_the_connector_is(self) -> None:
        offsets = [{"topic": "lines", "partition": n, "offset": n} for n in range(1000)]
        facts = event_facts(report("sink", offsets=offsets, lag={str(n): n for n in range(1000)}))
        assert (facts["partitions"], len(facts["offsets"]), len(facts["lag"])) == (1000, 20, 20)

    def test_of_a_replay_they_say_where_its_records_are_in_this_topic(self) -> None:
        ranges = [{"topic": topic, "partition": 0, "start": 5, "end": 9} for topic in ("a", "b")]
        interval = "2026-01-01T00:00:00Z/2026-01-01T01:00:00Z"
        facts = event_facts(report(replay=interval, ranges=ranges), "b")
        assert (facts["replay"], facts["ranges"]) == (interval, ranges[1:])


class TestOwnOutlets:
    def _event(self, spark: FakeSpark, content: dict[str, Any], run: dict[str, Any], **parameters: Any) -> Any:
        spark.behave(ending_with(content))
        dag_run = SimpleNamespace(**{"clear_number": 0, "run_type": "manual"} | run)
        given = context(dag_run=dag_run)
        given["outlet_events"][LAKE].extra["owner"] = "me"
        KafkaSinkOperator(task_id="t", connector=SINK, outlets=[LAKE], **parameters).execute(given)
        return given["outlet_events"][LAKE]

    def test_their_events_say_what_a_sink_has_read(self, spark: FakeSpark) -> None:
        extra = self._event(spark, report("sink"), {}).extra
        assert extra["offsets"] == [{"topic": "lines", "partition": 0, "offset": 7}]
        assert (extra["lag"], extra["owner"]) == ({"lines": 0}, "me")

    def test_they_are_left_alone_when_switched_off(self, spark: FakeSpark) -> None:
        assert self._event(spark, report("sink"), {}, asset_events=False).extra == {"owner": "me"}

    @needs_airflow_3_3
    @pytest.mark.parametrize(
        ("replay", "run", "keys"),
        [
            (None, HOUR, {"2026-01-01T09:00:00"}),
            ("2026-01-02T00:00:00.000Z/2026-01-02T01:00:00.000Z", HOUR, {"2026-01-02T00:00:00"}),
            (None, {"data_interval_start": None}, set()),
            (None, HOUR | {"partition_key": "eu"}, set()),
        ],
    )
    def test_their_partition_is_the_interval_unless_the_run_has_one(
        self, spark: FakeSpark, replay: str | None, run: dict[str, Any], keys: set[str]
    ) -> None:
        event = self._event(spark, report("sink", replay=replay), run, asset_partitions=True)
        assert event.partition_keys == keys
