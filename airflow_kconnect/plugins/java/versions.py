"""The version of a plug-in as its jar tells it, and the order of versions."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from airflow_kconnect.plugins.java.jars import BrokenJar, Jar

_IN_NAME = re.compile(r"-(\d[\w.+-]*)\.(?:jar|zip)$", re.IGNORECASE)
_PART = re.compile(r"\d+|[a-z]+")
# Of two versions alike but for a word, these come before the plain one.
_BEFORE = {"alpha": -5, "beta": -4, "milestone": -3, "m": -3, "cr": -2, "rc": -2, "snapshot": -1}
_RANGE = re.compile(r"([\[(])([^\[\]()]*)([\])])")
_PLAIN = ("final", "ga", "release")


Order = tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=4096)
def version_of(jar: Jar) -> str | None:
    """The version that Maven's properties, the manifest or the file's name give, in this order; None if none does.

    The connector's own `version()` may differ: only a JVM can call it.
    """
    return _from_maven(jar) or _from_manifest(jar) or _from_name(jar.path)


def order(version: str | None) -> Order:
    """Sort key of a version: the newest is the largest; no version is the smallest."""
    if version is None:
        return ()
    parts = (part for part in _PART.findall(version.lower()) if part not in _PLAIN)
    keys: list[tuple[int, int, str]] = []
    for part in (*parts, ""):
        if not part.isdigit():
            # 2.0.0 is 2, and 2.0.0.Beta1 is 2.Beta1.
            while keys and keys[-1] == (1, 0, ""):
                keys.pop()
        keys.append((1, int(part), "") if part.isdigit() else (0, _BEFORE.get(part, 1 if part else 0), part))
    return tuple(keys)


def matches(version: str | None, wanted: str) -> bool:
    """Whether a version is the wanted one, or in one of the wanted ranges.

    :param wanted: `1.2` means exactly this version; `[1.2,2.0)`, `(,1.0]`, `[1,2],[3,)` are ranges as Maven has them.
    """
    ranges = _RANGE.findall(wanted)
    if not ranges:
        return version is not None and order(version) == order(wanted)
    return any(_is_between(order(version), *parts) for parts in ranges) if version is not None else False


def _is_between(version: Order, opens: str, inside: str, closes: str) -> bool:
    low, comma, high = (part.strip() for part in inside.partition(","))
    if not comma:
        return version == order(low)
    above = not low or version > order(low) or (opens == "[" and version == order(low))
    below = not high or version < order(high) or (closes == "]" and version == order(high))
    return above and below


def _from_maven(jar: Jar) -> str | None:
    files = [name for name in jar.names("META-INF/maven/") if name.endswith("/pom.properties")]
    # Those of a jar that includes others are many: only the one after which the file is named counts.
    own = [name for name in files if jar.path.name.startswith(f"{name.split('/')[-2]}-")]
    if len(own) != 1:
        return None
    return _property(jar, own[0], r"^\s*version\s*=\s*(\S+)")


def _from_manifest(jar: Jar) -> str | None:
    if not jar.contains("META-INF/MANIFEST.MF"):
        return None
    return _property(jar, "META-INF/MANIFEST.MF", r"^Implementation-Version:\s*(\S+)")


def _property(jar: Jar, name: str, pattern: str) -> str | None:
    try:
        text = jar.read(name).decode(errors="replace")
    except BrokenJar:
        return None
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


def _from_name(path: Path) -> str | None:
    match = _IN_NAME.search(path.name)
    return match[1] if match else None
