"""Jobs that run outside the worker: how a retry finds them, how a trigger waits for them, and how their end is
reported.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowTaskTimeout, conf
from airflow.providers.common.compat.version_compat import AIRFLOW_V_3_3_PLUS

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.errors import (
    RETRIED,
    ConnectorRetriableError,
    ConnectorRunError,
    reported_error,
)
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome
from airflow_kconnect.hooks.clusters.yarn import driver_exit_code
from airflow_kconnect.hooks.spark_job import UNTRACKED_YARN, ConnectorSparkSubmitHook
from airflow_kconnect.hooks.spark_service import SparkServiceHook

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_kconnect.triggers.spark_job import SparkJobTrigger

_YARN_POLL_S, _KUBERNETES_POLL_S, _SERVICE_POLL_S = 10, 20, 10
# The trigger ends the job at the deadline; if no triggerer is running, the scheduler ends the task this much later.
_GRACE_S = 300
_UNKNOWN = "NotFound"
# In the provider's error if the ResourceManager has not answered for long.
_NO_NEWS = "Giving up tracking"

TOKEN = "token"
"""Key in the data of a run: the prefix of the job's events."""
GROUP = "group"
"""The same: what the group is, for people."""
MAILBOX = "mailbox"
"""The same: the id of the run's mailbox in the staging folder."""


