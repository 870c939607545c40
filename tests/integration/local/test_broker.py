"""The embedded broker, started for real."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner

from airflow_kconnect.cli.local.broker import app
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local import broker as broker_module
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine.errors import SetupError
from tests.support.kafka import create_topic, eventually, produce, read_all, read_values

PASSWORD = 'se"cret;\\1'


@pytest.fixture(scope="module")
def ill_treated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker that several tests ill-treat; each starts it, which does nothing if it runs."""
    data = tmp_path_factory.mktemp("ill-treated") / "data"
    broker = EmbeddedBroker(data, heap_mb=256, sasl_users={"ann": PASSWORD})
    yield broker
    broker.stop()


class TestRunning:
    def test_records_come_back(self, bootstrap: str, topic: Callable[..., str]) -> None:
        name = topic(partitions=2)
        produce(bootstrap, name, ["a", None], key="k", partition=1, headers=[("h", b"1")])
        first, second = read_all(bootstrap, name)
        assert first[:5] == (1, 0, b"k", b"a", [("h", b"1")])
        assert second[:4] == (1, 1, b"k", None)
        assert abs(first.timestamp / 1000 - time.time()) < 60

    def test_transactions_work(self, bootstrap: str, topic: Callable[..., str]) -> None:
        name = topic()
        produce(bootstrap, name, ["a", "b"], settings={"transactional.id": name})
        assert read_values(bootstrap, name) == [b"a", b"b"]

    def test_an_open_transaction_is_read_only_uncommitted(self, bootstrap: str, topic: Callable[..., str]) -> None:
        name = topic()
        producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce(name, b"a")
        producer.flush(10)
        assert read_all(bootstrap, name) == []
        assert [record.value for record in read_all(bootstrap, name, committed=False)] == [b"a"]
        producer.abort_transaction(30)

    def test_topics_are_not_made_by_accident(self, bootstrap: str) -> None:
        with pytest.raises(AssertionError, match=r"_MSG_TIMED_OUT|not delivered|UNKNOWN_TOPIC"):
            produce(bootstrap, "no-such-topic", ["a"], settings={"message.timeout.ms": "2000"})

    def test_only_loopback_listens(self, broker: EmbeddedBroker) -> None:
        listening = [c for c in psutil.Process(broker.status().pid).net_connections("tcp") if c.status == "LISTEN"]
        assert listening
        assert all("127.0.0.1" in c.laddr.ip for c in listening)

    def test_second_start_says_that_it_runs(self, broker: EmbeddedBroker) -> None:
        before = broker.status()
        again = broker.start()
        assert (again.pid, again.bootstrap) == (before.pid, before.bootstrap)
        assert again.note == "The broker is already running."


class TestLife:
    def test_after_a_kill_a_start_cleans_the_stale_pid_file_with_a_note_and_keeps_port_and_records(
        self, ill_treated: EmbeddedBroker
    ) -> None:
        bootstrap = ill_treated.start().bootstrap
        assert bootstrap
        create_topic(bootstrap, "kept")
        produce(bootstrap, "kept", ["a"])
        ill_treated.kill()
        stranger = {"pid": os.getpid(), "started_epoch_s": 1.0}
        (ill_treated.status().data / "broker.pid").write_text(json.dumps(stranger))
        assert ill_treated.status().state == "stopped"
        again = ill_treated.start()
        assert "was not shut down cleanly" in again.note
        assert again.bootstrap == bootstrap
        assert read_values(bootstrap, "kept") == [b"a"]

    def test_sasl_listener_asks_for_the_password(self, ill_treated: EmbeddedBroker) -> None:
        ill_treated.start()
        _log_in(ill_treated.sasl_bootstrap, "ann", PASSWORD, 60)
        with pytest.raises(KafkaException):
            _log_in(ill_treated.sasl_bootstrap, "ann", "wrong", 5)
        assert (ill_treated.status().data / "server.properties").stat().st_mode & 0o077 == 0

    def test_a_frozen_broker_does_not_answer_and_continues(self, ill_treated: EmbeddedBroker) -> None:
        ill_treated.start()
        ill_treated.pause()
        assert ill_treated.status().state == "starting"
        ill_treated.resume()
        assert eventually(lambda: ill_treated.status().state, "running") == "running"
        ill_treated.pause()
        assert ill_treated.stop()
        assert ill_treated.status().state == "stopped"
        assert not ill_treated.stop()


