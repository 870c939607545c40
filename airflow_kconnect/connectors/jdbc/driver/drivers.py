"""JDBC drivers: which one a database needs, how it gets into a running Spark session, and connections made with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, Importance, LambdaValidator, Type, nullable
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.class_path import (
    ADDED,
    add_jar,
    application_loader,
    find_class,
)
from airflow_kconnect.connectors.jdbc.driver.parameters import (
    is_allowed,
    is_option_of_spark,
    is_remote_store,
)
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl, subprotocol_of
from airflow_kconnect.connectors.jdbc.facts.registry import DATABASES, database_of
from airflow_kconnect.machine.ivy import resolve
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.validation.connector_keys import KCONNECT
from airflow_kconnect.validation.jdbc_parameters import is_refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URL = "connection.url"
COORDINATES = "kconnect.jdbc.driver.coordinates"
CLASS = "kconnect.jdbc.driver.class"
PATH = "kconnect.jdbc.driver.path"
ALLOWED = "kconnect.jdbc.drivers.allowed"
"""The worker's key for drivers that connectors may supply."""
DERBY_LOG = "derby.stream.error.file"
"""Java's property for the log of Derby, which would be `derby.log` where the job runs; its errors are the job's."""

_COORDINATE = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")
PROPERTY_PREFIX = "connection."
"""Of keys that are properties of the driver."""


@dataclass(frozen=True)
class Driver:
    """A JDBC driver.

    :param class_name: the class that implements `java.sql.Driver`.
    :param coordinates: Maven coordinates; empty if the driver is a file or in Spark's jars.
    :param path: a jar; None if there are coordinates or the driver is in Spark's jars.
    :param with_dependencies: whether it needs the artifacts that it names; those of `DRIVERS` do without them.
    """

    class_name: str
    coordinates: tuple[str, ...] = ()
    path: str | None = None
    with_dependencies: bool = False


DRIVERS: Mapping[str, Driver] = {
    database.name: Driver(database.driver_class, database.coordinates)
    for database in DATABASES
    if database.driver_class
}
"""The drivers that are known, by subprotocol."""


def define_driver_keys(definition: ConfigDef) -> ConfigDef:
    """Add the keys with which a user names another driver."""
    return (
        definition.define(COORDINATES, Type.LIST, "", Importance.LOW,
                "Maven coordinates (`group:artifact:version`, comma separated) of the JDBC driver. Not needed for "
                f"{', '.join(sorted(DRIVERS))}, nor when the driver's jar is in `spark.jars`. Others must be in the "
                f"worker's `{ALLOWED}`.",
                group=KCONNECT, validator=LambdaValidator(_coordinates_rule))
        .define(CLASS, Type.STRING, None, Importance.LOW,
                "Class name of the JDBC driver; needed for a database whose driver is not known here.", group=KCONNECT)
        .define(PATH, Type.STRING, None, Importance.LOW,
                "Path of a jar with the JDBC driver, instead of coordinates. The machine of the Spark driver must "
                f"have it, executors get it, and the worker's `{ALLOWED}` must name it or its folder.",
                group=KCONNECT, validator=nullable(LambdaValidator(_path_rule)))
    )  # fmt: skip


def _coordinates_rule(name: str, value: Any) -> str | None:
    wrong = [text for text in value or () if not _COORDINATE.fullmatch(text)]
    return f"must be group:artifact:version, which {', '.join(wrong)} is not" if wrong else None


def _path_rule(name: str, value: Any) -> str | None:
    return None if value.endswith(".jar") and Path(value).is_absolute() else "must be the absolute path of a .jar file"


def driver_of(url: JdbcUrl, props: Mapping[str, Any]) -> Driver:
    """The driver for a database; keys of the configuration go before what is known here.

    :param props: configuration, as text or parsed.
    :raises ConfigError: the database is not known, and the keys do not name class and jar of a driver; or they
        contradict each other.
    """
    known, class_name = DRIVERS.get(url.subprotocol), props.get(CLASS)
    coordinates, path = _listed(props.get(COORDINATES)), props.get(PATH)
    if coordinates and path:
        raise ConfigError({PATH: [f"must not be set together with {COORDINATES}: one driver is enough"]})
    class_name = class_name or (known and known.class_name)
    if not class_name:
        message = (
            f"is needed for jdbc:{url.subprotocol}, whose driver is not known here (known: "
            f"{', '.join(sorted(DRIVERS))}); name its class, and where to get it from in {COORDINATES} or {PATH}"
        )
        raise ConfigError({CLASS: [message]})
    if coordinates or path:
        return Driver(class_name, coordinates, path, with_dependencies=True)
    return Driver(class_name, known.coordinates if known and class_name == known.class_name else ())


def forbidden_drivers(props: Mapping[str, str], allowed: Sequence[str]) -> dict[str, list[str]]:
    """What is wrong with code that a connector brings along, a driver or an embedded database: key -> messages.

    A text with `${...}` in it is judged as it is, since the job may be left with one; what is said about variables that
    are not resolved yet is dropped by `before_variables`.

    :param allowed: `kconnect.jdbc.drivers.allowed` of the worker.
    """
    if "*" in allowed:
        return {}
    why = f"is not allowed: a driver is code, and the worker's `{ALLOWED}` does not name it; add it there"
    known = {coordinate.rpartition(":")[0] for driver in DRIVERS.values() for coordinate in driver.coordinates}
    wrong = [
        text for text in _listed(props.get(COORDINATES)) if not {text, text.rpartition(":")[0]} & {*known, *allowed}
    ]
    errors = {COORDINATES: [f"{', '.join(wrong)} {why}"]} if wrong else {}
    if problem := _embedded_problem(props.get(URL, ""), allowed):
        errors[URL] = [problem]
    path = props.get(PATH) or ""
    if path and not _is_below(Path(path), [entry for entry in allowed if entry[:1] == "/"]):
        errors[PATH] = [f"{path} {why}"]
    return errors


