"""Pickles functions for other processes as Spark does: closures and classes of scripts too."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from airflow_kconnect.plugins.files import carrying

_NAME = "kconnect_cloudpickle"


def pickled(function: object) -> bytes:
    """The function as bytes, for `pickle.loads` in a process that has called `load` or was forked from one.

    The plug-in files that it may refer to come with it.
    """
    data: bytes = load().dumps(carrying(function))
    return data


@cache
def load() -> Any:
    """PySpark's copy of cloudpickle, without the rest of PySpark, whose import takes 0.4 CPU seconds."""
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder, "cloudpickle", "cloudpickle.py")
        if file.is_file() and (own := spec_from_file_location(_NAME, file)) is not None and own.loader is not None:
            # Under a name of its own: as a module of PySpark it would need its package.
            sys.modules[_NAME] = module = module_from_spec(own)
            own.loader.exec_module(module)
            return module
    from pyspark import cloudpickle  # PySpark is an archive

    return cloudpickle
