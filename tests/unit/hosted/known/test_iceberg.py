"""What a run waits for besides the consumer group of Iceberg's sink."""

from __future__ import annotations

from airflow_kconnect.hosted.known.iceberg import control, session_default

SINK = "org.apache.iceberg.connect.IcebergSinkConnector"
SESSION, PROTOCOL = "iceberg.kafka.session.timeout.ms", "iceberg.kafka.group.protocol"


def test_the_coordinators_group_and_topic_are_those_of_the_configuration() -> None:
    by_name = control(SINK, {"name": "orders"})
    assert by_name is not None
    assert (by_name.group, by_name.topic) == ("connect-orders-coord", "control-iceberg")
    own = control(SINK, {"name": "orders", "iceberg.connect.group-id": "lake", "iceberg.control.topic": "talk"})
    assert own is not None
    assert (own.group, own.topic) == ("lake-coord", "talk")


def test_other_classes_have_none_and_get_no_key() -> None:
    assert control("com.example.Sink", {"name": "orders"}) is None
    assert session_default("com.example.Sink", {"name": "orders"}) == {}


def test_a_killed_coordinator_is_forgotten_soon_unless_the_connector_says_otherwise() -> None:
    assert session_default(SINK, {"name": "orders"}) == {SESSION: "10000"}
    assert session_default(SINK, {"name": "orders", SESSION: "30000"}) == {}
    assert session_default(SINK, {"name": "orders", PROTOCOL: "consumer"}) == {}
    for props, seconds in (({}, 10.0), ({SESSION: "30000"}, 30.0), ({PROTOCOL: "consumer"}, 45.0)):
        found = control(SINK, {"name": "orders", **props})
        assert found is not None
        assert found.remembered_s == seconds


def test_silence_says_nothing_until_a_commit_is_overdue() -> None:
    interval = "iceberg.control.commit.interval-ms"
    short, usual, wrong = (
        control(SINK, {"name": "orders", **props}) for props in ({interval: "3000"}, {}, {interval: "soon"})
    )
    assert short is not None and usual is not None and wrong is not None
    assert short.patience_s == 93.0
    assert usual.patience_s == wrong.patience_s == 390.0
