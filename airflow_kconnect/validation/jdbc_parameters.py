"""Parameters of JDBC drivers that load code, write files or unpack Java objects, in whatever driver they do.

Such a list cannot be complete. The connectors of this package allow only what is known to be harmless, for the
databases that they know; for other drivers, and for Java connectors, there is only this list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_plus

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
    "HSQLDB": (
        *("crypt_provider", "hsqldb.method_class_names", "hsqldb.temp_directory", "sql.live_object"),
        "textdb.allow_full_path",
    ),
    "Db2": (
        *("clientrerouteserverlistjndiname", "clientrerouteserverlistjndicontext", "tracefile", "tracedirectory"),
        "pdqproperties",
    ),
    "others": (
        *("tns_admin", "inifile", "initfile", "session_init_sql_file", "model"),
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

_PROVIDERS = ("oracle.jdbc.provider.", "xdevapi.")
_NAME = re.compile(r"([^?&;:,()\[\]{}/#@=]+)=")
LOADS = re.compile(r":resource:|\b(?:ldaps?|rmi|iiop|corbaname|dns)://|config-[a-z]+://|^(?:cfg|classpath|jar|res):")
"""Where drivers look for a database, or for its address, in places that may bring code along (after `jdbc:x:`)."""

_URL = re.compile(r"jdbc:[a-z0-9_+-]+:(?P<rest>.*)", re.DOTALL)


def is_refused(name: str) -> bool:
    """Whether a parameter of that name could load code, touch files or unpack objects. Case does not matter."""
    text = plain(name)
    return text in _NAMES or text.startswith(_PROVIDERS) or _CLASSES.search(text) is not None


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


def refused_in(text: str) -> Iterator[str]:
    """What of the JDBC URL in a text could load code or touch files: names of parameters, and places."""
    if "jdbc:" not in decoded(text).lower():
        return
    yield from sorted({decoded(name) for name in names_in(text) if is_refused(name)}, key=str.lower)
    url = _URL.search(decoded(text).lower())
    if url is not None and (place := LOADS.search(url["rest"])):
        yield place[0]


def plain(name: str) -> str:
    """The name as drivers may read it: in lower case, without what they leave out."""
    # Java's upper case of a dotless i is I: H2 reads such a name as INIT, and drops backslashes.
    return re.sub(r"[\\\s\x00-\x20]", "", decoded(name)).upper().lower()
