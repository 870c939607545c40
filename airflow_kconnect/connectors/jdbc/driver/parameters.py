"""Which parameters of JDBC drivers are allowed: none that load code, write files, or unpack Java objects.

A connector's configuration may come from someone who may not run programs on the machines that Spark runs on. Many
drivers have parameters that name a class to load, a script to run or a file to write. Of most databases that are known
here the registry lists the harmless ones, and no others are possible. For the drivers of other databases there is only
a list of what is known to be harmful, in any of them: nothing is lost by refusing H2's parameters to MySQL, and drivers
borrow from each other.
"""

from __future__ import annotations

import re

from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.validation.jdbc_parameters import decoded, is_refused, plain

_STORES = re.compile(r"(?:keystore|truststore)(?:url)?$")
_LOCAL = re.compile(r"file:(?!//[^/]).*|(?![a-z][a-z0-9+.-]+:).*", re.IGNORECASE | re.DOTALL)
"""A file, as URL or as path."""

_OPTIONS_OF_SPARK = """
    batchsize cascadeTruncate connectionProvider createTableColumnTypes createTableOptions customSchema dbtable
    driver fetchsize hint isolationLevel keytab lowerBound numPartitions partitionColumn preferTimestampNanos
    preferTimestampNTZ prepareQuery principal pushDownAggregate pushDownJoin pushDownLimit pushDownOffset
    pushDownPredicate pushDownTableSample query queryTimeout refreshKrb5Config sessionInitStatement tableComment
    truncate upperBound url
"""
"""Names that Spark's JDBC reader takes for options of its own: no driver would see them."""

_SPARK = frozenset(_OPTIONS_OF_SPARK.lower().split())

_CREDENTIALS = frozenset({"password", "password1", "password2", "password3", "passwd", "pwd"})


def is_allowed(subprotocol: str, name: str) -> bool:
    """Whether a database takes a parameter of that name; of a database that is not known here: whether it is harmless.

    :param subprotocol: of the URL, lower case.
    """
    known = database_of(subprotocol).parameters
    return not is_refused(name) and (known is None or plain(name) in known)


def is_option_of_spark(name: str) -> bool:
    """Whether Spark's JDBC reader would keep a property of that name for itself."""
    return plain(name) in _SPARK


def is_remote_store(name: str, value: str) -> bool:
    """Whether a parameter lets the driver fetch its keys or certificates from somewhere else than a file."""
    return _STORES.search(plain(name)) is not None and not _LOCAL.fullmatch(decoded(value).strip())


def is_password(name: str) -> bool:
    """Whether a parameter of that name holds the password of the connection."""
    return plain(name) in _CREDENTIALS
