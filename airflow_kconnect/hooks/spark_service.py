"""Runs a connector job on a service, such as EMR Serverless, by its API: no spark-submit runs on this machine."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService
from airflow_kconnect.hooks.services.registry import open_service
from airflow_kconnect.hooks.services.staging import Staging
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.submit.heartbeat import Heartbeat
from airflow_kconnect.submit.package_archive import package_archive, with_archive
from airflow_kconnect.submit.spark import job_path
from airflow_kconnect.submit.spark_needs import SparkElsewhere, SparkOfJob
from airflow_kconnect.submit.submit import spark_conf

_OF_SPARK_SUBMIT = (
    *("java_class", "keytab", "post_submit_commands", "principal", "properties_file", "proxy_user"),
    *("total_executor_cores", "yarn_queue"),
)


class SparkServiceHook(ConnectorSparkSubmitHook):
    """A `ConnectorSparkSubmitHook` whose jobs a service starts; takes the same parameters.

    What of them are files of this machine is put into the connection's staging folder first.

    :raises ConfigError: parameters that only spark-submit knows.
    """

    def _prepare(self) -> None:
        super()._prepare()
        if given := [name for name in _OF_SPARK_SUBMIT if getattr(self, f"_{name}")]:
            text = f"is an option of spark-submit, by which {self.service.title} starts no jobs: leave it out"
            raise ConfigError({name: [text] for name in given})
        self._job_id: str | None = None

    def _spark_settings(self) -> dict[str, str]:
        own = {
            "spark.driver.memory": self._driver_memory,
            "spark.driver.extraClassPath": self._driver_class_path,
            "spark.executor.memory": self._executor_memory,
            "spark.executor.cores": self._executor_cores,
            "spark.executor.instances": self._num_executors,
            "spark.jars.packages": self._packages,
            "spark.jars.excludes": self._exclude_packages,
            "spark.jars.repositories": self._repositories,
            **{f"spark.executorEnv.{name}": value for name, value in (self._env_vars or {}).items()},
        }
        # As spark-submit, of whose options each wins over the setting.
        given = {key: str(value) for key, value in own.items() if value is not None}
        return spark_conf({**self._conf, **given}, master=self._connection["master"], deploy_mode="cluster")

    @cached_property
    def service(self) -> SparkService:
        """The service of the connection. :raises ConfigError: the connection is wrong."""
        return open_service(self.get_connection(self._conn_id), self._conn_id)

    @cached_property
    def staging(self) -> Staging:
        """Its staging folder. :raises ConfigError: it is none, or the connection does not fit."""
        return Staging.of(self.service.extras.staging, self.service.staging_conn_id)

    @cached_property
    def _spark(self) -> SparkOfJob:
        return SparkElsewhere(self.service.extras.spark_version)

    @property
    def is_tracked(self) -> bool:
        return True

    def _why_to_wait_here(self) -> str | None:
        return None

    def submit(self, application: str = "", **kwargs: Any) -> str:
        """Put what the job needs into the staging folder, and start it; returns its id on the service.

        :raises ConfigError: the service refuses. :raises ClusterManagerUnavailableError: it does not answer.
        """
        doing = f"starting the job on {self.service.title}"
        with Heartbeat(self._say, doing, self.silence_s), ExitStack() as undo:
            undo.callback(self._clear_mailbox)
            self.use_mailbox()
            job = self._job(application)
            self._check_not_killed()
            self._job_id = self.service.start(job)
            self.log.info("%s has started job %s", self.service.title, self._job_id)
            if self._killed:
                self._end_job(self._job_id)
                self._check_not_killed()
            undo.pop_all()
        return self._job_id

    def _check_not_killed(self) -> None:
        """Airflow calls `on_kill` in the middle of what the task does, which then continues.

        :raises RetriableError: the task was killed.
        """
        if self._killed:
            raise RetriableError("the task was killed while its job was started")

    def _job(self, application: str) -> ServiceJob:
        assert self.mailbox is not None
        conf, package = dict(self._conf), []
        if application == str(job_path()):
            with package_archive() as archive:
                package = [self.staging.library(archive)]
            conf = with_archive(conf)
            application = str(job_path(self.service.job_file))
        return ServiceJob(
            name=self._name,
            request=self.mailbox,
            application=self._there(application),
            arguments=("--run", self.staging.mailbox(self.mailbox)),
            py_files=(*package, *self._all_there(self._py_files, conf.pop("spark.submit.pyFiles", None))),
            files=self._all_there(self._files, conf.pop("spark.files", None)),
            jars=self._all_there(self._jars, conf.pop("spark.jars", None)),
            archives=self._all_there(self._archives, conf.pop("spark.archives", None)),
            conf=conf,
        )

    def _all_there(self, *lists: str | None) -> tuple[str, ...]:
        names = (name.strip() for names in lists for name in (names or "").split(","))
        return tuple(self._there(name) for name in dict.fromkeys(names) if name)

    def _there(self, file: str) -> str:
        """The address of a file for the job: of this machine's, one in the staging folder.

        :raises ConfigError: a file of this machine cannot be read.
        """
        path, alias, name = file.removeprefix("file://").partition("#")
        if urlsplit(path).scheme:
            return file
        try:
            return f"{self.staging.library(Path(path))}{alias}{name}"
        except OSError as error:
            text = f"file {path} of this machine cannot be read: {error.strerror}; {self.service.title} needs it"
            raise ConfigError({"spark-submit": [text]}) from error

    def on_kill(self) -> None:
        """End the job on the service, if it has been started."""
        self._killed = True
        if self._job_id is not None:
            self._end_job(self._job_id)
        self._clear_mailbox()

    def _end_job(self, job_id: str) -> None:
        self.log.info("Ending job %s of %s", job_id, self.service.title)
        try:
            self.service.end(job_id)
        except (ClusterManagerUnavailableError, ConfigError) as error:
            self.log.error("Job %s may still be running, until the next run fences it: %s", job_id, error)

    def adopt(self, job_id: str) -> None:
        """Make `on_kill` end a job that was started, perhaps by an earlier attempt."""
        self._job_id = job_id
