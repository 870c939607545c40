"""Runs whose clients log in with tokens, in each of their processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.connect.java_plugins import FILE_SOURCE
from tests.support.kafka import create_topic
from tests.support.logins.broker import TokenBroker
from tests.support.logins.cloud import Cloud
from tests.support.spark.jobs import start_job

Worker = dict[str, str]
LINES = [f"line-{number}" for number in range(100)]
FILE_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
STRINGS = "org.apache.kafka.connect.storage.StringConverter"
HOSTED = {"kconnect.hosted": "true", "tasks.max": "1"}
JAVA, OWN, SPARK = "Java", "own processes", "Spark's workers"
WAYS: dict[str, dict[str, Any]] = {JAVA: {"direct": True}, OWN: {}, SPARK: {"spark_submit": True}}


@pytest.mark.parametrize(
    ("by", "to"),
    [
        (JAVA, OWN),
        pytest.param(OWN, JAVA, marks=pytest.mark.exhaustive),
        pytest.param(SPARK, SPARK, marks=pytest.mark.exhaustive),
    ],
)
def test_a_source_and_a_sink_run_with_tokens_of_a_role(
    by: str, to: str, worker: Callable[..., Worker], own_cloud: Cloud, token_broker: TokenBroker, tmp_path: Path
) -> None:
    topic, out = create_topic(token_broker.bootstrap, unique("tokens")), tmp_path / "out"
    out.mkdir()
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    own = worker("aws_msk_iam", **{"kconnect.oauth.aws_msk_iam.role.arn": "arn:aws:iam::1:role/kafka"})
    own |= {"group.id": unique("tokens"), "value.converter": STRINGS, "key.converter": STRINGS}
    own |= {"plugin.path": str(plugin_folder(tmp_path / "plugins", FILE))}
    source = {"file": str(tmp_path / "in.txt"), "topic": topic, "connector.class": "FileStreamSource"}
    sink = {"topics": topic, "connector.class": "DirectorySink", "directory": str(out), "format": "text"}
    if by == JAVA:
        source |= {"connector.class": FILE_SOURCE, **HOSTED}
    if to == JAVA:
        sink = {"topics": topic, "connector.class": FILE_SINK, "file": str(out / "lines.txt"), **HOSTED}
    for way, config in ((by, source), (to, sink)):
        job = start_job({"name": unique("tokens"), **config}, own, tmp_path / "jobs", **WAYS[way])
        assert job.wait(150) == 0, job.text()
        assert not [secret for pair, key in own_cloud.keys.items() for secret in (pair[1], key) if secret in job.text()]
    written = sorted(line for path in out.rglob("*.txt") for line in path.read_text().splitlines())
    assert written == sorted(LINES)
