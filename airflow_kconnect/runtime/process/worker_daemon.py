"""The parent of Spark's Python workers: imports what they all need once, then forks them.

Spark starts it (``spark.python.daemon.module``) with the module of its workers as the only argument. A worker that
imports these modules by itself takes almost a CPU second, and a run begins with two workers per core.
"""

from __future__ import annotations

import gc
import os

from airflow_kconnect.machine.spark_home import use_unpacked_pyspark


def main() -> None:
    """Import what workers need, and fork them on Spark's request."""
    use_unpacked_pyspark(unpack=False)
    from pyspark.daemon import manager

    import airflow_kconnect.connectors.directory.writers
    import airflow_kconnect.connectors.file.reading
    import airflow_kconnect.connectors.file.segments
    import airflow_kconnect.runtime.sink.without_jvm
    import airflow_kconnect.runtime.source.writer  # noqa: F401
    from airflow_kconnect.runtime.process.late_imports import HIDE_PANDAS, hide_pandas
    from airflow_kconnect.runtime.process.memory import use_few_arenas

    if HIDE_PANDAS in os.environ:
        hide_pandas()
    else:
        import pandas  # type: ignore[import-untyped]  # noqa: F401  (pyarrow imports it in each worker)
    use_few_arenas()
    # All existing objects live as long as the workers, whose garbage collection can ignore them.
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
