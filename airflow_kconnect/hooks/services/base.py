"""What a service that runs Spark jobs does for a connector's job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import JobStatus


@dataclass(frozen=True)
class ServiceJob:
    """A job to start. Nothing of it is a secret: those are in the run spec.

    :param name: for people. :param request: the same whenever the same job is asked for, different for each job: 32
        hexadecimal digits, with which services recognise a request that they have had.
    :param application: where the service finds the job's Python file.
    :param arguments: of that file. :param conf: Spark's settings.
    :param py_files: where the service finds what must be on the job's Python path.
    :param files: in the working directory of executors. :param jars: on Spark's class path.
    :param archives: unpacked there, with ``#name``.
    """

    name: str
    request: str
    application: str
    arguments: tuple[str, ...]
    conf: Mapping[str, str]
    py_files: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    jars: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """Spark's, with the name."""
        return {"spark.app.name": self.name, **self.conf}

    def properties(self) -> dict[str, str]:
        """All of it, except application and arguments, as settings of Spark."""
        lists = {
            "spark.submit.pyFiles": self.py_files,
            "spark.files": self.files,
            "spark.jars": self.jars,
            "spark.archives": self.archives,
        }
        joined = {key: ",".join(values) for key, values in lists.items() if values}
        return {**self.settings, **joined}


class ServiceExtras(BaseModel):
    """Extras of a Spark connection that any service has; each service adds its own.

    :param staging: folder of a store that both the worker and the job can reach, in which this package and run specs
        are put. :param staging_conn_id: Airflow connection with the worker's login to it.
    :param spark_version: the service's, ``major.minor``.
    """

    # Those of Airflow's Spark connection may be there, too.
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    staging: str
    staging_conn_id: str | None = None
    spark_version: str = "4.0"


class SparkService(ABC):
    """A service, as one Spark connection names it. Made by `open_service`, in a task or in a thread of a trigger.

    Logs in by a hook of the service's own Airflow provider. A method that gets no answer, or one that says nothing
    about the job, raises `ClusterManagerUnavailableError`; a request that the service refuses is a `ConfigError`, keyed
    by the extra, or by ``spark_conn_id``, with the service's own words.

    :param address: what follows ``scheme://`` in the connection's host. :param extras: those of the connection.
    """

    scheme: ClassVar[str]
    title: ClassVar[str]
    """For people, in the middle of a sentence."""
    package: ClassVar[str]
    """Airflow's provider with its hook."""
    extras_class: ClassVar[type[ServiceExtras]] = ServiceExtras
    job_file: ClassVar[str] = "connector_job.py"
    """The Python file of jobs, one of this package's."""

    def __init__(self, address: str, extras: Any) -> None:
        self.address = address
        self.extras = extras

    @property
    def staging_conn_id(self) -> str | None:
        """The connection with the worker's login to the staging folder."""
        given: str | None = self.extras.staging_conn_id
        return given

    @abstractmethod
    def check(self) -> None:
        """Called before anything is put into the staging folder; makes no request.

        :raises ConfigError: the address is not one of this service.
        """

    @abstractmethod
    def start(self, job: ServiceJob) -> str:
        """Start a job; returns the id by which the service knows it. Called once for each job.

        :raises ClusterManagerUnavailableError: no answer. The job may have been started: the next run fences it.
        """

    @abstractmethod
    def status(self, job_id: str) -> JobStatus:
        """How the job is doing. Called every few seconds until it has ended, and by retries.

        A job that the service does not know (any more) is `JobOutcome.LOST`.
        """

    @abstractmethod
    def end(self, job_id: str) -> None:
        """Request the end of a job. It is not an error if it has already ended."""


def read_extras(cls: type[ServiceExtras], extras: Mapping[str, Any], conn_id: str) -> ServiceExtras:
    """Extras of a connection, checked. :raises ConfigError: all that is wrong with them."""
    try:
        return cls.model_validate(dict(extras))
    except ValidationError as error:
        texts = [
            f"Spark connection `{conn_id}`, extra `{'.'.join(map(str, each['loc']))}`: {each['msg'].lower()}"
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigError({"spark_conn_id": texts}) from None


def missing_package(service: type[SparkService]) -> ConfigError:
    """The error if a service's Airflow provider is not installed."""
    text = f"{service.title} needs a package that is missing: pip install {service.package}"
    return ConfigError({"spark_conn_id": [text]})
