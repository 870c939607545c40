"""Which folders of Java plug-ins a command means: those of a worker file, or the one in the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.worker import known_worker, resolved
from airflow_kconnect.hosting.installed import java_plugins as plugins_of
from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.worker_config.keys import WorkerConfig

WorkerFile = Annotated[
    Path | None,
    typer.Option(
        "--worker",
        envvar="KCONNECT_WORKER",
        help="Worker file, whose `plugin.path` counts. Default: that of `kconnect broker start`, if there is one; "
        "without `plugin.path`, the folder `plugins` in the cache.",
        show_default=False,
    ),
]


def worker_keys(file: Path | None) -> dict[str, str]:
    """Keys of the worker, variables resolved; no Kafka need be named.

    :raises ConfigError: the file cannot be read, or a variable has no value.
    """
    with resolved({}, known_worker(file, None) or {}) as (_, worker):
        return {"bootstrap.servers": "localhost:9092", **worker}


def java_plugins(file: Path | None) -> JavaPlugins:
    """The Java plug-ins of a worker.

    :raises ConfigError: the file cannot be read, or its keys are wrong.
    """
    return plugins_of(WorkerConfig.from_props(worker_keys(file)))
