"""What tasks with connectors tell Airflow about each run: metrics, callbacks, its warnings; a link while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.operators.jobs import ConnectorJobOperator
from airflow_kconnect.operators.links import RunbookLink, SparkUiLink
from airflow_kconnect.operators.reports.assets import asset_server
from airflow_kconnect.operators.reports.metrics import report_metrics
from airflow_kconnect.operators.reports.moved import DEAD_LETTER_TOPIC
from airflow_kconnect.operators.reports.notifications import Callbacks, as_list, call, dead_letters, lag
from airflow_kconnect.runs.warnings import Kind

if TYPE_CHECKING:
    from airflow.sdk import Context

KEY = "kconnect"
"""Key in the task's context: the run's report, or details of its failure."""

TRACKING_URL = "tracking_url"
"""Key of the data passed on to a resumed deferred task: the application's page on YARN."""


class TellsOfRuns(ConnectorJobOperator):
    """A `ConnectorJobOperator` whose runs are counted, and call back."""

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
        if on_lag_callback and (why := self._why_no_lag(lag_threshold)):
            raise ValueError(f"`on_lag_callback` of task {self.task_id}: {why}")
        self.asset_events = asset_events
        self.asset_partitions = asset_partitions
        self.on_dead_letters_callback = as_list(on_dead_letters_callback)
        self.on_lag_callback = as_list(on_lag_callback)
        self.lag_threshold = lag_threshold
        self.failure_text: str | None = None
        self.tracking_url: str | None = None
        self._context: Context

    def _why_no_lag(self, threshold: int | None) -> str | None:
        return "set `lag_threshold`, in records" if threshold is None else None

    def _asset_server(self) -> str:
        return asset_server(self.kafka_conn_id, self.worker_config)

    def _count_and_call(self, context: Context, report: dict[str, Any], config: Mapping[str, Any]) -> None:
        """For each run that has moved something, also one that is to fail because of its warnings.

        :param config: the connector's, as far as it is known.
        """
        put(context, report)
        tags = {"dag_id": context["ti"].dag_id, "task_id": context["ti"].task_id}
        report_metrics(report, tags, dead_letter_queue=bool(config.get(DEAD_LETTER_TOPIC)))
        if dead_letters(report):
            call(self.on_dead_letters_callback, context, "dead letters")
        if self.lag_threshold is not None and lag(report) > self.lag_threshold:
            call(self.on_lag_callback, context, "lag")

    def _log_warnings(self, report: Mapping[str, Any], of: str = "") -> None:
        """As those of the task, without those about the configuration, which were there when it began.

        :param of: what begins each line.
        """
        for kind, warning in zip(report.get("warning_kinds", ()), report["warnings"], strict=False):
            if kind != Kind.CONFIGURATION:
                self.log.warning("%s%s: %s", of, kind, warning)

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


def put(context: Context, facts: dict[str, Any]) -> None:
    """Put details into the context that callbacks get."""
    cast("dict[str, Any]", context)[KEY] = facts
