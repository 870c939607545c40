"""Jobs whose driver runs on the cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airflow_kconnect.operators.base import ConnectorOperator
from tests.support.airflow.operator_runs import context, source
from tests.support.spark.fake_spark import FakeSpark, printing


class TestClusterMode:
    @pytest.fixture(autouse=True)
    def yarn(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))

    def test_the_file_is_uploaded_and_named_without_its_folder(self, spark: FakeSpark) -> None:
        source(files="/x.txt", durable=False).execute(context())

        command = spark.command
        ours = command[command.index("--files") + 1].split(",")[1]
        assert command[command.index("--files") + 1].startswith("/x.txt,")
        assert command[-2:] == ["--run", Path(ours).name]
        assert not Path(ours).exists()

    def test_there_is_no_report(self, spark: FakeSpark) -> None:
        spark.behave(printing("application_1_2 FINISHED"))

        assert source(durable=False).execute(context()) is None

    def test_a_cleared_run_does_not_find_the_job_of_the_run_before(self, spark: FakeSpark) -> None:
        operator = source(durable=False)
        operator.execute(context(clear_number=3))

        assert operator.external_id_key == "spark_job_id:3"
        assert operator._K8S_DRIVER_STATUS_KEY == "k8s_driver_status:3"
        assert ConnectorOperator.external_id_key == "spark_job_id"
