"""Previews in another process: Spark is loaded there, not in this one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    FencedError,
    InternalError,
    RetriableError,
)
from airflow_kconnect.connect.printable import printable
from airflow_kconnect.machine.java import java_environment
from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.runs.events import parse_event
from airflow_kconnect.runs.spec import RunSpec, run_spec_file
from airflow_kconnect.submit.spark import check_pyspark, find_spark_submit
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.submit.submit import SAFE_PATH, submit_command, submit_environment

Record = dict[str, Any]

_CALL = "airflow_kconnect.runtime.preview"
_STEPS = "airflow_kconnect.runtime.preview_steps"
_CHECK = "airflow_kconnect.runtime.checking"
_MASTER = "local[1]"
_QUIET = {"spark.log.level": "ERROR"}
_LOG = 2000


def previewed(config: Mapping[str, Any], records: Sequence[Record]) -> list[Record]:
    """See `runtime.preview.preview`.

    :raises SetupError: there is no PySpark. :raises InternalError: the process has failed.
    """
    check_pyspark()
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

    :raises SetupError: there is no PySpark. :raises RetriableError: there is no answer in time.
    :raises InternalError: the process has failed.
    """
    check_pyspark()
    request = {"config": config, "records": records, "worker": worker, "is_sink": is_sink}
    return _asked(_STEPS, request, timeout_s)[0]


def previewed_source(spec: RunSpec, conf: Mapping[str, str], timeout_s: float) -> Record:
    """The next records of a source: see `runtime.source.previewing`. The job is one of Spark on this machine.

    :param spec: with `preview`. :param conf: settings of Spark.
    :raises ConnectError: that of the job. :raises RetriableError: there is no answer in time.
    """
    spark = find_spark_submit()
    settings = with_needs({**conf, **_QUIET}, [spec.config], spark)
    with run_spec_file(spec) as path:
        command = submit_command(spark, path, master=_MASTER, conf=settings, name="kconnect preview")
        # What tasks leave behind goes with the folder.
        environment = submit_environment(_MASTER) | {"TMPDIR": str(path.parent)}
        code, output, log = _finished(command, environment, "", timeout_s)
    events = [event for line in output.splitlines() if (event := parse_event(line, spec.token)) is not None]
    for event in events:
        if event["event"] == "preview":
            return dict(event["answer"])
        if event["event"] == "error":
            raise _error_of(event)
    raise InternalError(f"the preview failed with exit code {code}: {printable(log[-_LOG:])}")


def checked_connection(request: Mapping[str, Any], timeout_s: float) -> Record:
    """See `runtime.checking.checked`.

    :param request: its parameters.
    :raises RetriableError: there is no answer in time. :raises InternalError: the process has failed.
    """
    return _asked(_CHECK, request, timeout_s)[-1]


def _error_of(event: Mapping[str, Any]) -> ConnectError:
    if event["error"] == ConfigError.__name__ and event.get("errors"):
        return ConfigError(event["errors"])
    kinds = {kind.__name__: kind for kind in (DataError, RetriableError, FencedError)}
    return kinds.get(event["error"], InternalError)(event["message"])


def _asked(module: str, request: Mapping[str, Any], timeout_s: float | None = None) -> list[Record]:
    """The lines of JSON that the module answers. The request is not on the command line: it may have secrets."""
    environment = java_environment() | SAFE_PATH
    code, output, log = _finished([sys.executable, "-m", module], environment, json.dumps(request), timeout_s)
    answers = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if code == 0:
        return answers
    failure = answers[-1] if answers else {}
    if "config_errors" in failure:
        raise ConfigError(failure["config_errors"])
    if "data_error" in failure:
        raise DataError(failure["data_error"])
    raise InternalError(f"the preview failed: {log[-_LOG:]}")


def _finished(
    command: Sequence[str], environment: Mapping[str, str], request: str, timeout_s: float | None
) -> tuple[int, str, str]:
    """Exit code, output and log of a process; it is ended with all that it has started if there is no answer in time.

    :raises RetriableError: there is none.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=dict(environment),
        # Its JVM ends with it, also if this process has to end it.
        start_new_session=timeout_s is not None,
    )
    try:
        output, log = process.communicate(request, timeout_s)
    except subprocess.TimeoutExpired:
        raise RetriableError(
            f"there was no answer after {timeout_s:.0f} s; try again, a preview with fewer records"
        ) from None
    finally:
        if process.poll() is None:
            kill_tree(process.pid)
            process.communicate()
    return process.returncode, output, log
