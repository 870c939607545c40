"""A connector of a group, before its run begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig


@dataclass(frozen=True)
class Member:
    """Checked as far as a run checks it before its connector is created: variables, plug-ins, the configuration.

    :param spec: with its run id. :param worker: variables resolved. :param config: likewise.
    :param hide: replaces secrets in texts.
    """

    spec: RunSpec
    worker: WorkerConfig
    config: ValidatedConfig
    hide: Callable[[str], str] = field(default=str, repr=False)

    @property
    def name(self) -> str:
        """The connector's name."""
        return self.config.name