def _embedded_problem(url: str, allowed: Sequence[str]) -> str | None:
    """Why a database must not run within the job; None if it may, or a server has it."""
    subprotocol = subprotocol_of(url.strip())
    servers, entry = database_of(subprotocol).servers, f"jdbc:{subprotocol}"
    if servers is None or entry in allowed or re.match(rf"{entry}:{servers}", url.strip()):
        return None
    return (
        f"names a database that would run within the job, where its SQL and its files can call Java code, and the "
        f"worker's `{ALLOWED}` does not name it: add {entry} there, or connect to a server such as "
        f"{database_of(subprotocol).example}"
    )


def _is_below(path: Path, folders: Sequence[str]) -> bool:
    """Whether a file, links resolved, is one of some files or in one of some folders."""
    return any(path.resolve().is_relative_to(Path(folder).resolve()) for folder in folders)


def _listed(value: Any) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value or ()
    return tuple(item.strip() for item in items if item.strip())


def driver_properties(props: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """Properties for the driver: all `connection.<name>` keys that the connector itself does not know.

    :param known: the keys of the connector.
    :raises ConfigError: keyed by each key whose property the driver must not or would not get.
    """
    given = {key: text for key, text in props.items() if key.startswith(PROPERTY_PREFIX) and key not in known}
    properties = {key.removeprefix(PROPERTY_PREFIX): text for key, text in given.items()}
    # A URL that is a variable yet, or wrong, has an error of its own: until then any database's rules hold.
    subprotocol = subprotocol_of(props.get(URL, ""))
    problems = {PROPERTY_PREFIX + name: _problem(subprotocol, name, text) for name, text in properties.items()}
    if errors := {key: [problem] for key, problem in problems.items() if problem}:
        raise ConfigError(errors)
    return properties


def _problem(subprotocol: str, name: str, value: str) -> str | None:
    """Why a property is not handed on; None if it is."""
    if is_refused(name):
        return "is refused: in the driver it can load code, use files or unpack objects; remove it"
    if is_option_of_spark(name):
        return "is refused: Spark's reader would take it for one of its own options; set it in `connection.url`"
    if is_remote_store(name, value):
        return "is refused: keys and certificates must be in a file of this machine"
    if not is_allowed(subprotocol, name):
        return f"is not among the parameters that are allowed for {subprotocol}: remove it, or correct its name"
    return None


def use_driver(spark: SparkSession, url: JdbcUrl, props: Mapping[str, Any]) -> str:
    """Make sure that the driver and the executors of a session have the JDBC driver, and this thread sees it.

    A driver that Spark was started with (`spark.jars`) is taken as it is. Call it in each Python thread that uses
    JDBC: to Java, each is a thread of its own with its own class loader.

    :returns: class name of the driver, for Spark's option `driver`.
    :raises ConfigError: see :func:`driver_of`; or the jar does not hold the class.
    :raises RetriableError: the driver could not be downloaded.
    """
    driver = driver_of(url, props)
    known = _class(spark, driver.class_name) is not None
    if not known or driver.class_name in ADDED:
        ADDED.add(driver.class_name)
        for jar in driver_jars(driver):
            _add_jar(spark, jar)
    if not known and _class(spark, driver.class_name) is None:
        where = ", ".join(driver.coordinates) or driver.path or "the jars of Spark"
        raise ConfigError({CLASS: [f"{driver.class_name} is not in {where}"]})
    thread: Any = _jvm(spark).java.lang.Thread.currentThread()
    thread.setContextClassLoader(_loader(spark))
    return driver.class_name


def driver_jars(driver: Driver) -> Sequence[Path]:
    """The jars of a driver, downloaded if need be; none if Spark has them.

    :raises ConfigError: the path is not a file. :raises RetriableError: the download failed.
    """
    if driver.path:
        jar = Path(driver.path)
        if not jar.is_file():
            raise ConfigError({PATH: [f"{jar} is not a file on the machine that runs the Spark driver"]})
        return [jar]
    if not driver.coordinates:
        return []
    folder = resolve(driver.coordinates, java=find_java())
    if driver.with_dependencies:
        return sorted(folder.glob("*.jar"))
    return [folder / "{1}-{2}.jar".format(*coordinate.split(":")) for coordinate in driver.coordinates]


def _add_jar(spark: SparkSession, jar: Path) -> None:
    """What `ADD JAR` does, which does not find a jar in a folder whose name has a blank; see also `class_path`."""
    context: Any = spark.sparkContext
    if jar.name not in str(context._jsc.sc().listJars()):
        context._jsc.addJar(str(jar))
    add_jar(context._jvm, _loader(spark), jar)


def _class(spark: SparkSession, name: str) -> Any:
    return find_class(_jvm(spark), name, _loader(spark))


def _loader(spark: SparkSession) -> Any:
    """The class loader for the jars that are added to the driver of a running session."""
    session: Any = spark._jsparkSession
    return application_loader(_jvm(spark)) or session.sharedState().jarClassLoader()


def _jvm(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm
