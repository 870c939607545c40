"""Imports that PySpark and pyarrow make in every process, although few jobs use what is imported.

pandas takes 0.3 CPU seconds of the driver and 0.2 of the parent of the Python workers, in a run of seven: see
docs/decisions/0040.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

HIDE_PANDAS = "KCONNECT_HIDE_PANDAS"
"""An environment variable of Python workers; if it is set, they hide pandas."""

_PANDAS = "pandas"
_TESTING = "pyspark.testing.utils"


class _Hiding(MetaPathFinder):
    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> None:
        if name == _PANDAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def hide_pandas() -> None:
    """Make pyarrow do without pandas in this process, in which nothing may give objects of pandas to pyarrow.

    pyarrow imports it with the first array that it creates from Python objects, which might be those of pandas.
    """
    import pyarrow as pa

    hiding = _Hiding()
    sys.meta_path.insert(0, hiding)
    try:
        # Its Cython part and its C++ part look once each, and remember what they have found.
        _ = pa.lib._pandas_api.have_pandas
        pa.array([None])
    finally:
        sys.meta_path.remove(hiding)


def import_little_of_pyspark() -> None:
    """Make the driver's PySpark import neither pandas nor its helpers for tests before something uses them.

    Its `lit`, and each request to the JVM, ask the helpers whether there is numpy; they import pandas. So does
    `mapInArrow`, to find out whether pandas is installed. To be called after the import of PySpark.
    """
    functions: Any = importlib.import_module("pyspark.sql.pandas.functions")
    sys.modules.setdefault(_TESTING, _Testing(_TESTING))
    original = functions.require_minimum_pandas_version

    def require_pandas() -> None:
        if find_spec(_PANDAS) is None:
            original()  # says what is missing

    functions.require_minimum_pandas_version = require_pandas


class _Testing(ModuleType):
    """Stands for `pyspark.testing.utils` until more of it is asked for than whether there is numpy."""

    have_numpy = find_spec("numpy") is not None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what importing asks for
            raise AttributeError(name)
        if sys.modules.get(_TESTING) is self:
            del sys.modules[_TESTING]
        return getattr(importlib.import_module(_TESTING), name)
