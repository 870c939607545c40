"""Previews in another process: Spark is loaded there, not in this one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, DataError, InternalError, RetriableError
from airflow_kconnect.connect.variables.providers import AIRFLOW_SETTINGS
from airflow_kconnect.machine.java import java_environment
from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.submit.submit import SAFE_PATH

Record = dict[str, Any]

_CALL = "airflow_kconnect.runtime.preview"
_STEPS = "airflow_kconnect.runtime.preview_steps"


def previewed(config: Mapping[str, Any], records: Sequence[Record]) -> list[Record]:
    """See `runtime.preview.preview`. :raises InternalError: the process has failed."""
    return _asked(_CALL, {"config": config, "records": records})


def previewed_steps(
    config: Mapping[str, Any],
    records: Sequence[Record],
    worker: Mapping[str, str],
    *,
    is_sink: bool,
    timeout_s: float,
) -> Record:
    """See `runtime.preview_steps.preview_steps`.

    :raises RetriableError: there is no answer in time. :raises InternalError: the process has failed.
    """
    request = {"config": config, "records": records, "worker": worker, "is_sink": is_sink}
    return _asked(_STEPS, request, timeout_s)[0]


def _asked(module: str, request: Mapping[str, Any], timeout_s: float | None = None) -> list[Record]:
    """The lines of JSON that the module answers. The request is not on the command line: it may have secrets."""
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={k: text for k, text in java_environment().items() if not AIRFLOW_SETTINGS.fullmatch(k)} | SAFE_PATH,
        # Its JVM ends with it, also if this process has to end it.
        start_new_session=timeout_s is not None,
    )
    try:
        output, log = process.communicate(json.dumps(request), timeout_s)
    except subprocess.TimeoutExpired:
        raise RetriableError(
            f"the preview had no answer after {timeout_s:.0f} s; try again with fewer records"
        ) from None
    finally:
        if process.poll() is None:
            kill_tree(process.pid)
            process.communicate()
    answers = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if process.returncode == 0:
        return answers
    failure = answers[-1] if answers else {}
    if "config_errors" in failure:
        raise ConfigError(failure["config_errors"])
    if "data_error" in failure:
        raise DataError(failure["data_error"])
    raise InternalError(f"the preview failed: {log[-2000:]}")
