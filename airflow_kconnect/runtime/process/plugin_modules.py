"""Plug-in files for Spark's Python workers, which import them as modules."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.plugins.registry import registry

if TYPE_CHECKING:
    from pyspark import SparkContext

_sent: set[tuple[str, str]] = set()
_sending = threading.Lock()


def send_plugin_files(context: SparkContext) -> None:
    """Have Spark copy the files that configurations may name to all executors, once for each application.

    What a job pickles refers to their classes and functions by module and name, also in code of users that calls Spark
    itself. So their text has to be there under the module's name.
    """
    with _sending:
        files = {(context.applicationId, file.module_name): file for file in registry().files}
        missing = [key for key in files if key not in _sent]
        if not missing:
            return
        folder = Path(tempfile.mkdtemp(prefix="kconnect-plugins-"))  # executors may fetch them at any time
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for key in missing:
            path = folder / f"{key[1]}.py"
            path.write_text(files[key].text, encoding="utf-8")
            context.addPyFile(str(path))
            _sent.add(key)
