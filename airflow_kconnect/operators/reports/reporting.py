"""What Airflow learns about a connector's run: asset events, metrics, callbacks, lineage, a link while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRunError
from airflow_kconnect.hooks.kconnect import KafkaConnectHook
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.hooks.variables import with_database_url
from airflow_kconnect.operators.base import ConnectorOperator
from airflow_kconnect.operators.reports.assets import connector_alias, static_config, topic_inlets
from airflow_kconnect.operators.reports.events import add_outlet_facts, add_topic_events
from airflow_kconnect.operators.reports.failures import leave_failure
from airflow_kconnect.operators.reports.lineage import lineage_of
from airflow_kconnect.operators.reports.telling import TRACKING_URL, TellsOfRuns, put
from airflow_kconnect.runs.report_facts import report_lines

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context


class ReportingOperator(TellsOfRuns, ConnectorOperator):
    """A `ConnectorOperator` that reports its runs to Airflow. Use `KafkaSourceOperator` or `KafkaSinkOperator`.

    Callbacks get the task's context, which contains the run's report as `kconnect`; any Airflow notifier works. They
    are called after the run, in the task's process. One that fails is logged and fails nothing. In a failure callback
    (`on_failure_callback`, `on_retry_callback`) `kconnect` has `connector`, `kind`, `error` and `message`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._report: dict[str, Any] | None = None
        if self.asset_events:
            self._declare_assets()

    def _why_no_lag(self, threshold: int | None) -> str | None:
        return "sources have no lag" if self.kind == "source" else super()._why_no_lag(threshold)

    def _declare_assets(self) -> None:
        """An alias for what a source will write, which only a run knows; for a sink the topics in its configuration."""
        config = static_config(self.connector)
        if self.kind == "source":
            dag = self.get_dag()
            task = self.task_id if dag is None else f"{dag.dag_id}.{self.task_id}"
            self._alias = connector_alias(config.get("name", task))
            if self._alias not in self.outlets:  # mapped tasks may have received it from `partial`
                self.outlets = [*self.outlets, self._alias]
        else:
            self.inlets = [*self.inlets, *topic_inlets(config, self._asset_server())]

    def execute(self, context: Context) -> dict[str, Any] | None:  # type: ignore[override]
        """Run the connector and report the run to Airflow; see `ConnectorOperator.execute`."""
        self._context = context
        with self._telling_of_failure(context):
            return self._reported(context, super().execute(context))

    def execute_complete(
        self, context: Context, event: dict[str, Any], facts: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The end of a run for which a trigger has waited; see `TrackedSparkSubmitOperator.execute_complete`."""
        self.tracking_url = (facts or {}).get(TRACKING_URL)
        with self._telling_of_failure(context):
            return self._reported(context, super().execute_complete(context, event, facts))

    def _reported(self, context: Context, report: dict[str, Any] | None) -> dict[str, Any] | None:
        if report is None:  # the job's output stayed on the cluster
            return None
        self._report = report
        self._log_report(report)
        if self.asset_events:
            add_outlet_facts(context, self.outlets, report, partitions=self.asset_partitions)
            if self.kind == "source":
                add_topic_events(context, self._alias, self._asset_server(), report)
        self._count_and_call(context, report, self._config_after_run())
        return report

    def _log_report(self, report: dict[str, Any]) -> None:
        """What `kconnect run` shows."""
        for line in report_lines(report):
            self.log.info("%s", line)
        self._log_warnings(report)

    def _config_after_run(self) -> dict[str, Any]:
        """The configuration, as far as it can be had: a run that succeeded must not fail because of it."""
        try:
            return self._given_config()
        except ConnectError as error:
            self.log.warning("The configuration of the connector cannot be read again: %s", error)
            return {}

    @contextmanager
    def _telling_of_failure(self, context: Context) -> Iterator[None]:
        try:
            yield
        except (ConnectorConfigError, ConnectorRunError) as error:
            report = self._hook.report if isinstance(self._hook, ConnectorSparkSubmitHook) else None
            if report is not None:
                self._count_and_call(context, report, self._config_after_run())
            self.failure_text = masked(str(error))
            name = static_config(self.connector).get("name")
            facts = {"connector": name, "kind": self.kind, "error": type(error).__name__, "message": self.failure_text}
            put(context, facts)
            leave_failure(context, facts, report)
            raise

    def get_openlineage_facets_on_start(self) -> OperatorLineage[Any, Any]:
        """Datasets in the configuration. Called by OpenLineage's provider, before `execute`."""
        return self._lineage()

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """Datasets, rows, offsets. Called by OpenLineage's provider in the process in which the task succeeded."""
        return self._lineage(report=self._report)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> OperatorLineage[Any, Any]:
        """Datasets and the error. Called by OpenLineage's provider in the process in which the task failed."""
        return self._lineage(error=self.failure_text)

    def _lineage(self, **facts: Any) -> OperatorLineage[Any, Any]:
        config = self._given_config()
        connection = {} if self.kafka_conn_id is None else KafkaConnectHook(self.kafka_conn_id).worker_config()
        worker = {**connection, **(self.worker_config or {})}
        # Tables are named by the host of their database; everything else stays as it was written.
        config = with_database_url(config, worker)
        return lineage_of(config, self.kind, str(worker.get("bootstrap.servers", "")), **facts)
