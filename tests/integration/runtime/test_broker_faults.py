"""The broker is unavailable, refuses, or comes back: one clear line, the right exit code, and nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.local import ports
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from tests.integration.runtime.conftest import NumberedFile, Run, Source, missing_and_doubled
from tests.support.kafka import read_values
from tests.support.spark.jobs import start_job


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker that may be stopped, has a SASL listener too, and creates topics on request."""
    broker = EmbeddedBroker(
        tmp_path_factory.mktemp("own-broker"),
        heap_mb=256,
        sasl_users={"user": "right-password"},
        settings={"auto.create.topics.enable": "true"},  # Kafka's default
    )
    broker.start()
    yield broker
    broker.stop()


def test_broker_that_is_unavailable_is_retriable_and_named(
    numbered: NumberedFile, file_source: Source, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_kconnect.kafka.admin.KafkaAdmin.__init__.__defaults__", (3.0,))
    address = f"127.0.0.1:{ports.free_port()}"
    with pytest.raises(RetriableError, match=address):
        run_here(file_source(), **{"bootstrap.servers": address})


def _sasl(broker: EmbeddedBroker, password: str) -> dict[str, str]:
    return {
        "bootstrap.servers": str(broker.sasl_bootstrap),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required"
        f' username="user" password="{password}";',
    }


def test_wrong_password_is_a_configuration_error_that_does_not_show_it(
    own_broker: EmbeddedBroker, file_source: Source, run_here: Run
) -> None:
    with pytest.raises(ConfigError, match="authentication failed") as caught:
        run_here(file_source(), **_sasl(own_broker, "wrong-password"))
    assert "wrong-password" not in str(caught.value)


def test_right_password_moves_the_records(
    own_broker: EmbeddedBroker, numbered: NumberedFile, file_source: Source, run_here: Run
) -> None:
    """Here also: the first run makes its offset topic before the broker does, which would not compact it."""
    numbered.append(10)
    report = run_here(file_source(), **_sasl(own_broker, "right-password"))
    assert report.records["written"] == 10


@pytest.mark.spark_submit
def test_broker_restarted_mid_run_loses_and_doubles_nothing(
    own_broker: EmbeddedBroker, numbered: NumberedFile, file_source: Source, run_here: Run, tmp_path: Path
) -> None:
    numbered.append(60_000)
    config, worker = file_source(), worker_config(own_broker.bootstrap)
    job = start_job(config, worker, tmp_path, failpoint="mid-produce")
    job.wait_for_failpoint()
    own_broker.kill()
    own_broker.start()
    job.reached.unlink()
    survived = job.wait() == 0
    if not survived:
        assert job.event("error")["exit_code"] in (3, 4)
        run_here(config, **worker)
    assert missing_and_doubled(numbered.expected(), read_values(own_broker.bootstrap, config["topic"])) == (set(), [])
