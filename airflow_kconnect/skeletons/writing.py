"""Writes a package to begin with: from the files of the folders here, with names in place of `$name` and the others.

The files of `common/` are in each package. `module` in a path is the package's; `.template` at its end is left out.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template

from airflow_kconnect.connect.errors import ConfigError

_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_SUFFIX = ".template"
_TAKEN = frozenset({"airflow", "airflow_kconnect", "pyspark", "pytest", "test", "tests"}) | sys.stdlib_module_names
"""Besides what is installed."""
_GROUPS = {"source": "connectors", "sink": "connectors", "transform": "transforms"}


class Kind(StrEnum):
    """What a package has."""

    SOURCE = "source"
    SINK = "sink"
    TRANSFORM = "transform"


def written(kind: Kind, name: str, into: Path) -> list[Path]:
    """Write a package into a new folder of its name; returns its files.

    :raises ConfigError: the name cannot be that of a package, or the folder is there.
    """
    module = _module(name)
    folder = into / name
    texts = {folder / path: text for path, text in _files(kind, _names(kind, name, module))}
    for path, text in texts.items():
        if path.suffix == ".py" and (twice := _named_twice(text)):
            raise ConfigError(
                {"NAME": [f"{name} would have a function {twice[0]}, which is another one: choose another"]}
            )
    try:
        folder.mkdir(parents=True)
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except FileExistsError:
        raise ConfigError({"--into": [f"{folder} is there already: choose another name, or remove it"]}) from None
    except OSError as error:
        raise ConfigError({"--into": [f"{folder} cannot be written: {error.strerror}"]}) from error
    return sorted(texts)


def _module(name: str) -> str:
    module = name.replace("-", "_")
    if not _NAME.fullmatch(name):
        raise ConfigError({"NAME": [f"is {name!r}; expected small letters, digits and hyphens, such as orders-source"]})
    installed = find_spec(module)
    if keyword.iskeyword(module) or module in _TAKEN or (installed and installed.origin):
        raise ConfigError({"NAME": [f"{name} is the name of something else in Python: choose another"]})
    return module


def _names(kind: Kind, name: str, module: str) -> dict[str, str]:
    function = module.removesuffix(f"_{kind}")
    if keyword.iskeyword(function) or hasattr(builtins, function):
        raise ConfigError({"NAME": [f"{name} would have a function {function}, which is Python's: choose another"]})
    return {
        "name": name,
        "module": module,
        "stem": "".join(word.capitalize() for word in function.split("_")),
        "function": function,
        "group": _GROUPS[kind],
        "kind": kind,
    }


def _named_twice(text: str) -> list[str]:
    """Names that a module gives to two things that it imports or defines."""
    names: Counter[str] = Counter()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(each.asname or each.name for each in node.names)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            names[node.name] += 1
    return [name for name, count in names.items() if count > 1]


def _files(kind: Kind, names: dict[str, str]) -> Iterator[tuple[Path, str]]:
    for folder in ("common", kind.value):
        root = files(__package__) / folder
        for path, file in _below(root, Path()):
            target = Path(*(names["module"] if part == "module" else part for part in path.parts))
            yield (
                target.with_name(target.name.removesuffix(_SUFFIX)),
                Template(file.read_text("utf-8")).substitute(names),
            )


def _below(folder: Traversable, path: Path) -> Iterator[tuple[Path, Traversable]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each, path / each.name)
        elif each.name.endswith(_SUFFIX):
            yield path / each.name, each
