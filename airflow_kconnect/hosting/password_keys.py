"""Which keys of Java classes are passwords: noted when a class is asked, so that answers need not ask it again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import SetupError
from airflow_kconnect.machine.cache import cache_folder

# Those of converters and transformations are named by the aliases of a configuration.
_OF_STAGES = ("transforms.", "predicates.", "key.converter.", "value.converter.", "header.converter.")

_read: dict[Path, tuple[int, frozenset[str]]] = {}


def note(class_name: str, definitions: Iterable[Mapping[str, Any]]) -> None:
    """Keep the names of a class's keys of type PASSWORD, in any of its versions, in the cache of this machine.

    :param class_name: full name. :param definitions: of its keys, as Connect describes them.
    """
    found = {str(key["name"]) for key in definitions if key["type"] == "PASSWORD"}
    own = {name for name in found if not name.startswith(_OF_STAGES)}
    for name in _names(class_name):
        known = password_keys(name)
        if (file := _file(name)) is not None and not (own <= known and file.exists()):
            _write(file, sorted(own | known))


def password_keys(class_name: str) -> frozenset[str]:
    """The keys of a Java class that are passwords, as far as the class was ever asked on this machine.

    :param class_name: as a configuration names it.
    """
    file = _file(class_name)
    if file is None:
        return frozenset()
    try:
        changed = file.stat().st_mtime_ns
        if _read.get(file, (None,))[0] != changed:
            _read[file] = (changed, frozenset(map(str, json.loads(file.read_text(encoding="utf-8")))))
        return _read[file][1]
    except (OSError, ValueError, TypeError):
        return frozenset()


def was_asked(class_name: str) -> bool:
    """Whether a Java class was ever asked on this machine."""
    return (file := _file(class_name)) is not None and file.exists()


def _names(class_name: str) -> Iterator[str]:
    """The names by which a configuration may call a class."""
    simple = class_name.rpartition(".")[2]
    yield from dict.fromkeys((class_name, simple, simple.removesuffix("Connector")))


def _file(name: str) -> Path | None:
    try:
        return cache_folder() / "password-keys" / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
    except (SetupError, UnicodeEncodeError):
        return None


def _write(file: Path, keys: list[str]) -> None:
    """Written next to it and renamed: several servers may do so at once."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_text(json.dumps(keys), encoding="utf-8")
        part.rename(file)
