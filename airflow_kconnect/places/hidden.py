"""Names of objects that are about files in the making: in a hidden folder at the top of their place, below it as the
files themselves. So they are found by the beginnings of files' names, and no reader of a topic's folder meets them.
"""

from __future__ import annotations

import re

FOLDER = ".kconnect/"
PROBE = f"{FOLDER}check"
"""Is written, or begun, to see what may be done."""

_NAME = re.compile(re.escape(FOLDER) + r"(?P<name>.+)\.(?P<id>[0-9a-f]{32})\.(tmp|part)", re.DOTALL)


def marker(name: str, id_: str) -> str:
    """What is there from before a file is begun until it is published or discarded.

    :param id_: of the staged file, 32 hexadecimal digits.
    """
    return f"{FOLDER}{name}.{id_}.tmp"


def content(name: str, id_: str) -> str:
    """The file itself, where it is copied to its name."""
    return f"{FOLDER}{name}.{id_}.part"


def parsed(path: str) -> tuple[str, str] | None:
    """The file that a hidden object is about, and its id; None: it is about none."""
    match = _NAME.fullmatch(path)
    return (match["name"], match["id"]) if match else None
