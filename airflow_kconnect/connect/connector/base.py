"""What every connector answers: its configuration, checks, lineage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset

if TYPE_CHECKING:
    from airflow_kconnect.worker_config.keys import WorkerConfig


@dataclass(frozen=True)
class SparkNeeds:
    """What Spark has to be started with for a connector, so that it can be told before there is a job. No secrets.

    :param coordinates: Maven coordinates of jars, for a version of Spark: see `Connector.spark_needs`. The first is the
        one that the others are for: where it is there already, none is fetched.
    :param extensions: classes for ``spark.sql.extensions``.
    :param conf: other settings that a session cannot change.
    """

    coordinates: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)


class Connector(ABC):
    """Created once per run, in the job's driver. Class methods are also called where there is no Spark.

    :param props: the connector's whole configuration, validated, variables resolved.
    """

    kind: ClassVar[str]
    key_prefixes: ClassVar[tuple[str, ...]] = ()
    """Prefixes of keys that it reads although `config` does not define them, such as driver properties."""
    open_prefixes: ClassVar[tuple[str, ...]] = ()
    """Those of them after which any name may follow, even one that resembles a key of `config`."""
    summary: ClassVar[str] = ""
    """One sentence for those who choose a class: what it moves, and when to take it."""
    recommended: ClassVar[bool] = False
    """Whether it is offered before others."""
    first_keys: ClassVar[tuple[str, ...]] = ()
    """The keys that most configurations set, in the order of a form; empty: it shows those of importance HIGH."""
    check_is_quick: ClassVar[bool] = True
    """Whether `check` takes milliseconds: only then it is called for a sink that has nothing to read, without a run."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self.props = dict(props)
        self.config_values = self.config().parse(self.props)

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef:
        """The connector's own keys. Called at validation."""

    @classmethod
    def version(cls) -> str:
        """Version of the connector, shown in reports."""
        return metadata.version("airflow-kconnect")

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        """Errors beyond single keys: key -> messages. Called at validation; must not connect to anything."""
        return {}

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        """What the worker forbids connectors to do: key -> messages. Called at validation, including in the job."""
        return {}

    @classmethod
    def spark_needs(cls, props: Mapping[str, str], spark_version: str) -> SparkNeeds:
        """What Spark needs besides what it comes with. Called before the job is submitted; there is no Spark.

        :param spark_version: of the PySpark that will be used, such as ``4.1.4``.
        :raises ConfigError: there is nothing for this version.
        """
        return SparkNeeds()

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        """What is allowed but may not do what the user expects. Called at validation; must not connect to anything."""
        return []

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """Why an interval of time cannot be replayed with this configuration; None if it can.

        Called before anything is started.
        """
        return None

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """What it reads (a source) or writes (a sink) outside Kafka, for lineage. Called in Airflow, so it must not
        connect to anything; what is not known is left out.

        :param props: valid, but variables such as `${file:...}` are not resolved.
        :param report: of a finished run: its offsets and notes may contain more; None before a run.
        """
        return []

    @classmethod
    def connection_only(cls, props: Mapping[str, str]) -> dict[str, str] | None:
        """A valid configuration for nothing but a connection, made of the keys that say how to connect; None if the
        class cannot be tested so. Called for forms, with configurations that are not complete.
        """
        return None

    def offered(self, within_s: float) -> dict[str, list[str]]:
        """Connect, and name what the external system has for keys to choose from, such as its tables: key -> values.
        Called for forms, on a connector of `connection_only`; the end of the process closes what it opens.

        :param within_s: seconds to look for it, once connected: what is not found by then is left out.
        :raises ConnectError: the connection fails.
        """
        self.check()
        return {}

    def check(self) -> None:
        """Check the external system (a file, a database) from where the job runs, before anything is planned.

        :raises ConfigError: the configuration names something that cannot work.
        """
