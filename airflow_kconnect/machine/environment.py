"""The environment of processes that this package starts: without Airflow's keys, which none of them needs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

AIRFLOW_SETTINGS = re.compile(r"AIRFLOW__.*|AIRFLOW_(CONN|VAR)_.*|_+AIRFLOW_.*", re.DOTALL)
"""Airflow's own environment variables: its keys, its connections. Jobs do not get them."""


def child_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment without Airflow's settings: what is started runs code of plug-ins, drivers or others.

    :param env: the environment to start from; None means that of this process.
    """
    env = os.environ if env is None else env
    return {name: text for name, text in env.items() if not AIRFLOW_SETTINGS.fullmatch(name)}
