"""The error of a task whose job has failed."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

from airflow_kconnect.errors import (
    ConnectorConfigError,
    ConnectorDataError,
    ConnectorFencedError,
    ConnectorInternalError,
    ConnectorRetriableError,
    ConnectorRunError,
)
from airflow_kconnect.runs.events import event_line
from tests.support.airflow.operator_runs import SOURCE, context, source
from tests.support.spark.fake_spark import FakeSpark, printing


class TestExitCodes:
    @pytest.mark.parametrize(
        ("code", "error"),
        [
            (1, ConnectorConfigError),
            (2, ConnectorConfigError),
            (3, ConnectorRetriableError),
            (4, ConnectorFencedError),
            (5, ConnectorInternalError),
        ],
    )
    def test_become_exceptions_with_the_jobs_own_words(
        self, spark: FakeSpark, code: int, error: type[Exception]
    ) -> None:
        event = event_line("error", error="X", message="topic lines is unavailable", exit_code=code, errors=None)
        spark.behave(printing(event, exit_code=code))

        with pytest.raises(error) as caught:
            source().execute(context())

        assert str(caught.value) == "topic lines is unavailable"
        assert type(caught.value) is error

    @pytest.mark.parametrize("name", ["DataError", "RefusedError", "WarnedError"])
    def test_wrong_data_are_not_a_wrong_configuration_but_not_retried_either(self, spark: FakeSpark, name: str) -> None:
        spark.behave(printing(event_line("error", error=name, message="bad record", exit_code=1), exit_code=1))
        with pytest.raises(ConnectorDataError) as caught:
            source().execute(context())
        assert isinstance(caught.value, ConnectorConfigError)

    @pytest.mark.parametrize("code", [1, 2, 9, 137])
    def test_a_failure_of_spark_may_be_retried(self, spark: FakeSpark, code: int) -> None:
        spark.behave(printing("Exception in thread main: no master", exit_code=code))

        with pytest.raises(ConnectorRunError, match="no master") as caught:
            source().execute(context())

        assert not isinstance(caught.value, AirflowFailException)

    def test_an_end_without_report_is_not_a_success(self, spark: FakeSpark) -> None:
        spark.behave(printing("all fine"))

        with pytest.raises(ConnectorRunError, match="no report"):
            source().execute(context())

    def test_the_file_is_gone_after_a_failure(self, spark: FakeSpark) -> None:
        spark.behave(printing(exit_code=5))
        with pytest.raises(AirflowException):
            source().execute(context())

        assert not Path(spark.run["path"]).exists()


class TestErrors:
    """What a task log shows last."""

    def test_of_the_job_come_without_the_providers(self, spark: FakeSpark) -> None:
        event = event_line("error", error="DataError", message="the job's words", exit_code=1, errors=None)
        spark.behave(printing(event, exit_code=1))

        with pytest.raises(ConnectorConfigError) as caught:
            source().execute(context())

        shown = "".join(traceback.format_exception(caught.value)).splitlines()
        assert shown[-1] == "airflow_kconnect.errors.ConnectorDataError: the job's words"
        assert not [line for line in shown if "Cannot execute" in line or "another exception" in line]

    def test_of_spark_are_the_end_of_its_output_without_the_command(self, spark: FakeSpark) -> None:
        spark.behave(printing("no such master", exit_code=1))

        with pytest.raises(ConnectorRunError) as caught:
            source().execute(context())

        text = str(caught.value)
        assert text.startswith("spark-submit ended with exit code 1, and the job reported no error")
        assert "no such master" in text
        assert "--conf" not in text

    def test_of_a_configuration_are_one_traceback(self, spark: FakeSpark) -> None:
        with pytest.raises(ConnectorConfigError) as caught:
            source(connector={**SOURCE, "config": {}}).execute(context())

        assert "".join(traceback.format_exception(caught.value)).count("Traceback") == 1
