"""What a connector of a Connect cluster would be here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.migration.advice import ICEBERG, advice_about
from airflow_kconnect.migration.assessment import Assessment, How, Verdict, assess
from tests.support.connect.java_plugins import source_jar

STRING = "org.apache.kafka.connect.storage.StringConverter"
CONVERTERS = {"key.converter": STRING, "value.converter": STRING}
FILE = {"name": "c", "connector.class": "FileStreamSource", "file": "/in", "topic": "t", **CONVERTERS}
WORKER = {"bootstrap.servers": "localhost:9092", **CONVERTERS}


def judged(config: dict[str, Any], classes: tuple[str, ...] = ()) -> Assessment:
    return assess(config, "source", WORKER, classes)


@pytest.mark.parametrize(
    ("connector", "how"),
    [
        ("org.apache.kafka.connect.file.FileStreamSourceConnector", How.SPARK),
        ("org.apache.kafka.connect.file.FileStreamSinkConnector", How.SPARK),
        ("org.apache.kafka.connect.tools.VerifiableSourceConnector", How.PYTHON),
        ("org.apache.kafka.connect.tools.VerifiableSinkConnector", How.PYTHON),
        ("com.acme.MyConnector", How.JAVA),
        ("", How.UNKNOWN),
    ],
)
def test_how_it_runs(connector: str, how: How) -> None:
    assert judged({"name": "c", "connector.class": connector}).how is how


def test_a_valid_configuration_can_move() -> None:
    assert judged(FILE).verdict is Verdict.READY


def test_a_java_connector_that_is_not_installed_says_how_to_install_it() -> None:
    found = judged({**FILE, "connector.class": "io.debezium.connector.postgresql.PostgresConnector"})
    (text,) = found.problems["connector.class"]
    assert found.verdict is Verdict.NEEDS_CHANGES
    assert text.startswith("there is no such class here, and no Java plug-in below `plugin.path` has it. It is a Java")
    assert "kconnect plugins install io.debezium:debezium-connector-postgres:" in text


def test_a_java_connector_that_is_installed_can_move(tmp_path: Path) -> None:
    source_jar(tmp_path / "acme" / "acme-1.0.jar", "com.acme.AcmeSource")
    worker = {"bootstrap.servers": "localhost:9092", "plugin.path": str(tmp_path), "group.id": "g"}
    converters = {"key.converter": "com.acme.Converter", "value.converter": "com.acme.Converter"}
    found = assess(
        {"name": "c", "connector.class": "AcmeSource", **converters}, "source", worker, ["com.acme.AcmeSource"]
    )
    assert (found.how, found.verdict, found.problems) == (How.HOSTED, Verdict.READY, {})
    assert found.connector_class == "com.acme.AcmeSource"
    assert found.identity["offset topic"] == "connect-offsets"


def test_all_missing_classes_are_listed() -> None:
    stages = {"transforms": "x", "transforms.x.type": "com.acme.Mask", "transforms.x.predicate": "p"}
    predicates = {"predicates": "p", "predicates.p.type": "com.acme.IsMine"}
    found = judged({**FILE, **stages, **predicates, "value.converter": "com.acme.Converter"})
    assert found.missing == ["predicates.p.type", "transforms.x.type", "value.converter"]
    assert found.verdict is Verdict.NEEDS_CHANGES


def test_keys_without_effect_are_warnings() -> None:
    assert judged({**FILE, "config.action.reload": "none"}).without_effect[0].startswith("`config.action.reload` has")


def test_keys_without_effect_are_listed_of_a_configuration_with_errors_too() -> None:
    found = judged({**FILE, "tasks.max": "0", "config.action.reload": "none"})
    assert found.problems.keys() == {"tasks.max"}
    assert any("config.action.reload" in text for text in found.without_effect)


def test_converters_that_only_the_cluster_knows_are_asked_for() -> None:
    config = {key: value for key, value in FILE.items() if key != "value.converter"}
    found = assess(config, "source", {"bootstrap.servers": "localhost:9092"})
    assert found.problems.keys() == {"value.converter"}
    assert "Connect does not tell which one its workers have" in found.problems["value.converter"][0]


def test_converters_of_the_worker_file_are_enough() -> None:
    assert judged({key: value for key, value in FILE.items() if "converter" not in key}).verdict is Verdict.READY


def test_a_short_name_that_is_another_class_in_connect() -> None:
    jdbc = {"connector.class": "JdbcSource", "connection.url": "jdbc:sqlite:/x", "mode": "bulk", "topic.prefix": "p"}
    found = judged({"name": "c", **jdbc, **CONVERTERS}, ("io.aiven.connect.jdbc.JdbcSourceConnector",))
    assert "JdbcSource is io.aiven.connect.jdbc.JdbcSourceConnector in Connect" in found.problems["connector.class"][0]


def test_a_short_name_that_is_the_same_class_in_connect() -> None:
    assert judged(FILE, ("org.apache.kafka.connect.file.FileStreamSourceConnector",)).verdict is Verdict.READY


def test_secrets_in_plain_text_are_named_and_not_shown() -> None:
    found = judged({**FILE, "connection.password": "s3cret", "other.password": "${file:/run/x:y}"})
    assert found.secrets == ["connection.password"]
    assert "s3cret" not in repr(found)


def test_where_the_offsets_of_a_source_are() -> None:
    assert judged({**FILE, "offsets.storage.topic": "mine"}).identity == {
        "offset topic": "mine",
        "group.id": "kconnect",
    }


def test_where_the_offsets_of_a_sink_are() -> None:
    sink = {"name": "s", "connector.class": "FileStreamSink", "topics": "t", **CONVERTERS}
    assert judged(sink).identity == {"consumer group": "connect-s"}


def test_variables_of_other_providers_need_the_worker_file() -> None:
    advice = judged({**FILE, "connection.password": "${vault:a:b}", "x": "${env:A}"}).advice
    assert "it uses variables of vault: the worker file must declare these providers" in advice
    assert any(text.startswith("what its variables (env) name must exist where jobs run") for text in advice)


def test_who_moves_icebergs_sink_is_told_what_it_depends_on() -> None:
    config = {"connector.class": ICEBERG}
    assert any("files of its tasks are not committed" in text for text in advice_about(ICEBERG, config))
    assert not advice_about(ICEBERG, {**config, "kconnect.hosted": "true"})


S3 = {
    "name": "lake",
    "connector.class": "io.confluent.connect.s3.S3SinkConnector",
    "tasks.max": "8",
    "topics": "orders",
    "s3.bucket.name": "shop",
    "s3.region": "eu-central-1",
    "s3.part.size": "5242880",
    "flush.size": "1000",
    "rotate.schedule.interval.ms": "600000",
    "storage.class": "io.confluent.connect.s3.storage.S3Storage",
    "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
    "partitioner.class": "io.confluent.connect.storage.partitioner.DefaultPartitioner",
    "schema.compatibility": "NONE",
    **CONVERTERS,
}


def test_what_of_connect_spooldir_is_not_taken_over_is_told() -> None:
    spooldir = {
        "name": "spool",
        "connector.class": "com.github.jcustenborder.kafka.connect.spooldir.SpoolDirLineDelimitedSourceConnector",
        "input.path": "/data/in",
        "finished.path": "/data/done",
        "error.path": "/data/bad",
        "input.file.pattern": ".*",
        "topic": "lines",
        **CONVERTERS,
    }
    found = assess(spooldir, "source", WORKER, ())
    assert (found.how, found.verdict) == (How.SPARK, Verdict.READY)
    assert "its offsets are not taken over" in " ".join(found.advice)


def test_confluents_s3_sink_moves_as_it_is() -> None:
    found = assess(S3, "sink", WORKER, ())
    assert (found.how, found.verdict, found.identity) == (
        How.SPARK,
        Verdict.READY,
        {"consumer group": "connect-lake"},
    )
    assert any(text.startswith("`rotate.schedule.interval.ms` has no effect") for text in found.without_effect)
    assert any("replaced by the first run" in text for text in found.advice)


def test_an_s3_sink_with_classes_of_its_own_needs_changes() -> None:
    found = assess({**S3, "partitioner.class": "com.acme.Mine"}, "sink", WORKER, ())
    assert (found.verdict, [*found.problems]) == (Verdict.NEEDS_CHANGES, ["partitioner.class"])