class TrackedSparkSubmitOperator(SparkSubmitOperator):
    """A `SparkSubmitOperator` whose cluster-mode jobs can be found by a retry and awaited by a trigger."""

    def __init__(
        self,
        *,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.deferrable = deferrable
        self._facts: dict[str, Any] = {}
        self._facts_key = "kconnect_run"

    def scope_to_clear(self, context: Context) -> None:
        """Clearing a run leaves Airflow's task state, in which the job of the previous run would still be found."""
        clear_number = getattr(context["dag_run"], "clear_number", 0) or 0
        self.external_id_key = f"spark_job_id:{clear_number}"
        self._K8S_DRIVER_STATUS_KEY = f"k8s_driver_status:{clear_number}"
        self._facts_key = f"kconnect_run:{clear_number}"

    def run_job(self, context: Context, hook: ConnectorSparkSubmitHook) -> None:
        """Submit the job, or find the one submitted by an earlier attempt; then wait for it, or defer.

        :raises TaskDeferred: a trigger waits; the task resumes in `execute_complete`.
        :raises AirflowException: the job failed, or could not be submitted.
        """
        if self.deferrable and (reason := hook.why_not_deferrable()):
            self.log.info("Not deferred: %s", reason)
            self.deferrable = False
        if self.durable and hook.in_yarn_cluster_mode and not hook.is_tracked:
            self.log.info("A retry cannot find this job again, because %s; it will fence the job", UNTRACKED_YARN)
            self.durable = False
        self._say_what_this_airflow_lacks(hook)
        try:
            if isinstance(hook, SparkServiceHook):
                self.execute_resumable(context)
            else:
                super().execute(context)
        except ValueError as error:
            raise ConfigError({"spark-submit": [str(error)]}) from None
        except RuntimeError as error:
            if hook.error is not None:
                raise reported_error(hook.error) from None
            raise _by_exit_code(driver_exit_code(str(error)), str(error)) from None
        if hook.error is not None:  # whatever the service or the cluster says about the job
            raise reported_error(hook.error)

    def _say_what_this_airflow_lacks(self, hook: ConnectorSparkSubmitHook) -> None:
        if AIRFLOW_V_3_3_PLUS:
            return
        if hook.is_tracked:
            self.log.info("Airflow 3.3 or newer is needed for a retry to find this job again; here it fences the job")
        if self.deferrable:
            self.log.warning(
                "Airflow 3.3 or newer is needed to end the job of a task that is marked or cleared while it is "
                "deferred; here the job continues until the next run fences it"
            )

    def submit_job(self, context: Context) -> str | None:
        """Submit, and record the run to which the job belongs; called if no earlier attempt's job is still running."""
        external_id = self._submitted(context)
        if self.durable and (store := context.get("task_state_store")) is not None:
            store.set(self._facts_key, self._facts)
        return external_id

    def _submitted(self, context: Context) -> str | None:
        assert isinstance(self._hook, ConnectorSparkSubmitHook)
        try:
            if isinstance(self._hook, SparkServiceHook):
                job_id: str | None = self._hook.submit(self.application)
            else:
                job_id = super().submit_job(context)
        except ClusterManagerUnavailableError as error:
            raise ConnectorRetriableError(str(error)) from error
        if self._hook.mailbox is not None:
            self._facts[MAILBOX] = self._hook.mailbox
        return job_id

    def get_job_status(self, external_id: Any, context: Context) -> str:
        """The status of an earlier attempt's job; one that the cluster has forgotten is submitted again.

        :raises ConnectorRetriableError: the cluster manager does not answer. The job may be running.
        """
        if isinstance(self._hook, SparkServiceHook):
            return self._status_on_service(self._hook, str(external_id), context)
        try:
            return super().get_job_status(external_id, context)
        except RuntimeError as error:
            if "HTTP 404" in str(error):
                return _UNKNOWN
            raise ConnectorRetriableError(f"job {external_id}: {error}") from error

    def _status_on_service(self, hook: SparkServiceHook, job_id: str, context: Context) -> str:
        try:
            status = hook.service.status(job_id)
        except ClusterManagerUnavailableError as error:
            raise ConnectorRetriableError(f"job {job_id}: {error}") from error
        if status.outcome is JobOutcome.LOST:
            said = self._said_at_end(self._facts_of_job(context))
            if _said_all_is_well({**said, "status": status.outcome}) or (hook.group is not None and hook.group.well):
                return JobOutcome.SUCCEEDED.value
            hook.forget_end()  # the job of this attempt has an end of its own
        return status.state if status.outcome is None else status.outcome.value

    def is_job_active(self, status: str) -> bool:
        """Whether a job with what `get_job_status` returned is waited for."""
        if isinstance(self._hook, SparkServiceHook):
            return status not in tuple(JobOutcome)
        return bool(super().is_job_active(status))

    def is_job_succeeded(self, status: str) -> bool:
        """Whether nothing is left to do for it."""
        if isinstance(self._hook, SparkServiceHook):
            return status == JobOutcome.SUCCEEDED
        return bool(super().is_job_succeeded(status))

    def get_job_result(self, external_id: Any, context: Context) -> None:
        """Called after a wait, and for an earlier attempt's job that has succeeded, for which nothing has waited."""
        if isinstance(self._hook, ConnectorSparkSubmitHook) and self._hook.report is None:
            self._said_at_end(self._facts_of_job(context))

    def poll_until_complete(self, external_id: Any, context: Context) -> None:
        """Wait here, or leave it to a trigger."""
        assert isinstance(self._hook, ConnectorSparkSubmitHook)
        self._hook.adopt(str(external_id))
        facts = self._facts_of_job(context)
        self._hook.mailbox = facts.get(MAILBOX)
        self.log.info("Job %s runs %s of %s", external_id, facts.get("run_id"), _subject(facts))
        if not self.deferrable and not isinstance(self._hook, SparkServiceHook):
            try:
                with self._hook.keeping_mailbox():
                    super().poll_until_complete(external_id, context)
            except RuntimeError as error:
                if _NO_NEWS not in str(error):  # then the job may not even have begun
                    self._said_at_end(facts)
                raise
            self._said_at_end(facts)
            return
        deadline = self._deadline_epoch_s(context)
        trigger = self._trigger(str(external_id), deadline, facts.get(TOKEN))
        if not self.deferrable:
            self._ended_well(asyncio.run(trigger.wait()), facts)
            return
        self.defer(
            trigger=trigger,
            method_name="execute_complete",
            kwargs={"facts": facts},
            timeout=None if deadline is None else max(0.0, deadline - time.time()) + _GRACE_S,
        )

    def execute_complete(
        self, context: Context, event: dict[str, Any], facts: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """Handle the end of a job for which a trigger has waited; returns its report if that could be read.

        :raises AirflowTaskTimeout: `execution_timeout` was exceeded; the job was ended.
        :raises AirflowException: determined by what the job reported, else by its exit code, as for a job that runs
            here.
        """
        return self._ended_well(event, facts or {})

    def _ended_well(self, event: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any] | None:
        """The report of a job, if it could be read. :raises AirflowException: it has failed."""
        self.log.info("Job %s: %s", event["job_id"], event["message"])
        if event.get("log"):
            self.log.info("The driver's log: %s", event["log"])
        if event["status"] != "unavailable":  # then the job may not even have taken its run spec
            event = {**event, **self._said_at_end(facts)}
        if (event["status"] == JobOutcome.SUCCEEDED and not event.get("error")) or _said_all_is_well(event):
            report: dict[str, Any] | None = event.get("report")
            return report
        raise self._error_of(event, facts)

    def _said_at_end(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """What a job has left in its mailbox, if it has one."""
        if facts.get(MAILBOX) is None:
            return {}
        hook = self._hook_for_end(facts)
        hook.take_end(facts[MAILBOX])
        return {"report": hook.report, "error": hook.error}

    def _hook_for_end(self, facts: Mapping[str, Any]) -> ConnectorSparkSubmitHook:
        """The hook that takes what a job has said at its end."""
        hook = self._hook or self._get_hook()
        assert isinstance(hook, ConnectorSparkSubmitHook)
        self._hook, hook.token = hook, facts.get(TOKEN)
        return hook

    def _error_of(self, event: dict[str, Any], facts: dict[str, Any]) -> BaseException:
        if error := event.get("error"):
            return reported_error(error)
        text = f"{_subject(facts)}: job {event['job_id']} {event['message']}"
        if event.get("log"):
            text += f". The driver's log: {event['log']}"
        match event["status"]:
            case "timeout":
                return AirflowTaskTimeout(f"{text}; the job was ended. The next run resumes from the offsets")
            case "unavailable":
                return ConnectorRetriableError(f"{text}. The job may still run; a retry looks for it first")
            case JobOutcome.FAILED:
                return _by_exit_code(event.get("exit_code"), text)
        return ConnectorRunError(f"{text}. The next run resumes from the offsets")

    def _facts_of_job(self, context: Context) -> dict[str, Any]:
        store = context.get("task_state_store") if self.durable else None
        stored = None if store is None else store.get(self._facts_key)
        return stored if isinstance(stored, dict) else self._facts

    def _deadline_epoch_s(self, context: Context) -> float | None:
        """Airflow enforces `execution_timeout` on the worker only."""
        if self.execution_timeout is None:
            return None
        started = getattr(context["ti"], "start_date", None)
        return (started.timestamp() if started else time.time()) + float(self.execution_timeout.total_seconds())

    def _trigger(self, job_id: str, deadline_epoch_s: float | None, token: str | None) -> SparkJobTrigger:
        from airflow_kconnect.triggers.spark_job import DriverPodTrigger, ServiceJobTrigger, YarnApplicationTrigger

        hook = self._hook
        assert isinstance(hook, ConnectorSparkSubmitHook)
        mailbox = hook.staging.facts(hook.mailbox) if hook.staging is not None and hook.mailbox is not None else None
        common: dict[str, Any] = {"job_id": job_id, "deadline_epoch_s": deadline_epoch_s, "mailbox": mailbox}
        if isinstance(hook, SparkServiceHook):
            every_s = max(self._status_poll_interval, _SERVICE_POLL_S)
            return ServiceJobTrigger(conn_id=self._conn_id, poll_interval_s=every_s, **common)
        if hook.in_yarn_cluster_mode:
            every_s = max(self._status_poll_interval, _YARN_POLL_S)
            return YarnApplicationTrigger(conn_id=self._conn_id, poll_interval_s=every_s, **common)
        every_s = max(self._status_poll_interval, _KUBERNETES_POLL_S)
        return DriverPodTrigger(token=token, poll_interval_s=every_s, **common)


def _subject(facts: Mapping[str, Any]) -> str:
    """What the job moves, from the data of a run."""
    return str(facts.get(GROUP) or f"connector {facts.get('connector')}")


def _said_all_is_well(event: Mapping[str, Any]) -> bool:
    """Whether a job that its service has forgotten, as Livy does ten minutes after the end, has left a good report."""
    return event["status"] == JobOutcome.LOST and bool(event.get("report")) and not event.get("error")


def _by_exit_code(exit_code: int | None, text: str) -> ConnectorRunError:
    # Python and Spark end with 1 and 2 as well, for reasons that a retry may fix.
    return RETRIED.get(exit_code or 0, ConnectorRunError)(text)