class TestRefusals:
    def test_port_taken(self, tmp_path: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(SetupError, match=rf"Port {port} is taken by process {os.getpid()} .*--port"):
                EmbeddedBroker(tmp_path, port=port).start()

    def test_broker_dies_at_start(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match=r"exit code 1\. From .*broker.log:\n(.|\n)*.*Invalid value lots"):
            EmbeddedBroker(tmp_path, settings={"num.io.threads": "lots"}).start()
        assert not (tmp_path / "broker.pid").exists()

    def test_folder_of_something_else(self, tmp_path: Path) -> None:
        (tmp_path / "meta.properties").write_text("cluster.id=x\n")
        with pytest.raises(SetupError, match="is not empty and was not made by this command"):
            EmbeddedBroker(tmp_path).start()

    def test_storage_of_another_cluster(self, tmp_path: Path) -> None:
        (tmp_path / "kafka-logs").mkdir()
        (tmp_path / "kafka-logs" / "meta.properties").write_text("cluster.id=theirs\n")
        (tmp_path / "cluster.id").write_text("ours")
        with pytest.raises(SetupError, match=r"another cluster \(theirs, expected ours\)"):
            EmbeddedBroker(tmp_path).start()

    def test_folder_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(SetupError, match=r"Cannot write .*Not a directory"):
            EmbeddedBroker(tmp_path / "file" / "data").start()

    def test_disk_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(broker_module, "_MIN_FREE_BYTES", 1 << 60)
        with pytest.raises(RetriableError, match=r"The disk that holds .* is full"):
            EmbeddedBroker(tmp_path).start()

    def test_no_java(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("JAVA_HOME", raising=False)
        with pytest.raises(SetupError, match="No Java was found"):
            EmbeddedBroker(tmp_path).start()

    def test_never_started(self, tmp_path: Path) -> None:
        broker = EmbeddedBroker(tmp_path)
        assert broker.status().state == "stopped"
        with pytest.raises(SetupError, match="No broker was ever started"):
            assert broker.bootstrap
        with pytest.raises(SetupError, match="is not running"):
            broker.kill()


class TestCommand:
    def test_status_of_a_running_broker_as_json(self, broker: EmbeddedBroker) -> None:
        result = CliRunner().invoke(app, ["status", "--json", "--data", str(broker.status().data)])
        assert result.exit_code == 0
        assert json.loads(result.stdout)["bootstrap"] == broker.bootstrap

    def test_start_of_a_running_broker_exits_0(self, broker: EmbeddedBroker) -> None:
        port = broker.bootstrap.rpartition(":")[2]
        result = CliRunner().invoke(app, ["start", "--data", str(broker.status().data), "--port", port])
        assert result.exit_code == 0
        assert "The broker is already running." in result.stderr

    def test_stopped_broker(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KCONNECT_HOME", str(tmp_path))
        status = CliRunner().invoke(app, ["status"])
        assert (status.exit_code, status.stdout) == (3, f"No broker is running in {tmp_path}/broker.\n")
        assert CliRunner().invoke(app, ["stop"]).exit_code == 0

    def test_error_is_one_line_on_stderr(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").touch()
        result = CliRunner().invoke(app, ["start", "--data", str(tmp_path)])
        assert result.exit_code == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith(f"Error: {tmp_path} is not empty")

    def test_broker_outlives_the_command(self, ill_treated: EmbeddedBroker) -> None:
        ill_treated.stop()
        data = ill_treated.status().data
        python = "from airflow_kconnect.cli.local.broker import app; app()"
        started = subprocess.run(
            [sys.executable, "-c", python, "start", "--data", data, "--port", str(free_port())],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert "runs at 127.0.0.1:" in started.stdout
        assert eventually(lambda: ill_treated.status().state, "running") == "running"
        assert f"bootstrap.servers={ill_treated.bootstrap}" in (data / "worker.properties").read_text()


def _log_in(bootstrap: str, user: str, password: str, timeout_s: float) -> None:
    """:raises KafkaException: no answer, since the password is wrong."""
    admin = AdminClient(
        {
            "bootstrap.servers": bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": password,
            "log_level": 0,
        }
    )
    admin.list_topics(timeout=timeout_s)
