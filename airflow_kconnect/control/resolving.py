"""Variables of a registered configuration become values, for requests that need them; no answer shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.worker_config.keys import WorkerConfig

Variables = Callable[[dict[str, str], dict[str, Any]], dict[str, str] | None]
"""Looks up the values of Airflow's variables in configurations of a connector and the worker; None without Airflow.

It adds to the connector's what a run adds: the login of the connection that its URL names.
"""


@dataclass(frozen=True)
class Resolved:
    """Configurations with the values of their variables.

    :param hide: replaces values by their variables in a text.
    """

    config: dict[str, str]
    worker: WorkerConfig
    hide: Callable[[str], str]


@contextmanager
def resolved(config: Mapping[str, str], worker: Mapping[str, Any], variables: Variables | None) -> Iterator[Resolved]:
    """Both configurations resolved; errors that leave the block do not quote the values.

    :raises ConfigError: a variable has no value.
    """
    own, of_worker = dict(config), dict(worker)
    resolver = ConfigResolver.from_worker(of_worker, variables(own, of_worker) if variables else None)
    with resolver.hidden_in_errors():
        keys = WorkerConfig.from_props(resolver.resolve(of_worker))
        yield Resolved(resolver.resolve(own), keys, resolver.hide)
