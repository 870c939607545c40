"""Plug-ins that are a file: connectors and transformations without a package, found in the file's text.

A file is read to learn which plug-ins it has. It is executed when one of them is used: here, and in each process that
gets an object that was pickled with `carrying`, or imports it as a module that Spark has copied.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.abc import SourceLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, in_one_line

ENVIRONMENT = "KCONNECT_PLUGINS"
"""Files, and folders with files, separated as in PATH: what configurations may name besides what is installed."""

_MODULES, _FILE = "kconnect_plugin_", "__plugin_file__"
_CONNECTORS, _TRANSFORMS, _PREDICATES = (
    f"airflow_kconnect.{kind}" for kind in ("connectors", "transforms", "predicates")
)
_DECORATORS = {"source": _CONNECTORS, "sink": _CONNECTORS, "transform": _TRANSFORMS}
_BASES = {
    "PollSourceConnector": _CONNECTORS,
    "NativeSourceConnector": _CONNECTORS,
    "PollSinkConnector": _CONNECTORS,
    "NativeSinkConnector": _CONNECTORS,
    "Transformation": _TRANSFORMS,
    "PartTransformation": _TRANSFORMS,
    "Predicate": _PREDICATES,
}

_EXECUTING = threading.RLock()


@dataclass(frozen=True)
class PluginFile:
    """A Python file with plug-ins.

    :param path: where it was read, for errors. :param text: what is in it.
    """

    path: str
    text: str = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> PluginFile:
        """:raises ConfigError: it cannot be read, or its name is not that of a module."""
        if path.suffix != ".py" or not path.stem.isidentifier():
            raise ConfigError(
                {"plugin": [f"{path} is not a Python file whose name can be imported, such as my_source.py"]}
            )
        try:
            return cls(str(path.resolve()), path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError({"plugin": [f"{path} cannot be read: {in_one_line(error)}"]}) from error

    @property
    def stem(self) -> str:
        """The name of the module that it would be."""
        return Path(self.path).stem

    @cached_property
    def plugins(self) -> dict[str, str]:
        """What it defines: name -> group of entry points. :raises ConfigError: it is not Python."""
        try:
            tree = ast.parse(self.text, self.path)
        except SyntaxError as error:
            text = f"{self.path} is not Python: line {error.lineno}: {error.msg}"
            raise ConfigError({"plugin": [text]}) from error
        except (ValueError, RecursionError) as error:
            raise ConfigError({"plugin": [f"{self.path} is not Python: {in_one_line(error)}"]}) from error
        found: dict[str, str] = {}
        for node in tree.body:  # a class may have one of the file above it as its base
            if (group := _group(node, {**_BASES, **found})) is not None:
                found[node.name] = group  # type: ignore[attr-defined]
        return found

    def entry_points(self) -> Iterator[tuple[str, FileEntryPoint]]:
        """(group, entry point) of each plug-in."""
        return ((group, FileEntryPoint(self, name)) for name, group in self.plugins.items())

    @property
    def module_name(self) -> str:
        """Under which it is in `sys.modules`: the same text is executed once in a process."""
        return f"{_MODULES}{self.stem}_{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"

    def module(self) -> ModuleType:
        """The file, executed."""
        with _EXECUTING:  # another thread must not get a module that is half executed
            return self._module(self.module_name)

    def _module(self, name: str) -> ModuleType:
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_loader(name, _OfText(self))
        assert spec is not None and spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        module.__dict__[_FILE] = self
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


class _OfText(SourceLoader):
    """Imports a file of which the text is known, wherever this process runs."""

    def __init__(self, file: PluginFile) -> None:
        self._file = file

    def get_filename(self, fullname: str) -> str:
        return self._file.path

    def get_data(self, path: str | bytes) -> bytes:
        if path != self._file.path:  # bytecode that an earlier import might have kept
            raise OSError(path)
        return self._file.text.encode()


@dataclass(frozen=True)
class FileEntryPoint:
    """A plug-in of a file, in place of an entry point: its name is that of the file and its own, with a dot."""

    file: PluginFile
    attribute: str

    @property
    def name(self) -> str:
        return f"{self.file.stem}.{self.attribute}"

    @property
    def value(self) -> str:
        return f"{self.file.path}:{self.attribute}"

    def load(self) -> Any:
        return getattr(self.file.module(), self.attribute)


def of_environment() -> list[Path]:
    """The files that the environment names; those of folders are there, and any of them may be broken."""
    named = [Path(each) for each in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if each.strip()]
    return [path for each in named for path in _files(each)]


def _files(path: Path) -> Iterable[Path]:
    """Those of a folder that can be imported, or the file itself."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.glob("*.py") if file.stem.isidentifier() and not file.stem.startswith("_"))


def carrying(thing: object) -> object:
    """What to pickle in place of a thing that may refer to files of plug-ins: where it is unpickled, they are there."""
    loaded = (module.__dict__.get(_FILE) for name, module in list(sys.modules.items()) if name.startswith(_MODULES))
    files = tuple(file for file in loaded if file is not None)
    return _Carrier(files, thing) if files else thing


class _Carrier:
    """Pickled before what it carries, so that the modules are there when that is unpickled."""

    def __init__(self, files: tuple[PluginFile, ...], thing: Any) -> None:
        self._files, self._thing = files, thing

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (tuple(_Executed(file) for file in self._files), self._thing)


class _Executed:
    def __init__(self, file: PluginFile) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return _execute, (self._file.path, self._file.text)


def _execute(path: str, text: str) -> None:
    PluginFile(path, text).module()


def _unpacked(executed: object, thing: object) -> object:
    return thing


def _group(node: ast.stmt, bases: Mapping[str, str]) -> str | None:
    """The group of what a statement defines; None if it is not a plug-in."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        names = [_last_name(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
        return _DECORATORS.get(names[0]) if names else None
    if isinstance(node, ast.ClassDef):
        return next((bases[name] for base in node.bases if (name := _last_name(base)) in bases), None)
    return None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
