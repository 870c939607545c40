"""Topics as assets: their names, and what operators declare."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.sdk import DAG, Asset, AssetAlias

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, connector_alias, topic_asset
from tests.support.connectors.connector_tasks import SINK, SOURCE


class TestTopicAsset:
    def test_is_named_by_connection_and_topic(self) -> None:
        asset = topic_asset("orders")

        assert (asset.name, asset.uri) == ("kafka://kafka_default/orders",) * 2

    def test_is_the_asset_that_the_kafka_provider_makes(self) -> None:
        from airflow.providers.apache.kafka.assets.kafka import create_asset

        assert topic_asset("orders", "broker:9092") == create_asset(server="broker:9092", topic="orders")

    def test_any_connection_id_makes_a_valid_uri(self) -> None:
        assert topic_asset("orders", "team/kafka#1").uri == "kafka://team%2Fkafka%231/orders"

    def test_a_name_that_no_topic_can_have_is_refused(self) -> None:
        with pytest.raises(ValueError, match="contains one or more characters other than"):
            topic_asset("{{ params.topic }}")


class TestDeclared:
    def test_a_source_has_an_alias_named_by_its_connector(self) -> None:
        assert KafkaSourceOperator(task_id="t", connector=SOURCE).outlets == [AssetAlias("kconnect/lines")]

    @pytest.mark.parametrize("connector", ["lines.json", {**SOURCE, "name": "{{ params.name }}"}])
    def test_a_source_whose_name_is_not_known_yet_has_one_named_by_its_task(self, connector: Any) -> None:
        with DAG("d"):
            operator = KafkaSourceOperator(task_id="t", connector=connector)

        assert operator.outlets == [connector_alias("d.t")]

    def test_the_users_own_outlets_stay(self) -> None:
        own = Asset("mine")

        assert KafkaSourceOperator(task_id="t", connector=SOURCE, outlets=[own]).outlets[0] == own

    def test_an_alias_that_is_given_is_there_once(self) -> None:
        given = [connector_alias("lines"), connector_alias("other")]

        assert KafkaSourceOperator(task_id="t", connector=SOURCE, outlets=given).outlets == given

    def test_a_sink_has_the_topics_that_it_names_as_inlets(self) -> None:
        operator = KafkaSinkOperator(task_id="t", connector={**SINK, "topics": "a, b"}, inlets=[Asset("mine")])

        assert operator.inlets == [Asset("mine"), topic_asset("a"), topic_asset("b")]

    def test_without_a_connection_the_first_broker_names_the_assets(self) -> None:
        worker = {"bootstrap.servers": "SASL_SSL://b1:9093,b2:9093"}
        operator = KafkaSinkOperator(task_id="t", connector=SINK, kafka_conn_id=None, worker_config=worker)

        assert operator.inlets == [topic_asset("lines", "b1:9093")]

    @pytest.mark.parametrize("topics", [{"topics": "{{ params.topic }}"}, {"topics": "", "topics.regex": "l.*"}])
    def test_topics_that_are_not_known_yet_are_left_out(self, topics: dict[str, str]) -> None:
        assert KafkaSinkOperator(task_id="t", connector={**SINK, **topics}).inlets == []

    def test_a_wrong_configuration_declares_nothing(self) -> None:
        wrong = {"name": "a", "config": {**SINK, "name": "b"}}

        assert KafkaSinkOperator(task_id="t", connector=wrong).inlets == []

    @pytest.mark.parametrize("operator", [KafkaSourceOperator, KafkaSinkOperator])
    def test_can_be_switched_off(self, operator: Any) -> None:
        made = operator(task_id="t", connector={**SINK, **SOURCE}, asset_events=False)

        assert (made.inlets, made.outlets) == ([], [])
