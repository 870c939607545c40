"""Which configuration keys have values that are likely to be secrets."""

from __future__ import annotations

import re

SECRET_KEYS = (
    r"(?i)secret|passw|token|access[._-]?key|credential|private|jaas|api[._-]?key|connection[._-]?url|keytab"
    r"|passphrase|keystore[._-]?key|key[._-]pem|user[._-]?info|pwd|authorization|bearer|connection[._-]?string|webhook"
    r"|signature|(?:account|client|encryption|shared|signing)[._-]?key|oauthbearer[._](?:config|extensions)"
    r"|(?<![a-z])(?:dsn|sas)(?![a-z])"
)
"""Regular expression, Java's and Python's, to be searched in a key."""

_PATTERN = re.compile(SECRET_KEYS)


def is_secret_key(key: str) -> bool:
    """Whether the value of a configuration key is likely to be a secret."""
    return _PATTERN.search(key) is not None
