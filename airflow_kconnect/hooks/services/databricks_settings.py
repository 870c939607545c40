"""What of a job's settings a cluster of Databricks takes, and in which form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.services.base import ServiceJob
from airflow_kconnect.submit.package_archive import NAME
from airflow_kconnect.submit.submit import spark_conf

_ENVIRONMENT = "spark.executorEnv."
_PYTHON_PATH = f"{_ENVIRONMENT}PYTHONPATH"
_PACKAGES = "spark.jars.packages"
_SIZE = "the size of a cluster is that of its machines: leave it out, and choose `{}` of extra `new_cluster`"
_LIBRARY = (
    'give it with the coordinates as a library, in extra `libraries`: {"maven": {"coordinates", "repo", "exclusions"}}'
)
_OWN = "Databricks sets it: leave it out"
_REFUSED = {
    "spark.master": _OWN,
    "spark.submit.deployMode": _OWN,
    _PYTHON_PATH: "Databricks sets it: leave it out, and name modules in `py_files`",
    "spark.executor.instances": _SIZE.format("num_workers"),
    "spark.executor.cores": _SIZE.format("node_type_id"),
    "spark.executor.memory": _SIZE.format("node_type_id"),
    "spark.driver.memory": _SIZE.format("driver_node_type_id"),
    "spark.driver.extraClassPath": "give jars as `jars`",
    "spark.jars.excludes": _LIBRARY,
    "spark.jars.repositories": _LIBRARY,
    "spark.sql.extensions": (
        "Databricks loads jars after Spark has started, when it takes no extensions any more: tables of Iceberg and"
        " Delta cannot be written there"
    ),
}
_NO_PLACE = "a job of Databricks has none: put them where its cluster reads them, such as a volume, and leave this out"


@dataclass(frozen=True)
class ClusterSettings:
    """Settings of a job for its cluster, without this package's own: what it needs of those it sets in its session.

    :param conf: Spark's. :param environment: of all processes of the cluster.
    :param libraries: jars and packages of Maven, as Databricks names them.
    """

    conf: Mapping[str, str]
    environment: Mapping[str, str]
    libraries: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, job: ServiceJob) -> ClusterSettings:
        """Those of a job. :raises ConfigError: some cannot be had on Databricks; it names all of them."""
        conf = _given(job.conf)
        packages = [name.strip() for name in conf.pop(_PACKAGES, "").split(",") if name.strip()]
        errors = {key: [text] for key, text in _REFUSED.items() if key in conf}
        errors |= {key: [_NO_PLACE] for key, files in (("files", job.files), ("archives", job.archives)) if files}
        if errors:
            raise ConfigError(errors)
        variables = {key: conf.pop(key) for key in list(conf) if key.startswith(_ENVIRONMENT)}
        return cls(
            conf,
            {key.removeprefix(_ENVIRONMENT): value for key, value in variables.items()},
            (*({"jar": jar} for jar in job.jars), *({"maven": {"coordinates": each}} for each in packages)),
        )

    def check_none_for(self, cluster: str) -> None:
        """:raises ConfigError: there are settings, which a cluster that is already running does not take."""
        text = (
            f"cannot be set for cluster {cluster}, which is already running: set it there and leave it out here, or let"
            " each run have a cluster, by host databricks://new"
        )
        if keys := [*self.conf, *(f"{_ENVIRONMENT}{name}" for name in self.environment)]:
            raise ConfigError({key: [text] for key in keys})


def _given(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings that are not this package's own defaults."""
    ours = {**spark_conf({}, master="databricks", deploy_mode="cluster"), _PYTHON_PATH: NAME}
    return {key: value for key, value in conf.items() if ours.get(key) != value}
