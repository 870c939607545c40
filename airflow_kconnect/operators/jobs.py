"""What operators of one connector and of a group share: connections, the file with the run spec, the job, its end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowNotFoundException
from airflow.sdk import BaseHook

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.classes.java_preflight import check_java_keys
from airflow_kconnect.hooks.clusters.driver_pod import missing_provider
from airflow_kconnect.hooks.services.registry import names_service
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.hooks.spark_service import SparkServiceHook
from airflow_kconnect.hooks.worker import Configurations
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.operators.intervals import RunMode
from airflow_kconnect.operators.tracking import TOKEN, TrackedSparkSubmitOperator
from airflow_kconnect.runs.spec import JobSpec, RunSpec, run_spec_file
from airflow_kconnect.submit.heartbeat import Heartbeat
from airflow_kconnect.submit.literal_secrets import is_literal_secret
from airflow_kconnect.submit.spark import job_path

if TYPE_CHECKING:
    from airflow.sdk import Context

LOST = "The job ended before it could report; see the log of its Airflow task."


class ConnectorJobOperator(TrackedSparkSubmitOperator):
    """Runs connectors in a Spark job. Use `KafkaSourceOperator`, `KafkaSinkOperator` or `KafkaConnectorGroupOperator`.

    Secrets are passed to the job in a file that only its owner can read, never on a command line.
    """

    template_fields: Sequence[str] = ("kafka_conn_id", "spark_conn_id", *SparkSubmitOperator.template_fields)
    template_fields_renderers: ClassVar[dict[str, str]] = {"conf": "json"}
    ui_color = "#e8f0fe"

    def __init__(
        self,
        *,
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
        self.worker_config = worker_config
        self.kafka_conn_id = kafka_conn_id
        self._run_file: Path | None = None
        self._driver_is_here = False

    @property
    def spark_conn_id(self) -> str:
        """The Spark connection; the provider's operator has it under a different name."""
        return str(self._conn_id)

    @spark_conn_id.setter
    def spark_conn_id(self, conn_id: str) -> None:
        self._conn_id = conn_id

    def on_kill(self) -> None:
        """End the job with all its processes, and remove the folder with its configuration."""
        if self._hook is not None:
            super().on_kill()
        if self._run_file is not None:
            shutil.rmtree(self._run_file.parent, ignore_errors=True)
            self._show_interrupted()

    def _show_interrupted(self) -> None:
        """Write that the user has ended what the job was doing. Never fails because of Kafka."""

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
        if names_service(connection.host):
            return "cluster"  # the driver runs there
        mode: str | None = self._deploy_mode or connection.extra_dejson.get("deploy-mode")
        return mode

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
    def _passed_to_job(self, spec: JobSpec, facts: Mapping[str, Any], cluster: bool, name: str) -> Iterator[None]:
        """Pass the run spec to the job: by path if the driver runs here, else as a file that Spark uploads.

        :param facts: what a retry and a trigger need to know about the job, see `TrackedSparkSubmitOperator`.
        :param name: of the Spark application, unless the user has given one.
        """
        with run_spec_file(spec) as path:
            self._run_file = path
            self._facts = dict(facts)
            self.application = self.application or str(job_path())
            self.application_args = ["--run", path.name if cluster else str(path)]
            if cluster:
                self.files = ",".join(filter(None, [self.files, str(path)]))
            self.name = self.name or name
            yield

    def _hook_of_job(self, *configs: Mapping[str, Any]) -> ConnectorSparkSubmitHook:
        """The hook that runs the job of these connectors."""
        assert self._run_file is not None
        self._hook = hook = self._get_hook()
        hook.token = self._facts[TOKEN]
        hook.keep_sockets_in(self._run_file.parent)
        hook.without_spark_if_possible(*configs)
        hook.start_with_needs_of(*configs)
        return hook

    def _check_java(self, spec: RunSpec) -> None:
        """Check the keys of a Java class, before a job is started elsewhere: one of this machine asks the class at
        once.
        """
        with Heartbeat(self._say, "checking the keys of a Java class"):
            check_java_keys(spec.config, spec.worker, spec.kind)

    def _get_hook(self) -> ConnectorSparkSubmitHook:
        try:
            hook = super()._get_hook()
            cls = SparkServiceHook if names_service(hook._connection["master"]) else ConnectorSparkSubmitHook
            return cls.from_hook(hook)
        except NameError as error:  # the Spark provider's text if the Kubernetes one is missing
            raise missing_provider() from error


def is_java(config: Mapping[str, Any]) -> bool:
    """Whether a configuration names a Java class, whose keys are known by that class alone."""
    return looks_hosted(texts_of(config)[0])


def spec_of(configs: Configurations, kind: str | None, mode: RunMode, context: Context, run_id: str) -> RunSpec:
    """The run of a connector in a task.

    :param kind: `source`, `sink`, or None if it may be either. :param run_id: see `run_id_of`.
    """
    most = {} if mode.max_records is None else {"kconnect.max.records": str(mode.max_records)}
    return RunSpec(
        {**configs.config, **most},
        configs.worker,
        kind,
        run_id,
        mode.dead_letters,
        replay=mode.replay,
        dry_run=mode.dry_run,
        variables=configs.variables,
        origin=_origin(context),
    )


def run_id_of(context: Context) -> str:
    """Identifies the attempt in reports, e.g. `files/scheduled__2026-01-01T00:00:00+00:00/load#1`."""
    ti = context["ti"]
    mapped = f"[{ti.map_index}]" if getattr(ti, "map_index", -1) >= 0 else ""
    return f"{ti.dag_id}/{ti.run_id}/{ti.task_id}{mapped}#{ti.try_number}"


def _origin(context: Context) -> dict[str, str | int]:
    """Where the attempt is found in Airflow."""
    ti = context["ti"]
    map_index = getattr(ti, "map_index", -1)
    return {"dag": ti.dag_id, "task": ti.task_id, "run": ti.run_id, "map_index": map_index, "try": ti.try_number}
