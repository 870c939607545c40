"""What Airflow learns about a connector's run: asset events, metrics, callbacks, lineage, a link while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.report_facts import report_lines
from airflow_kconnect.connect.run_warnings import Kind
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRunError
from airflow_kconnect.hooks.kconnect import KafkaConnectHook
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.hooks.variables import with_database_url
from airflow_kconnect.operators.base import ConnectorOperator
from airflow_kconnect.operators.links import RunbookLink, SparkUiLink
from airflow_kconnect.operators.reports.assets import asset_server, connector_alias, static_config, topic_inlets
from airflow_kconnect.operators.reports.events import add_outlet_facts, add_topic_events
from airflow_kconnect.operators.reports.failures import leave_failure
from airflow_kconnect.operators.reports.lineage import DEAD_LETTER_TOPIC, lineage_of
from airflow_kconnect.operators.reports.metrics import report_metrics
from airflow_kconnect.operators.reports.notifications import Callbacks, as_list, call, dead_letters, lag

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context

KEY = "kconnect"
"""Key in the task's context: the run's report, or details of its failure."""

TRACKING_URL = "tracking_url"
"""Key of the data passed on to a resumed deferred task: the application's page on YARN."""


class ReportingOperator(ConnectorOperator):
    """A `ConnectorOperator` that reports its runs to Airflow. Use `KafkaSourceOperator` or `KafkaSinkOperator`.

    Callbacks get the task's context, which contains the run's report as `kconnect`; any Airflow notifier works. They
    are called after the run, in the task's process. One that fails is logged and fails nothing. In a failure callback
    (`on_failure_callback`, `on_retry_callback`) `kconnect` has `connector`, `kind`, `error` and `message`.
    """

    operator_extra_links = (SparkUiLink(), RunbookLink())

    def __init__(
        self,
        *,
        asset_events: bool = True,
        asset_partitions: bool = False,
        on_dead_letters_callback: Callbacks = None,
        on_lag_callback: Callbacks = None,
        lag_threshold: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if on_lag_callback and (lag_threshold is None or self.kind == "source"):
            why = "sources have no lag" if self.kind == "source" else "set `lag_threshold`, in records"
            raise ValueError(f"`on_lag_callback` of task {self.task_id}: {why}")
        self.asset_events = asset_events
        self.asset_partitions = asset_partitions
        self.on_dead_letters_callback = as_list(on_dead_letters_callback)
        self.on_lag_callback = as_list(on_lag_callback)
        self.lag_threshold = lag_threshold
        self._report: dict[str, Any] | None = None
        self.failure_text: str | None = None
        self.tracking_url: str | None = None
        if asset_events:
            self._declare_assets()

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

    def _asset_server(self) -> str:
        return asset_server(self.kafka_conn_id, self.worker_config)

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
        self._count_and_call(context, report)
        return report

    def _count_and_call(self, context: Context, report: dict[str, Any]) -> None:
        """For each run that has moved something, also one that is to fail because of its warnings."""
        _put(context, report)
        config = self._config_after_run()
        tags = {"dag_id": context["ti"].dag_id, "task_id": context["ti"].task_id}
        report_metrics(report, tags, dead_letter_queue=bool(config.get(DEAD_LETTER_TOPIC)))
        if dead_letters(report):
            call(self.on_dead_letters_callback, context, "dead letters")
        if self.lag_threshold is not None and lag(report) > self.lag_threshold:
            call(self.on_lag_callback, context, "lag")

    def _log_report(self, report: dict[str, Any]) -> None:
        """What `kconnect run` shows; warnings as those of the task, without those about the configuration, which were
        there when it began.
        """
        for line in report_lines(report):
            self.log.info("%s", line)
        for kind, warning in zip(report.get("warning_kinds", ()), report["warnings"], strict=False):
            if kind != Kind.CONFIGURATION:
                self.log.warning("%s: %s", kind, warning)

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
                self._count_and_call(context, report)
            self.failure_text = masked(str(error))
            name = static_config(self.connector).get("name")
            facts = {"connector": name, "kind": self.kind, "error": type(error).__name__, "message": self.failure_text}
            _put(context, facts)
            leave_failure(context, facts, report)
            raise

    def _get_hook(self) -> ConnectorSparkSubmitHook:
        hook = super()._get_hook()
        hook.on_tracking_url = self._show_link
        return hook

    def _show_link(self, url: str) -> None:
        assert isinstance(self._hook, ConnectorSparkSubmitHook)
        if self._hook.tracking_url:  # otherwise it is the driver's own, which is gone when the task ends
            self.tracking_url = self._facts[TRACKING_URL] = url
        try:
            self._context["ti"].xcom_push(key=self.operator_extra_links[0].xcom_key, value=url)
        except Exception:  # a link must not end the job
            self.log.exception("The link to %s could not be stored", url)

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


def _put(context: Context, facts: dict[str, Any]) -> None:
    """Put details into the context that callbacks get."""
    cast("dict[str, Any]", context)[KEY] = facts
