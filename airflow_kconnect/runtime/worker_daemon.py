"""The parent of Spark's Python workers: imports what they all need once, then forks them.

Spark starts it (``spark.python.daemon.module``) with the module of its workers as the only argument. On a local master
the job has started one before, with a second argument, to which Spark's hands over. A worker that imports these modules
by itself takes almost a CPU second, and a run begins with two workers per core.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.runtime.process.handing_over import handed_over

if TYPE_CHECKING:
    from socket import socket


def main() -> None:
    """Import what workers need, and fork them on Spark's request."""
    if handed_over():
        return
    if sys.argv[2:]:
        _early(sys.argv.pop())
    else:
        _imported()()


def _early(path: str) -> None:
    from airflow_kconnect.runtime.process.early_workers import EarlyParent

    parent = EarlyParent(path)
    manager = _imported()
    with parent.take_over():
        manager()


def _imported() -> Callable[[], None]:
    from airflow_kconnect.machine.spark_home import use_unpacked_pyspark

    use_unpacked_pyspark(unpack=False)
    from pyspark import daemon

    import airflow_kconnect.connectors.directory.writers
    import airflow_kconnect.connectors.file.reading
    import airflow_kconnect.connectors.file.segments
    import airflow_kconnect.runtime.sink.without_jvm
    import airflow_kconnect.runtime.source.writer  # noqa: F401
    from airflow_kconnect.places.libraries import import_libraries
    from airflow_kconnect.runtime.process.late_imports import HIDE_PANDAS, hide_pandas
    from airflow_kconnect.runtime.process.memory import use_few_arenas

    if HIDE_PANDAS in os.environ:
        hide_pandas()
    else:
        import pandas  # type: ignore[import-untyped]  # noqa: F401  (pyarrow imports it in each worker)
    import_libraries()
    daemon.worker = _without_complaint(daemon.worker)
    use_few_arenas()
    # All existing objects live as long as the workers, whose garbage collection can ignore them.
    gc.freeze()
    return daemon.manager


def _without_complaint(worker: Callable[[socket, bool], int]) -> Any:
    """Spark ends without waiting for its workers once it has all it needs: that they cannot flush then does no harm."""

    def run(connection: socket, authenticated: bool) -> int:
        try:
            return worker(connection, authenticated)
        except BrokenPipeError:
            return 1

    return run


if __name__ == "__main__":
    main()
