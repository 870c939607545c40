"""What Spark has to be started with for connectors (`Connector.spark_needs`), as settings of the job.

Jars are fetched here, once for this machine. A Spark that has them already, among its own jars or by its or the user's
settings, is given none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from airflow_kconnect.connect.config import properties, texts_of
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.choice import CONNECTOR_CLASS
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.machine.ivy import resolve
from airflow_kconnect.machine.java import Java, find_java
from airflow_kconnect.plugins.registry import registry

JARS, PACKAGES, EXTENSIONS = "spark.jars", "spark.jars.packages", "spark.sql.extensions"
_NAMING_JARS = (JARS, PACKAGES, "spark.driver.extraClassPath")
_VERSIONS = re.compile(r"[-_]\d.*")


class SparkOfJob(Protocol):
    """The Spark that a job will have, as `SparkSubmit` describes it."""

    @property
    def version(self) -> str:
        """Such as `4.1.4` or `4.1`; empty if it is not known."""

    @property
    def home(self) -> Path | None:
        """Its folder, if it is on this machine."""

    @property
    def java(self) -> Java:
        """A Java of this machine. :raises SetupError: there is none."""


class SparkElsewhere:
    """The Spark of a service. A Java is needed here only to fetch jars."""

    home = None

    def __init__(self, version: str) -> None:
        self.version = version

    @property
    def java(self) -> Java:
        return find_java()


def needs_of(config: Mapping[str, Any], spark_version: str) -> SparkNeeds:
    """What Spark has to be started with for a connector whose configuration was checked.

    :param config: variables need not be resolved.
    :raises ConfigError: there is nothing for this version of Spark.
    """
    props = texts_of(config)[0]
    if looks_hosted(props):
        return SparkNeeds()
    return registry().connector(props[CONNECTOR_CLASS]).spark_needs(props, spark_version)


def with_needs(
    conf: Mapping[str, Any],
    configs: Iterable[Mapping[str, Any]],
    spark: SparkOfJob,
    progress: Callable[[str], None] | None = None,
) -> dict[str, str]:
    """Spark's settings with what connectors need, its jars fetched. Where the user's settings differ, they win.

    :param conf: of the user. :param configs: of connectors that were checked, also together: see `contradiction`.
    :param progress: called with one line of text, several times a second while files arrive.
    :raises ConfigError: there is nothing for this version of Spark.
    :raises RetriableError: jars cannot be downloaded.
    """
    result = {key: str(value) for key, value in conf.items()}
    all_needs = [needs for config in configs if (needs := needs_of(config, spark.version)) != SparkNeeds()]
    if not all_needs:
        return result
    known = {**_defaults(spark.home), **result}
    jars = [jar for coordinates in _missing(all_needs, known, spark.home)
            for jar in sorted(resolve(coordinates, java=spark.java, progress=progress).glob("*.jar"))]  # fmt: skip
    for key, ours in ((JARS, map(str, jars)), (EXTENSIONS, chain.from_iterable(each.extensions for each in all_needs))):
        if both := ",".join(dict.fromkeys([*_listed(known.get(key)), *ours])):
            result[key] = both
    for needs in all_needs:
        result = {**{key: value for key, value in needs.conf.items() if key not in known}, **result}
    return result


def contradiction(needs: SparkNeeds, others: Mapping[str, SparkNeeds]) -> str | None:
    """Why connectors cannot share a Spark application: they need different versions of a jar. None if they can.

    :param others: by connector.
    """
    versions = _versions(needs)
    for name, other in others.items():
        for artifact, version in _versions(other).items():
            if versions.get(artifact, version) != version:
                return (
                    f"needs {artifact} {versions[artifact]}, and connector {name} {version}: a group is one Spark"
                    " application. Run one of them in a task of its own"
                )
    return None


def _versions(needs: SparkNeeds) -> dict[str, str]:
    split = (coordinate.split(":") for coordinate in needs.coordinates)
    return {f"{group}:{artifact}": rest[-1] for group, artifact, *rest in split}


def _missing(all_needs: Iterable[SparkNeeds], conf: Mapping[str, str], home: Path | None) -> Iterator[Sequence[str]]:
    """The coordinates to fetch. The first is the one that the others are for: if it is there, so are they. It may be of
    another version.
    """
    there = [Path(name).name for key in _NAMING_JARS for name in re.split("[,:]", conf.get(key, ""))]
    there += [] if home is None else [jar.name for jar in (home / "jars").glob("*.jar")]
    names = {_VERSIONS.sub("", jar) for jar in there}
    for coordinates in dict.fromkeys(needs.coordinates for needs in all_needs if needs.coordinates):
        missing = [coordinate for coordinate in coordinates if _VERSIONS.sub("", coordinate.split(":")[1]) not in names]
        if coordinates[0] in missing:
            yield missing


def _defaults(home: Path | None) -> dict[str, str]:
    """The settings of `spark-defaults.conf`, which those of a job replace."""
    folder = os.environ.get("SPARK_CONF_DIR") or (None if home is None else home / "conf")
    try:
        return properties.parse((Path(folder or os.devnull) / "spark-defaults.conf").read_text(encoding="utf-8"))
    except (OSError, ConfigError):
        return {}


def _listed(value: str | None) -> list[str]:
    return [item.strip() for item in (value or "").split(",") if item.strip()]
