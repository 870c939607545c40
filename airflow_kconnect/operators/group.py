"""The operator that runs several connectors in one Spark application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowException

from airflow_kconnect.connect.errors import ConfigError, DataError, first_line
from airflow_kconnect.errors import ConnectorRunError
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.hooks.worker import TaskWorker
from airflow_kconnect.operators.groups.kept import KeptEnds
from airflow_kconnect.operators.groups.members import CONNECTORS, Attempt, attempt_of, leave_out_paused, with_written
from airflow_kconnect.operators.groups.reporting import ReportingGroupOperator
from airflow_kconnect.operators.intervals import run_mode
from airflow_kconnect.operators.jobs import LOST, is_java, run_id_of
from airflow_kconnect.operators.reports.telling import TRACKING_URL
from airflow_kconnect.operators.tracking import GROUP, TOKEN
from airflow_kconnect.operators.upstream import with_upstream
from airflow_kconnect.runs.group import MAX_PARALLEL, GroupSpec, MemberEnd, name_of
from airflow_kconnect.submit.group import GroupProgress
from airflow_kconnect.submit.heartbeat import Heartbeat
from airflow_kconnect.submit.statuses import INTERRUPTED, show_failures

if TYPE_CHECKING:
    from airflow.sdk import Context

_NO_REPORT = "the job ended without an error, but it wrote no report of the connector; see the log"
_ENDS = "ends"
"""Key of the data passed on to a resumed deferred task: the ends of its connectors if the job succeeds."""


def _kept(context: Context) -> KeptEnds:
    return KeptEnds(context, f"kconnect_group:{getattr(context['dag_run'], 'clear_number', 0) or 0}")


class KafkaConnectorGroupOperator(ReportingGroupOperator):
    """Runs several connectors, sources and sinks, once in one Spark application: it starts once for all of them.

    .. code-block:: python

        KafkaConnectorGroupOperator(
            task_id="orders",
            connectors=["orders-file.json", "orders-lake.json", {"name": "returns", "config": {...}}],
            max_parallel=4,
        )

    Each connector has its own offsets, fencing, report, status, metrics and asset events, as in a task of its own. At
    most `max_parallel` run at once; a sink starts after the sources of the group that write to its topics. Those that
    are paused or have nothing new cost next to nothing.

    A connector that fails does not affect the others. If some have failed, the task fails with a table of them: with
    `ConnectorRetriableError` if a retry may help one of them, else with `ConnectorConfigError`. A retry runs only those
    that it may help, in Airflow 3.3 or newer; in an older one all of them, of which those that had succeeded have
    nothing new. Clearing the task runs all.

    The task returns the reports by connector; of hundreds of connectors only records, `complete` and warnings.
    Backfills replay their interval, callbacks are called for each connector, with its report as `kconnect`: see
    `ConnectorOperator` and `ReportingOperator`. In a failure callback `kconnect` has `failures`, a list with
    `connector`, `kind`, `error` and `message`, and `reports`. Besides the parameters below the operator takes those of
    `SparkSubmitOperator` (`conf`, `jars`, `driver_memory`, `deploy_mode`, ...), which mean the same, for the whole
    group.

    :param connectors: each as for `KafkaSourceOperator`: Connect's JSON, the path of a file, absolute or relative to
        the DAG file, or the name of a registered connector. (templated)
    :param folder: instead, a folder of connector files, absolute or relative to the DAG file, which the task reads when
        it runs: see `connectors_from_folder`. (templated)
    :param max_parallel: how many connectors run at once.
    :param worker_config: worker keys, such as `offset.storage.topic` or `group.id`; they override those of the Kafka
        connection. Not templated, and so never stored with the task.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` says how to reach
        Kafka. (templated)
    :param spark_conn_id: Airflow connection of type `spark`: `local[*]`, `spark://host:7077`, `yarn`, `k8s://...`. It
        must exist. Default: `spark_default`. (templated)
    :param conn_id: the same under the name it has in `SparkSubmitOperator`; `spark_conn_id` wins.
    :param application: a different path of the job, such as one inside a container image (`local:///...`). (templated)
    :param deferrable: free the worker slot while a job runs on YARN, Kubernetes or a service, and have a trigger wait.
        Default: Airflow's option `[operators] default_deferrable`.
    :param asset_events: whether a run records events for the topics that received records (see `topic_asset`), and says
        in those of your own outlets what it has moved. The topics of sinks are inlets.
    :param asset_partitions: whether events of your own outlets have a partition key: the start of the interval that a
        replay moves, or of the DAG run's. Needs Airflow 3.3.
    :param on_dead_letters_callback: a callback or a list of them, called for each connector with bad records.
    :param on_lag_callback: the same, called for each sink that left more than `lag_threshold` records.
    :param lag_threshold: number of records, in all topics of a sink together.
    """

    ui_color = "#fef7e0"

    def __init__(self, *, max_parallel: int = MAX_PARALLEL, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if max_parallel < 1:
            raise ValueError(f"task {self.task_id}: `max_parallel` is {max_parallel}; expected at least 1")
        self.max_parallel = max_parallel
        self._progress: GroupProgress | None = None

    def execute(self, context: Context) -> dict[str, Any] | None:  # type: ignore[override]
        """Check all connectors, submit, wait; returns the reports by connector, or None in cluster deploy mode.

        :raises AirflowSkipException: all connectors are paused or stopped, and the run is not a replay.
        :raises ConnectorRetriableError: some connectors have failed, and a retry may help one of them.
        :raises ConnectorConfigError: some have failed, and a retry would not help; or the group itself is wrong.
        :raises ConnectorRunError: the job of all connectors has failed, by subclass.
        """
        self._context = context
        with self._telling_of_failure(context):
            cluster = self._deploy_mode_of_connection() == "cluster"
            self._driver_is_here = not cluster
            self.scope_to_clear(context)
            kept = _kept(context)
            with Heartbeat(self._say, "checking the configurations, and which connectors are paused"):
                attempt = self._attempt = self._prepared(context, kept.read())
            ran = self._run(context, attempt, cluster) if attempt.runs else []
            told = self._progress is not None and self._progress.told
            return self._ended(context, attempt.ends, ran, kept, reported=not cluster or told)

    def execute_complete(
        self, context: Context, event: dict[str, Any], facts: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The end of a job for which a trigger has waited; see `TrackedSparkSubmitOperator.execute_complete`."""
        self._context = context
        self.tracking_url = (facts or {}).get(TRACKING_URL)
        with self._telling_of_failure(context):
            ends = [MemberEnd(**end) for end in (facts or {}).get(_ENDS, ())]
            ran = [end for end in ends if end.error is None and end.state is None]
            kept = _kept(context)
            known = kept.read() | {end.connector: end for end in ends}
            before = {name: end for name, end in known.items() if end not in ran}
            progress = self._progress = GroupProgress(end.connector for end in ran)
            why = _NO_REPORT
            try:
                super().execute_complete(context, event, facts)
            except ConnectorRunError as error:
                if not progress.told:
                    raise
                why = str(error)
            if progress.told:
                ran = self._ends_of(progress, why)
            return self._ended(context, before, ran, kept, reported=progress.told)

    def _hook_for_end(self, facts: Mapping[str, Any]) -> ConnectorSparkSubmitHook:
        hook = super()._hook_for_end(facts)
        hook.group = self._progress
        return hook

    def _prepared(self, context: Context, kept: Mapping[str, MemberEnd]) -> Attempt:
        """All that is known before the job; errors of single connectors are ends of theirs."""
        self._refuse_stored_secrets()
        mode = run_mode(context)
        if mode.replay is not None:
            self.log.info("Replaying the interval %s; the live offsets stay where they are", mode.replay)
            mode = replace(mode, replay=with_upstream(mode.replay, self, context))
        given = self._given_connectors().only((context.get("params") or {}).get(CONNECTORS))
        worker = TaskWorker(self.worker_config, self.kafka_conn_id)
        version = self._get_hook().spark_version
        attempt = attempt_of(given, worker, mode, context, kept=kept, conf=self.conf or {}, spark_version=version)
        leave_out_paused(attempt, driver_is_here=self._driver_is_here)
        self._check_java_classes(attempt)
        attempt.runs = with_written(attempt.runs, attempt.ends.values())
        self.conf = dict(attempt.conf)
        for name, end in attempt.ends.items():
            if end.error is not None:
                self.log.error("Connector %s is not run: %s", name, end.error["message"])
        return attempt

    def _check_java_classes(self, attempt: Attempt) -> None:
        hosted = [run for run in attempt.runs if is_java(run.config)]
        if not hosted or self._get_hook().driver_is_local:
            return
        errors: dict[str, ConfigError | DataError] = {}
        for run in hosted:
            try:
                self._check_java(run)
            except ConfigError as error:
                errors[name_of(run.config)] = error
        attempt.fail(errors)

    def _run(self, context: Context, attempt: Attempt, cluster: bool) -> list[MemberEnd]:
        """Run the job; how each of its connectors has ended.

        :raises ConnectorRunError: in cluster deploy mode, if the job has failed.
        """
        spec = GroupSpec(tuple(attempt.runs), self.max_parallel)
        # In cluster deploy mode its output stays there: that it succeeds says that all of them have.
        succeeded = [MemberEnd(name) for name in spec.names]
        # Reports of earlier attempts are kept elsewhere: all of them may be too long for this.
        ends = [*(end for end in attempt.ends.values() if end.error is not None or end.state is not None), *succeeded]
        what = f"the group of {len(spec.runs):,} connectors"
        stored = [asdict(end) for end in ends] if cluster else []
        facts = {GROUP: what, "run_id": run_id_of(context), TOKEN: spec.token, _ENDS: stored}
        ti = context["ti"]
        with self._passed_to_job(spec, facts, cluster, f"kconnect-{ti.dag_id}.{ti.task_id}"):
            hook = self._hook_of_job(*(run.config for run in spec.runs))
            hook.group = progress = self._progress = GroupProgress(spec.names)
            why = _NO_REPORT
            try:
                self.run_job(context, hook)
            except ConnectorRunError as error:
                if not progress.told:
                    raise
                why = str(error)
            except AirflowException as error:
                # The provider's error contains the whole command.
                why = hook.end_of_submit() or str(error)
                if cluster and not progress.told:
                    raise ConnectorRunError(why) from None
        return self._ends_of(progress, why) if progress.told or not cluster else succeeded

    def _ends_of(self, progress: GroupProgress, why: str) -> list[MemberEnd]:
        if progress.silent:
            self.log.error("Of %s the job has not said how they ended: %s", ", ".join(progress.silent), why)
            self._show_lost(LOST if progress.error is None else str(progress.error["message"]))
        return progress.ends(first_line(why))

    def _show_interrupted(self) -> None:
        self._show_lost(INTERRUPTED, ended_by_user=True)

    def _show_lost(self, text: str, *, ended_by_user: bool = False) -> None:
        """Write how runs have ended of which the job has not said it. In cluster deploy mode it may have done so."""
        if self._progress is None or self._attempt is None or not self._driver_is_here:
            return
        silent = set(self._progress.silent)
        lost = [(run, text) for run in self._attempt.runs if name_of(run.config) in silent]
        show_failures(lost, self._attempt.worker.resolved_worker, masked, ended_by_user=ended_by_user)
