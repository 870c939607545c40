"""Which configurations run a Java class, and what is checked of them without Java."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.inspection import hosted_kind
from airflow_kconnect.hosting.keys import hosted_group
from airflow_kconnect.hosting.replays import interval_problem
from airflow_kconnect.runs.replays import check_dead_letters, check_replay
from airflow_kconnect.validation.connector import ValidatedConfig, validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig

KAFKA = {"bootstrap.servers": "localhost:9092"}
ACME = "org.acme.AcmeSourceConnector"
FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.fixture
def worker(tmp_path: Path) -> dict[str, str]:
    """A worker with a plug-in that has two connectors, one of which has the name of one of ours."""
    folder = tmp_path / "acme"
    folder.mkdir()
    with zipfile.ZipFile(folder / "acme-1.2.jar", "w") as jar:
        jar.writestr("META-INF/services/org.apache.kafka.connect.source.SourceConnector", f"{ACME}\n{FILE}\n")
        jar.writestr("META-INF/services/org.apache.kafka.connect.sink.SinkConnector", "org.acme.AcmeSinkConnector\n")
    return {**KAFKA, "plugin.path": str(tmp_path)}


def validated(worker: dict[str, str], **props: str) -> ValidatedConfig:
    given = {"name": "a", **{key.replace("_", "."): text for key, text in props.items()}}
    return validate_connector(given, worker=WorkerConfig.from_props(worker))


def test_a_class_that_is_not_one_of_ours_is_hosted(worker: dict[str, str]) -> None:
    config = validated(worker, connector_class="AcmeSource", anything_at_all="x")
    assert (config.connector_class, config.kind, config.warnings) == (ACME, "source", [])
    assert config.hosted is not None and config.hosted.version == "1.2"


def test_one_of_ours_wins_unless_java_is_asked_for(worker: dict[str, str]) -> None:
    own = {"connector_class": FILE, "topic": "t", "file": "/in"}
    assert validated(worker, **own).hosted is None
    assert validated(worker, **own, kconnect_hosted="true").hosted is not None


def test_java_that_is_asked_for_must_be_there() -> None:
    with pytest.raises(ConfigError, match="is true, but no plug-in below"):
        validated({**KAFKA, "plugin.path": "/nowhere"}, connector_class=FILE, kconnect_hosted="true")


def test_converters_and_transformations_of_java_are_not_judged_here(worker: dict[str, str]) -> None:
    validated(
        worker,
        connector_class=ACME,
        value_converter="org.acme.AcmeConverter",
        transforms="t",
        transforms_t_type="org.acme.AcmeTransformation",
    )


def test_keys_of_connect_are_checked_all_at_once(worker: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        validated(worker, connector_class="AcmeSink", tasks_max="0", kconnect_hosted_memory="plenty")
    assert set(caught.value.errors) == {"tasks.max", "kconnect.hosted.memory", "topics", "topics.regex"}


def test_a_sink_is_not_run_as_a_source(worker: dict[str, str]) -> None:
    config = {"name": "a", "connector.class": "AcmeSink", "topics": "t"}
    with pytest.raises(ConfigError, match="run it with KafkaSinkOperator"):
        validate_connector(config, worker=WorkerConfig.from_props(worker), kind="source")


def test_the_kind_is_known_without_a_valid_configuration(worker: dict[str, str]) -> None:
    assert hosted_kind({"connector.class": "AcmeSink"}, worker) == "sink"
    assert hosted_kind({"connector.class": FILE}, worker) is None


def test_the_group_is_the_connectors_own() -> None:
    assert hosted_group({"name": "a"}, "kconnect") == "kconnect-a"
    assert hosted_group({"name": "a", "kconnect.hosted.group.id": "cluster"}, "kconnect") == "cluster"


@pytest.mark.parametrize("config", [{"connector.class": ACME}, {"connector.class": FILE, "kconnect.hosted": "true"}])
def test_an_interval_is_moved_again_through_sinks_only(config: dict[str, str]) -> None:
    check_replay({**config, "topics": "t"})
    with pytest.raises(ConfigError, match="is a hosted Java source: an interval of time"):
        check_replay(config)
    with pytest.raises(ConfigError, match="dead letters cannot be moved again through it"):
        check_dead_letters({**config, "topics": "t"})


@pytest.mark.parametrize(
    ("name", "more", "why"),
    [
        ("org.apache.iceberg.connect.IcebergSinkConnector", {}, "in a group of its own, with the data"),
        ("com.snowflake.kafka.connector.SnowflakeSinkConnector", {}, "in its tables' channels"),
        ("com.clickhouse.kafka.connect.ClickHouseSinkConnector", {"exactlyOnce": "true"}, "in its database"),
        ("com.clickhouse.kafka.connect.ClickHouseSinkConnector", {}, None),
    ],
)
def test_sinks_with_offsets_of_their_own_are_refused(name: str, more: dict[str, str], why: str | None) -> None:
    problem = interval_problem(name, "sink", more)
    assert (why is None and problem is None) or (why is not None and why in str(problem))
