"""Which values of configurations are likely to be secrets: by the names of their keys, and by what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_kconnect.variables.syntax import variables_in

SECRET_KEYS = (
    r"(?i)secret|passw|token|access[._-]?key|credential|private|jaas|api[._-]?key|connection[._-]?url|keytab"
    r"|passphrase|keystore[._-]?key|key[._-]pem|user[._-]?info|pwd|authorization|bearer|connection[._-]?string|webhook"
    r"|signature|(?:account|client|encryption|shared|signing|master)[._-]?key|oauthbearer[._](?:config|extensions)"
    r"|key[._-]?file|consumer[._-]?key(?![A-Za-z0-9_.-])|http[._-](?:request[._-])?headers|auth[._-]?basic"
    r"|(?<![a-z])(?:dsn|sas)(?![a-z])"
)
"""Regular expression, Java's and Python's, to be searched in a key. Without backslashes: as a setting of Spark it may
go through a properties file, whose reader takes them for its own.
"""

_PATTERN = re.compile(SECRET_KEYS)
# The login of a URL; a parameter; user/password of Oracle's URLs; a header of HTTP; a member of JSON. Quantifiers are
# bounded: a value may be long.
_LOGINS = re.compile(
    r"//[^/?#\s:@]{0,200}:(?P<login>[^/?#\s@]{1,1000})@"
    r"|(?:passw(?:or)?d|pwd|secret|token)\w{0,40}=\s{0,3}[\"']?(?P<parameter>[^&;,\s\"']{1,1000})"
    r"|jdbc:oracle:\w{1,20}:[^/@\s]{1,200}/(?P<oracle>[^@\s]{1,200})@"
    r"|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|bearer|token)\s{1,3}(?P<header>[^\s,;|\"']{1,1000})"
    r"|(?:passw(?:or)?d|pwd|passphrase|secret|token|(?:access|api|private)_?key)\w{0,40}\"\s{0,3}:\s{0,3}"
    r"\"(?P<member>[^\"]{1,1000})\"",
    re.IGNORECASE,
)
_PEM = re.compile(r"-----BEGIN (?!CERTIFICATE|PUBLIC KEY)")


def is_secret_key(key: str) -> bool:
    """Whether the value of a configuration key is likely to be a secret."""
    return _PATTERN.search(key) is not None


def has_secret(text: str) -> bool:
    """Whether a value has a secret in it, whatever its key: a password in a URL, a private key. Variables are none."""
    return _PEM.search(text) is not None or next(passwords_in(text), None) is not None


def passwords_in(text: str) -> Iterator[str]:
    """The passwords in the URLs and parameters of a value."""
    if not any(sign in text for sign in "=@:"):
        return
    for variable in variables_in(text):
        text = text.replace(variable.text, "")
    for match in _LOGINS.finditer(text):
        yield match[match.lastgroup or 0]


def is_secret(key: str, value: object) -> bool:
    """Whether a value is likely to be a secret, or to have one in it."""
    return is_secret_key(key) or (isinstance(value, str) and has_secret(value))
