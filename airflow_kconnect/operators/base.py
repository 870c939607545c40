"""What source and sink operators share: from a connector's JSON to a Spark job, and from its end to a task state."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowException, AirflowNotFoundException
from airflow.sdk import BaseHook

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.hosting.inspection import looks_hosted
from airflow_kconnect.connect.hosting.password_keys import was_asked
from airflow_kconnect.connect.replay import check_replay
from airflow_kconnect.connect.run import RunSpec, run_spec_file
from airflow_kconnect.connect.validation.hidden import shown_as_known
from airflow_kconnect.connect.validation.spark_keys import spark_settings
from airflow_kconnect.control.plugins.java_preflight import check_java_keys
from airflow_kconnect.errors import ConnectorRunError, connector_error
from airflow_kconnect.hooks.clusters.driver_pod import missing_provider
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.hooks.worker import Configurations, configurations, given_config
from airflow_kconnect.operators.intervals import RunMode, run_mode
from airflow_kconnect.operators.rendering import RendersConnector
from airflow_kconnect.operators.states import skip_unless_started
from airflow_kconnect.operators.tracking import TOKEN, TrackedSparkSubmitOperator
from airflow_kconnect.operators.upstream import with_upstream
from airflow_kconnect.submit.heartbeat import Heartbeat
from airflow_kconnect.submit.literal_secrets import is_literal_secret
from airflow_kconnect.submit.preflight import check_configuration
from airflow_kconnect.submit.registered import Connector
from airflow_kconnect.submit.spark import job_path
from airflow_kconnect.submit.statuses import INTERRUPTED, failures_shown, show_failure

if TYPE_CHECKING:
    from airflow.sdk import Context


_LOST = "The job ended before it could report; see the log of its Airflow task."


class ConnectorOperator(RendersConnector, TrackedSparkSubmitOperator):
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

    template_fields: Sequence[str] = (
        *("connector", "configuration", "kafka_conn_id", "spark_conn_id"),
        *SparkSubmitOperator.template_fields,
    )
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json", "configuration": "json", "conf": "json"}
    overwrite_rtif_after_execution = True
    ui_color = "#e8f0fe"

    def __init__(
        self,
        *,
        connector: Connector,
        worker_config: Mapping[str, Any] | None = None,
        kafka_conn_id: str | None = "kafka_default",
        spark_conn_id: str | None = None,
        conn_id: str = "spark_default",
        name: str = "",
        **kwargs: Any,
    ) -> None:
        if "application_args" in kwargs:
            raise TypeError(f"{type(self).__name__} sets `application_args` itself; remove the parameter")
        super().__init__(conn_id=spark_conn_id or conn_id, name=name, **kwargs)
        self.connector = connector
        self.worker_config = worker_config
        self.kafka_conn_id = kafka_conn_id
        self.configuration: dict[str, str] | None = None
        self._run_file: Path | None = None
        self._driver_is_here = False
        self._spec: RunSpec | None = None
        self._configs: Configurations
        self._given: dict[str, Any] | None = None

    @property
    def spark_conn_id(self) -> str:
        """The Spark connection; the provider's operator has it under a different name."""
        return str(self._conn_id)

    @spark_conn_id.setter
    def spark_conn_id(self, conn_id: str) -> None:
        self._conn_id = conn_id

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
            mode = run_mode(context)
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

    def on_kill(self) -> None:
        """End the job with all its processes, and remove the folder with its configuration."""
        if self._hook is not None:
            super().on_kill()
        if self._run_file is not None:
            shutil.rmtree(self._run_file.parent, ignore_errors=True)
            self._show_lost_job(INTERRUPTED, ended_by_user=True)

    def _say(self, line: str) -> None:
        self.log.info("%s", line)

    def _deploy_mode_of_connection(self) -> str | None:
        """The connection's deploy mode. Without a Spark connection the provider would use YARN and only log that."""
        try:
            connection = BaseHook.get_connection(self._conn_id)
        except AirflowNotFoundException:
            cure = f"airflow connections add {self._conn_id} --conn-type spark --conn-host 'local[*]'"
            raise ConfigError(
                {
                    "spark_conn_id": [
                        f"Spark connection `{self._conn_id}` does not exist. Create it: {cure} "
                        "(or host spark://host:7077, yarn, k8s://...)"
                    ]
                }
            ) from None
        mode: str | None = self._deploy_mode or connection.extra_dejson.get("deploy-mode")
        return mode

    def _checked(self, context: Context, mode: RunMode) -> RunSpec:
        """The run, its configurations checked: every problem is reported before Spark starts."""
        self._refuse_stored_secrets()
        config = self._given_config()
        if mode.max_records is not None:
            config["kconnect.max.records"] = str(mode.max_records)
        configs = configurations(config, self.worker_config, self.kafka_conn_id)
        self._configs = configs
        self._spec = spec = RunSpec(
            configs.config,
            configs.worker,
            self.kind,
            _run_id(context),
            self._of_dead_letters(mode),
            replay=mode.replay,
            dry_run=mode.dry_run,
            variables=configs.variables,
            origin=_origin(context),
        )
        with failures_shown(spec, configs.resolved_worker, masked):
            warnings = check_configuration(configs.config, configs.worker, self.kind, configs.variables)
        for warning in warnings:
            self.log.warning("%s", warning)
        self.conf = {**(self.conf or {}), **spark_settings(configs.config)}
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

    def _refuse_stored_secrets(self) -> None:
        """Airflow stores all parameters of mapped tasks with the DAG."""
        dag = self.get_dag()
        if dag is None or not dag.get_task(self.task_id).is_mapped:
            return
        why = "is a secret in the `worker_config` of a mapped task, which Airflow stores; use the Kafka connection"
        errors = {key: [why] for key, value in (self.worker_config or {}).items() if is_literal_secret(key, value)}
        if errors:
            raise ConfigError(errors)

    @contextmanager
    def _run_spec(self, spec: RunSpec, cluster: bool) -> Iterator[None]:
        """Pass the run spec to the job: by path if the driver runs here, else as a file that Spark uploads."""
        with run_spec_file(spec) as path:
            self._run_file = path
            self._facts = {"connector": spec.config.get("name"), "run_id": spec.run_id, TOKEN: spec.token}
            self.application = self.application or str(job_path())
            self.application_args = ["--run", path.name if cluster else str(path)]
            if cluster:
                self.files = ",".join(filter(None, [self.files, str(path)]))
            self.name = self.name or f"kconnect-{spec.config.get('name')}"
            yield

    def _run(self, context: Context, spec: RunSpec, cluster: bool) -> dict[str, Any] | None:
        assert self._run_file is not None
        self._hook = hook = self._get_hook()
        hook.token = self._facts[TOKEN]
        hook.keep_sockets_in(self._run_file.parent)
        hook.without_spark_if_possible(spec.config)
        # A job of this machine asks the Java class at once.
        if not hook.needs_no_spark and looks_hosted(texts_of(spec.config)[0]):
            checking = Heartbeat(self._say, "checking the keys of a Java class")
            with failures_shown(spec, self._configs.resolved_worker, masked), checking:
                check_java_keys(spec.config, spec.worker, self.kind)
        try:
            self.run_job(context, hook)
        except ConnectorRunError:
            raise
        except AirflowException as error:
            # The provider's error contains the whole command, and nothing about the connector.
            raise self._failure_of(hook, error) from None
        if hook.report is None and not cluster:
            self._show_lost_job(_LOST)
            raise ConnectorRunError("The job ended without an error, but it wrote no report; see the log")
        return hook.report

    def _failure_of(self, hook: ConnectorSparkSubmitHook, error: AirflowException) -> AirflowException:
        """The job's own error if it reported one. A failure before that is Spark's, and may be retried."""
        if hook.error is None:
            self._show_lost_job(_LOST)
            return ConnectorRunError(hook.end_of_submit() or str(error))
        exit_code = int(hook.error.get("exit_code", hook.exit_code or 0))
        return connector_error(exit_code, str(hook.error["message"]), str(hook.error["error"]))

    def _show_lost_job(self, text: str, *, ended_by_user: bool = False) -> None:
        """Write how the run has ended, as the job could not. In cluster deploy mode it may have done so."""
        if self._spec is not None and self._driver_is_here:
            show_failure(self._spec, text, self._configs.resolved_worker, ended_by_user=ended_by_user)

    def _get_hook(self) -> ConnectorSparkSubmitHook:
        try:
            return ConnectorSparkSubmitHook.from_hook(super()._get_hook())
        except NameError as error:  # the Spark provider's text if the Kubernetes one is missing
            raise missing_provider() from error


def _shown(config: Mapping[str, str]) -> dict[str, str] | None:
    """What Airflow may store of a configuration; None if this machine does not know which keys are passwords."""
    if looks_hosted(config) and not was_asked(config.get("connector.class", "")):
        return None
    return shown_as_known(config)


def _run_id(context: Context) -> str:
    """Identifies the attempt in reports, e.g. `files/scheduled__2026-01-01T00:00:00+00:00/load#1`."""
    ti = context["ti"]
    mapped = f"[{ti.map_index}]" if getattr(ti, "map_index", -1) >= 0 else ""
    return f"{ti.dag_id}/{ti.run_id}/{ti.task_id}{mapped}#{ti.try_number}"


def _origin(context: Context) -> dict[str, str | int]:
    """Where the attempt is found in Airflow."""
    ti = context["ti"]
    map_index = getattr(ti, "map_index", -1)
    return {"dag": ti.dag_id, "task": ti.task_id, "run": ti.run_id, "map_index": map_index, "try": ti.try_number}
