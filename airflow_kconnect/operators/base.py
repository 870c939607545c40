"""What source and sink operators share: from a connector's JSON to a Spark job, and from its end to a task state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.common.compat.sdk import AirflowException

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.errors import ConnectorRunError, connector_error, reported_error
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.rendering import RendersConnector
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.hooks.worker import Configurations, configurations, given_config
from airflow_kconnect.hosting.password_keys import was_asked
from airflow_kconnect.operators.intervals import RunMode, run_mode
from airflow_kconnect.operators.jobs import LOST, ConnectorJobOperator, is_java, run_id_of, spec_of
from airflow_kconnect.operators.states import skip_unless_started
from airflow_kconnect.operators.tracking import TOKEN
from airflow_kconnect.operators.upstream import with_upstream
from airflow_kconnect.runs.replays import check_replay
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.heartbeat import Heartbeat
from airflow_kconnect.submit.preflight import check_configuration
from airflow_kconnect.submit.registered import Connector
from airflow_kconnect.submit.statuses import INTERRUPTED, failures_shown, show_failure
from airflow_kconnect.validation.hidden import shown_as_known
from airflow_kconnect.worker_config.spark_keys import spark_settings

if TYPE_CHECKING:
    from airflow.sdk import Context


class ConnectorOperator(RendersConnector, ConnectorJobOperator):
    """Runs a Kafka Connect connector once, as a Spark job, from where its last run stopped.

    Use `KafkaSourceOperator` or `KafkaSinkOperator`, which document the parameters.

    Backfills replay: a run of Airflow's type `backfill` moves its data interval again, independently of the live
    offsets; see `run_params` for replaying in other runs.

    The task returns the run's report (a small dict: records, offsets, guarantee, durations). In cluster deploy mode the
    job's output stays on the cluster: then there is no report, and the reason for a failure is in the driver's log.

    Secrets belong in the Kafka connection, or in the configuration by reference (`${airflow:conn_id:password}`,
    `${airflow-var:key}`, `${file:...}`). They are passed to the job in a file that only its owner can read, never on a
    command line. If a key of `connector` that looks secret has a literal value, it is masked in logs and in the
    rendered template.

    :ivar configuration: for Airflow's page of rendered templates: the configuration that was read from `connector`, its
        secrets hidden, variables as written. None before the task runs, and for a Java class whose passwords are not
        known on this machine.
    """

    kind: ClassVar[str]
    replay_dead_letters: ClassVar[bool] = False

    template_fields: Sequence[str] = ("connector", "configuration", *ConnectorJobOperator.template_fields)
    template_fields_renderers: ClassVar[dict[str, str]] = {
        **{"connector": "json", "configuration": "json"},
        **ConnectorJobOperator.template_fields_renderers,
    }
    overwrite_rtif_after_execution = True

    def __init__(self, *, connector: Connector, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.connector = connector
        self.configuration: dict[str, str] | None = None
        self._spec: RunSpec | None = None
        self._configs: Configurations
        self._given: dict[str, Any] | None = None

    def execute(self, context: Context) -> dict[str, Any] | None:  # type: ignore[override]
        """Validate, submit, wait; returns the report.

        :raises AirflowSkipException: the connector is paused or stopped, and the run is not a replay.
        :raises ConnectorConfigError: the configuration is wrong; a retry would not help.
        :raises ConnectorDataError: data are wrong, a subclass of it.
        :raises ConnectorRunError: anything else, by subclass.
        """
        try:
            cluster = self._deploy_mode_of_connection() == "cluster"
            self._driver_is_here = not cluster
            mode = self._mode(context)
            with Heartbeat(self._say, "checking the configuration, and whether the connector is paused"):
                spec = self._checked(context, mode)
                if spec.live:
                    skip_unless_started(self._configs, driver_is_here=not cluster)
            if spec.replay is not None and self.kind == "sink":
                spec = replace(spec, replay=with_upstream(spec.replay, self, context))
            self.scope_to_clear(context)
            with self._run_spec(spec, cluster):
                return self._run(context, spec, cluster)
        except ConnectError as error:
            # The message is all that helps; a chain of tracebacks would hide it.
            raise connector_error(error.exit_code, str(error), type(error).__name__) from None

    def _mode(self, context: Context) -> RunMode:
        return run_mode(context)

    def _show_interrupted(self) -> None:
        self._show_lost_job(INTERRUPTED, ended_by_user=True)

    def _checked(self, context: Context, mode: RunMode) -> RunSpec:
        """The run, its configurations checked: every problem is reported before Spark starts."""
        self._refuse_stored_secrets()
        config = self._given_config()
        configs = configurations(config, self.worker_config, self.kafka_conn_id)
        self._configs = configs
        mode = replace(mode, dead_letters=self._of_dead_letters(mode))
        self._spec = spec = spec_of(configs, self.kind, mode, context, run_id_of(context))
        with failures_shown(spec, configs.resolved_worker, masked):
            warnings = check_configuration(spec.config, spec.worker, self.kind, spec.variables)
        for warning in warnings:
            self.log.warning("%s", warning)
        self.conf = {**(self.conf or {}), **spark_settings(spec.config)}
        if mode.replay is not None:
            check_replay(config)
            self.log.info("Replaying the interval %s; the live offsets stay where they are", mode.replay)
        return spec

    def _of_dead_letters(self, mode: RunMode) -> bool:
        """Whether the run is one of dead letters. :raises ConfigError: and the connector is a source."""
        if mode.dead_letters and self.kind != "sink":
            raise ConfigError({"params.mode": ["`dead_letters` is for sinks: a source reads no dead letters"]})
        return mode.dead_letters or self.replay_dead_letters

    def _given_config(self) -> dict[str, Any]:
        """The configuration as it was given, variables not resolved; a file or Kafka is read once.

        :raises ConfigError: it is not a configuration, or there is no such connector.
        :raises RetriableError: the broker is unavailable.
        """
        if self._given is None:
            self._given = given_config(self.connector, self._dag_folder(), self.worker_config, self.kafka_conn_id)
            self.configuration = _shown(texts_of(self._given)[0])
        return dict(self._given)

    def _run_spec(self, spec: RunSpec, cluster: bool) -> AbstractContextManager[None]:
        name = spec.config.get("name")
        facts = {"connector": name, "run_id": spec.run_id, TOKEN: spec.token}
        return self._passed_to_job(spec, facts, cluster, f"kconnect-{name}")

    def _run(self, context: Context, spec: RunSpec, cluster: bool) -> dict[str, Any] | None:
        with failures_shown(spec, self._configs.resolved_worker, masked):
            hook = self._hook_of_job(spec.config)
        if is_java(spec.config) and not hook.driver_is_local:
            with failures_shown(spec, self._configs.resolved_worker, masked):
                self._check_java(spec)
        try:
            self.run_job(context, hook)
        except ConnectorRunError:
            raise
        except AirflowException as error:
            # The provider's error contains the whole command, and nothing about the connector.
            raise self._failure_of(hook, error) from None
        if hook.report is None and not cluster:
            self._show_lost_job(LOST)
            raise ConnectorRunError("The job ended without an error, but it wrote no report; see the log")
        return hook.report

    def _failure_of(self, hook: ConnectorSparkSubmitHook, error: AirflowException) -> AirflowException:
        """The job's own error if it reported one. A failure before that is Spark's, and may be retried."""
        if hook.error is None:
            self._show_lost_job(LOST)
            return ConnectorRunError(hook.end_of_submit() or str(error))
        return reported_error(hook.error)

    def _show_lost_job(self, text: str, *, ended_by_user: bool = False) -> None:
        """Write how the run has ended, as the job could not. In cluster deploy mode it may have done so."""
        if self._spec is not None and self._driver_is_here:
            show_failure(self._spec, text, self._configs.resolved_worker, ended_by_user=ended_by_user)


def _shown(config: Mapping[str, str]) -> dict[str, str] | None:
    """What Airflow may store of a configuration; None if this machine does not know which keys are passwords."""
    if is_java(config) and not was_asked(config.get("connector.class", "")):
        return None
    return shown_as_known(config)
