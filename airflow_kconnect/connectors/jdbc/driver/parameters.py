"""Which parameters of JDBC drivers are allowed: none that load code, write files, or unpack Java objects.

A connector's configuration may come from someone who may not run programs on the machines that Spark runs on. Many
drivers have parameters that name a class to load, a script to run or a file to write. Of most databases that are known
here the registry lists the harmless ones, and no others are possible. For the drivers of other databases there is only
a list of what is known to be harmful, in any of them: nothing is lost by refusing H2's parameters to MySQL, and drivers
borrow from each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote_plus

from airflow_kconnect.connectors.jdbc.databases.registry import database_of

_REFUSED = {
    "PostgreSQL": (
        "sslfactory",
        "sslfactoryarg",
        "sslpasswordcallback",
        "sslhostnameverifier",
        "loggerfile",
        "service",
    ),
    "MySQL and MariaDB": (
        *("autodeserialize", "allowloadlocalinfile", "allowloadlocalinfileinpath", "allowlocalinfile"),
        *("allowurlinlocalinfile", "detectcustomcollations", "logger", "propertiestransform", "idtokenfile"),
        *("ociconfigfile", "loadbalanceexceptionchecker", "credentialtype", "useconfigs"),
    ),
    "SQLite": ("enable_load_extension", "load_extension"),
    "H2": (
        *("init", "trace_level_file", "trace_level_system_out", "java_object_serializer", "database_event_listener"),
        *("authenticator", "authrealm"),
    ),
    "Derby": (
        *("startmaster", "startslave", "stopslave", "failover", "slavehost", "slaveport", "createfrom", "restorefrom"),
        *("rollforwardrecoveryfrom", "logdevice"),
    ),
    "Db2": (
        *("clientrerouteserverlistjndiname", "clientrerouteserverlistjndicontext", "tracefile", "tracedirectory"),
        "pdqproperties",
    ),
    "others": (
        *("tns_admin", "inifile", "initfile", "session_init_sql_file", "model", "crypt_provider"),
        *("krbjaasfile", "logpath", "logdir"),
    ),
}
"""Parameters in lower case."""

_NAMES = frozenset(name for names in _REFUSED.values() for name in names)

_CLASSES = re.compile(
    r"(?:factory(?:arg|class|constructorarg)?|class(?:name|path)?|classconstructorarg|managerconstructorarg"
    r"|interceptors?|listeners?|verifier|serializer|plugins?|plugin_?name|strategy|eventhandler|loader"
    r"|callback(?:handler|class)?|callback_handler|(?:credentials?|info|config|sslcontext|connection|encryption)"
    r"_?providers?(?:class)?|_impl)$"
)
"""Ends of the names of parameters whose value is, in one driver or another, the name of a class to load."""

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

_PROVIDERS = ("oracle.jdbc.provider.", "xdevapi.")
_CREDENTIALS = frozenset({"password", "password1", "password2", "password3", "passwd", "pwd"})

_NAME = re.compile(r"([^?&;:,()\[\]{}/#@=]+)=")


def is_refused(name: str) -> bool:
    """Whether a parameter of that name could load code, touch files or unpack objects. Case does not matter."""
    plain = _plain(name)
    return plain in _NAMES or plain.startswith(_PROVIDERS) or _CLASSES.search(plain) is not None


def is_allowed(subprotocol: str, name: str) -> bool:
    """Whether a database takes a parameter of that name; of a database that is not known here: whether it is harmless.

    :param subprotocol: of the URL, lower case.
    """
    known = database_of(subprotocol).parameters
    return not is_refused(name) and (known is None or _plain(name) in known)


def is_option_of_spark(name: str) -> bool:
    """Whether Spark's JDBC reader would keep a property of that name for itself."""
    return _plain(name) in _SPARK


def is_remote_store(name: str, value: str) -> bool:
    """Whether a parameter lets the driver fetch its keys or certificates from somewhere else than a file."""
    return _STORES.search(_plain(name)) is not None and not _LOCAL.fullmatch(decoded(value).strip())


def is_password(name: str) -> bool:
    """Whether a parameter of that name holds the password of the connection."""
    return _plain(name) in _CREDENTIALS


def names_in(text: str) -> Iterable[str]:
    """All that may be the name of a parameter in a URL, whatever the syntax of its database, as it is written there.

    Drivers differ in what begins and ends a parameter (`?a=b&c=d`, `;a=b`, `(a=b)(c=d)`, `(a=b,c=d)`), and some have
    been made to see one where others saw none. All that stands before an equals sign is taken for a name, in the text
    as it is and with percent signs decoded.
    """
    for form in dict.fromkeys((text, decoded(text))):
        yield from (match[1].strip() for match in _NAME.finditer(form))


def decoded(text: str) -> str:
    """The text without percent-encoding, however often it was encoded."""
    while (once := unquote_plus(text)) != text and "%" in text:
        text = once
    return text


def _plain(name: str) -> str:
    # Java's upper case of a dotless i is I: H2 reads such a name as INIT, and drops backslashes.
    return re.sub(r"[\\\s\x00-\x20]", "", decoded(name)).upper().lower()
