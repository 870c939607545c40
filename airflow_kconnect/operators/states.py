"""Skips runs of connectors that are paused or stopped."""

from __future__ import annotations

import logging

from airflow.providers.common.compat.sdk import AirflowSkipException

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.hooks.worker import Configurations
from airflow_kconnect.submit.operations import STARTED, connector_name, not_started_text, target_state
from airflow_kconnect.submit.statuses import show_target_state

log = logging.getLogger(__name__)


def skip_unless_started(configs: Configurations, *, driver_is_here: bool) -> None:
    """Called before Spark starts, for runs that resume from the live offsets.

    :param driver_is_here: whether the job's driver runs on this machine. If not, Kafka and the files of variables may
        be unreachable from here: then the run proceeds, with a warning.
    :raises AirflowSkipException: the connector is paused or stopped.
    :raises ConfigError, RetriableError: Kafka cannot be queried; the job could not query it either.
    """
    name = connector_name(configs.config)
    try:
        worker = configs.resolved_worker()
        state = target_state(name, worker)
    except (ConfigError, RetriableError) as error:
        if driver_is_here:
            raise
        log.warning("Cannot check from here whether connector %s is paused: %s", name, error)
        return
    if state != STARTED:
        show_target_state(name, state, worker)
        raise AirflowSkipException(not_started_text(name, state))
