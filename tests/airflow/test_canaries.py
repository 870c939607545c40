"""Secrets that one real run was given in every way that there is: where they are not, while it runs and afterwards."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect import KafkaSourceOperator
from tests.integration.runtime.conftest import NEEDS_SPARK
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.kafka import read_all

pytestmark = [pytest.mark.spark_submit, pytest.mark.timeout(300)]

# By the way in which the run gets it. The job itself must find the one in the environment there.
CANARIES = {
    way: f"s3cret-canary-{way}"
    for way in ("literal", "file", "env", "airflow", "airflow-var", "worker", "kafka-connection", "airflow-setting")
}
PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{}";'


@dataclass
class Observed:
    """What could be seen of the run from outside, and what it left.

    :param sockets: path of a socket -> mode of its folder, while the run was in progress.
    :param open_to_others: file that others could read while the run was in progress -> canaries in it.
    """

    commands: set[str] = field(default_factory=set)
    environments: set[str] = field(default_factory=set)
    sockets: dict[str, int] = field(default_factory=dict)
    open_to_others: dict[Path, list[str]] = field(default_factory=dict)
    log: str = ""
    report: dict[str, Any] | None = None
    lineage: str = ""
    files: dict[Path, bytes] = field(default_factory=dict)
    event_log: bytes = b""
    topics: bytes = b""
    folders_left: list[str] = field(default_factory=list)

    def look(self, temporary: Path) -> None:
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                command = " ".join(words)
                self.commands.add(command)
                if words[:1] == ["/usr/bin/env"]:
                    continue  # it is about to become spark-submit, without Airflow's settings
                if "connector_job" in command or "worker_daemon" in command or "SparkSubmit" in command:
                    self.environments.add(json.dumps(process.environ()))
        with contextlib.suppress(OSError):  # of what is removed while it is looked at
            for path in temporary.rglob("*"):
                self._look_at(path, temporary)

    def _look_at(self, path: Path, temporary: Path) -> None:
        mode = path.stat().st_mode
        if stat.S_ISSOCK(mode):
            self.sockets[str(path)] = stat.S_IMODE(path.parent.stat().st_mode)
        if stat.S_ISREG(mode) and (found := found_in(path.read_bytes())):
            folders = [folder for folder in path.parents if folder.is_relative_to(temporary) and folder != temporary]
            if mode & 0o077 and all(folder.stat().st_mode & 0o077 for folder in folders):
                self.open_to_others[path] = found


@pytest.fixture(scope="module")
def temporary() -> Iterator[Path]:
    """A temporary folder with a short path, as that of a worker: paths of sockets must not be long."""
    folder = Path(tempfile.mkdtemp(prefix="kc-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def observed(bootstrap: str, temporary: Path, tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """The run, under a umask that closes nothing."""
    folder = tmp_path_factory.mktemp("canaries")
    (folder / "input").write_text("".join(f"line {number}\n" for number in range(500)))
    (folder / "secrets.properties").write_text(f"password={CANARIES['file']}\n")
    (folder / "events").mkdir()
    name = unique("canaries")
    operator = KafkaSourceOperator(
        task_id="read",
        connector={
            "name": name,
            "connector.class": "FileStreamSource",
            "file": str(folder / "input"),
            "topic": name,
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            **NEEDS_SPARK,
            "producer.override.sasl.jaas.config": PLAIN.format(CANARIES["literal"]),
            "producer.override.ssl.key.password": f"${{file:{folder}/secrets.properties:password}}",
            "consumer.override.sasl.password": "${env:KCONNECT_CANARY}",
            "consumer.override.ssl.key.password": "${airflow-var:canary}",
            "admin.override.sasl.password": "${airflow:canary:password}",
        },
        worker_config={"offset.storage.topic": f"{name}-offsets", "producer.sasl.password": CANARIES["worker"]},
        conf={
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.local.dir": str(temporary),
        },
    )
    observed = Observed()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", str(temporary))
        patch.setenv("KCONNECT_CANARY", CANARIES["env"])
        patch.setenv("AIRFLOW__CANARY__KEY", CANARIES["airflow-setting"])
        patch.setenv("AIRFLOW_VAR_CANARY", CANARIES["airflow-var"])
        patch.setenv("AIRFLOW_CONN_CANARY", json.dumps({"conn_type": "http", "password": CANARIES["airflow"]}))
        patch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[1]"}))
        extra = {"sasl.password": CANARIES["kafka-connection"]}
        kafka = {"conn_type": "kconnect", "host": bootstrap, "extra": extra}
        patch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
        before = os.umask(0)
        try:
            _run(operator, observed, temporary)
        finally:
            os.umask(before)
        observed.lineage = str(operator.get_openlineage_facets_on_complete(None))
    observed.files = {path: path.read_bytes() for path in temporary.rglob("*") if path.is_file()}
    observed.event_log = b"".join(path.read_bytes() for path in (folder / "events").rglob("*") if path.is_file())
    observed.folders_left = [path.name for path in temporary.glob("kconnect-*")]
    records = [*read_all(bootstrap, name), *read_all(bootstrap, f"{name}-offsets")]
    observed.topics = b"".join(repr(record).encode() for record in records)
    return observed


def _run(operator: KafkaSourceOperator, observed: Observed, temporary: Path) -> None:
    errors: list[BaseException] = []

    def execute() -> None:
        try:
            observed.report = operator.execute(context())
        except BaseException as error:
            errors.append(error)

    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        task = threading.Thread(target=execute, daemon=True)
        task.start()
        while task.is_alive():
            observed.look(temporary)
            time.sleep(0.05)
    observed.log = log.getvalue()
    assert errors == [], observed.log


def found_in(text: str | bytes) -> list[str]:
    content = text if isinstance(text, bytes) else text.encode()
    return [way for way, canary in CANARIES.items() if canary.encode() in content]


def test_the_run_moved_everything(observed: Observed) -> None:
    assert observed.report is not None
    assert observed.report["records"]["written"] == 500


def test_command_lines_have_none(observed: Observed) -> None:
    assert any("connector_job.py" in command for command in observed.commands)
    assert found_in("\n".join(observed.commands)) == []


def test_environments_of_children_have_what_the_worker_was_started_with_and_nothing_of_airflow(
    observed: Observed,
) -> None:
    assert observed.environments
    assert found_in("\n".join(observed.environments)) == ["env"]


def test_the_log_has_none(observed: Observed) -> None:
    assert "records written" in observed.log
    assert found_in(observed.log) == []


def test_topics_have_none(observed: Observed) -> None:
    assert b"line 499" in observed.topics
    assert found_in(observed.topics) == []


def test_the_report_which_xcom_keeps_has_none(observed: Observed) -> None:
    assert found_in(json.dumps(observed.report)) == []


def test_lineage_has_none(observed: Observed) -> None:
    assert "kafka://" in observed.lineage
    assert found_in(observed.lineage) == []


def test_sparks_event_log_has_none(observed: Observed) -> None:
    assert b"SparkListenerApplicationEnd" in observed.event_log
    assert found_in(observed.event_log) == []


def test_no_temporary_file_with_one_is_open_to_others_while_the_run_is_in_progress(observed: Observed) -> None:
    assert observed.open_to_others == {}


def test_no_temporary_file_with_one_is_left(observed: Observed) -> None:
    assert {path: found for path, content in observed.files.items() if (found := found_in(content))} == {}


def test_sockets_of_python_workers_are_in_a_folder_that_no_one_else_can_enter(observed: Observed) -> None:
    assert observed.sockets
    assert set(observed.sockets.values()) == {0o700}


def test_the_folder_of_the_run_is_gone(observed: Observed) -> None:
    assert observed.folders_left == []
