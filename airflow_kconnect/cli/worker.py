"""Which Kafka a command means: a worker file, `--bootstrap-servers`, or the broker on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from airflow_kconnect.cli.airflow_variables import airflow_variables
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.local.broker import default_data
from airflow_kconnect.connect.config import properties
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.worker_defaults import with_defaults
from airflow_kconnect.variables.resolver import ConfigResolver

WorkerFile = Annotated[
    Path | None,
    typer.Option(
        "--worker",
        envvar="KCONNECT_WORKER",
        help="Worker file, as connect-distributed takes it. Default: that of the broker that "
        "`kconnect broker start` has started.",
        show_default=False,
    ),
]
Servers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-servers",
        envvar="KCONNECT_BOOTSTRAP_SERVERS",
        help="Kafka brokers, host:port; wins over the worker file.",
        show_default=False,
    ),
]
Master = Annotated[str, typer.Option(help="Spark master.")]
SparkSettings = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Spark setting; may be repeated.", show_default=False),
]


def worker_config(file: Path | None, bootstrap_servers: str | None) -> dict[str, str]:
    """The worker's keys, as they were written, with those of `with_defaults`.

    :raises ConfigError: no Kafka is named, or the file cannot be read.
    """
    if file is not None:
        worker = _read(file)
    elif bootstrap_servers is not None:
        worker = {}
    else:
        worker = _read_default(_default_file())
    worker = with_defaults(worker)
    return worker if bootstrap_servers is None else worker | {"bootstrap.servers": bootstrap_servers}


def known_worker(file: Path | None, bootstrap_servers: str | None) -> dict[str, str] | None:
    """As `worker_config`, but None if no Kafka is named: for commands that can do something without one."""
    if file is None and bootstrap_servers is None and not _default_file().is_file():
        return None
    return worker_config(file, bootstrap_servers)


@contextmanager
def resolved(config: Mapping[str, Any], worker: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Configurations of connector and worker with the values of their variables, which errors do not quote.

    :param config: only what is needed of it: without Airflow, one variable that Airflow looks up is an error.
    :raises ConfigError: a variable has no value.
    """
    resolver = ConfigResolver.from_worker(worker, airflow_variables(config, worker))
    with resolver.hidden_in_errors():
        yield resolver.resolve(config), resolver.resolve(worker)


def resolved_worker(worker: Mapping[str, str]) -> Mapping[str, Any]:
    """The worker's keys with the values of their variables.

    :raises ConfigError: a variable has no value. :raises RetriableError: its broker, on this machine, does not run.
    """
    check_listening(worker)
    with resolved({}, worker) as (_, keys):
        return keys


def _default_file() -> Path:
    return default_data() / "worker.properties"


def _read_default(file: Path) -> dict[str, str]:
    if not file.is_file():
        raise ConfigError(
            {
                "bootstrap.servers": [
                    "no Kafka is named. Start one with `kconnect broker start`, or name yours with "
                    "--bootstrap-servers host:port or --worker worker.properties"
                ]
            }
        )
    return _read(file)


def _read(file: Path) -> dict[str, str]:
    try:
        return properties.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError({"--worker": [f"cannot read {file}: {error.strerror}"]}) from None
    except UnicodeDecodeError:
        raise ConfigError({"--worker": [f"{file} is not UTF-8 text"]}) from None
