"""Runs whose clients log in with tokens, in each of their processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import unique
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.connect.java_plugins import FILE_SOURCE
from tests.support.kafka import create_topic, produce, read_values
from tests.support.logins.broker import TokenBroker
from tests.support.logins.cloud import Cloud
from tests.support.spark.jobs import start_job

Worker = dict[str, str]
LINES = [f"line-{number}" for number in range(100)]
FILE_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
STRINGS = "org.apache.kafka.connect.storage.StringConverter"


@pytest.mark.parametrize(
    "spark_submit",
    [
        pytest.param(False, id="own processes"),
        pytest.param(True, id="Spark's workers", marks=pytest.mark.exhaustive),
    ],
)
def test_a_source_and_a_sink_run_with_tokens_of_a_role(
    spark_submit: bool, worker: Callable[..., Worker], own_cloud: Cloud, token_broker: TokenBroker, tmp_path: Path
) -> None:
    topic = create_topic(token_broker.bootstrap, unique("tokens"))
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    own = worker("aws_msk_iam", **{"kconnect.oauth.aws_msk_iam.role.arn": "arn:aws:iam::1:role/kafka"})
    own |= {"group.id": unique("tokens"), "value.converter": STRINGS, "key.converter": STRINGS}
    source = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": topic}
    sink = {"connector.class": "DirectorySink", "topics": topic, "directory": str(tmp_path / "out"), "format": "text"}
    for config in (source, sink):
        job = start_job({"name": unique("tokens"), **config}, own, tmp_path / "jobs", spark_submit=spark_submit)
        assert job.process.wait(120) == 0, job.text()
        assert not [secret for pair, key in own_cloud.keys.items() for secret in (pair[1], key) if secret in job.text()]
        job.close()
    written = sorted(line for path in tmp_path.rglob("out/**/*.txt") for line in path.read_text().splitlines())
    assert written == sorted(LINES)


@pytest.mark.parametrize("kind", ["source", pytest.param("sink", marks=pytest.mark.exhaustive)])
def test_java_connectors_run_with_tokens_as_well(
    kind: str, worker: Callable[..., Worker], own_cloud: Cloud, token_broker: TokenBroker, tmp_path: Path
) -> None:
    topic = create_topic(token_broker.bootstrap, unique("java"))
    given, found = tmp_path / "in.txt", tmp_path / "out.txt"
    given.write_text("".join(f"{line}\n" for line in LINES))
    own = worker("aws_msk_iam", **{"plugin.path": str(plugin_folder(tmp_path / "plugins", FILE))})
    own |= {"group.id": unique("tokens"), "value.converter": STRINGS, "key.converter": STRINGS}
    config = {"connector.class": FILE_SOURCE, "file": str(given), "topic": topic}
    if kind == "sink":
        produce(token_broker.bootstrap, topic, LINES)
        config = {"connector.class": FILE_SINK, "topics": topic, "file": str(found)}
    hosted = {"name": unique("java"), "kconnect.hosted": "true", "tasks.max": "1"}
    job = start_job({**config, **hosted}, own, tmp_path / "jobs", direct=True)
    assert job.wait(150) == 0, job.text()
    assert not [secret for pair, key in own_cloud.keys.items() for secret in (pair[1], key) if secret in job.text()]
    lines = [line.encode() for line in LINES]
    assert lines == (found.read_bytes().split() if kind == "sink" else read_values(token_broker.bootstrap, topic))
