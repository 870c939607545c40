"""What the registry knows about a database: all that can be known without Spark and without its drivers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from airflow_kconnect.connectors.jdbc.facts.condition import Condition

PLAIN = "airflow_kconnect.connectors.jdbc.databases.plain."
"""The room of databases that have no other one."""


class Lineage(NamedTuple):
    """How OpenLineage names the tables of a database.

    :param scheme: of the namespace.
    :param schema: the schema of a table that is named without one; None where databases have no schemas.
    """

    scheme: str
    schema: str | None


def names(text: str) -> frozenset[str]:
    """Names of parameters, given with blanks between them, in lower case."""
    return frozenset(text.lower().split())


def _left_to_its_state(number: int, message: str) -> Condition | None:
    return None


@dataclass(frozen=True)
class Database:
    """A kind of database. The defaults are for databases of which only the JDBC driver is known.

    :param name: as in ``jdbc:<name>:``, lower case.
    :param example: a URL, for the documentation of keys.
    :param in_files: whether a URL without a host names a file; else the database is on this host.
    :param servers: regular expression for what begins a URL after ``jdbc:<name>:`` if a server has the database; with
        any other URL it runs within the job, and its SQL or a prepared file can have it call Java code there. None: SQL
        cannot do that anywhere.
    :param port: where its servers listen unless the URL says otherwise.
    :param hosts_have_keys: whether a host can be written as ``(host=..., port=...)``.
    :param path_ends: regular expression for what ends the name in a URL without a host.
    :param separators: regular expression for what begins a parameter of a URL.
    :param parameters: the parameters, in lower case, that do no harm to the driver or to the sink, which reads the same
        URLs; None: all are possible that are not known to be harmful in any driver.
    :param mark: what names are quoted with.
    :param folds_names: whether names without quotes are taken in lower case.
    :param driver_class: of the JDBC driver; None: the user must name it.
    :param coordinates: Maven coordinates of the driver; empty: Spark has it in its own jars.
    :param lineage: None: there is no convention, tables are named as the URL names the database.
    :param condition: from number and text of an error to what it means; None: its SQL state must do.
    :param has_snapshots: whether connections can share one view of the database, with the isolation that is wanted.
    :param misses_late_commits: whether rows can be missed that are committed later than others with higher values:
        several transactions can write at a time, and those that are open do not show.
    :param reader: the `Dialect`, as ``module:class``; imported when it is used.
    :param writer: the `Target`, likewise.
    """

    name: str
    example: str = ""
    in_files: bool = False
    servers: str | None = None
    port: int | None = None
    hosts_have_keys: bool = False
    path_ends: str = "[?;]"
    separators: str = "[?&;]"
    parameters: frozenset[str] | None = None
    mark: str = '"'
    folds_names: bool = False
    driver_class: str | None = None
    coordinates: tuple[str, ...] = ()
    lineage: Lineage | None = None
    condition: Callable[[int, str], Condition | None] = _left_to_its_state
    has_snapshots: bool = False
    misses_late_commits: bool = True
    reader: str = "airflow_kconnect.connectors.jdbc.source.dialect:Dialect"
    writer: str = f"{PLAIN}writing:PlainTarget"

    @property
    def is_written_by_jdbc(self) -> bool:
        """Whether the sink uses the JDBC driver, and not a Python driver."""
        return self.writer.startswith(PLAIN)
