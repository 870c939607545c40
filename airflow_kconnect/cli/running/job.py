"""The job of `kconnect run`: the command that starts it, and its output until it has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.places.libraries import stores_hint
from airflow_kconnect.runs.spec import JobSpec, run_spec_file
from airflow_kconnect.submit.class_archive import class_archive
from airflow_kconnect.submit.direct import (
    by_python,
    direct_command,
    direct_environment,
    needs_no_spark,
    starts_spark_itself,
)
from airflow_kconnect.submit.package_archive import package_for
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.submit.submit import submit, submit_command, submit_environment

_ARCHIVE = "Spark starts in half the time after `kconnect spark archive`, needed once on this machine (30 s, 190 MB)."
_PHASE_S = 2.0


class TokenedSpec(JobSpec, Protocol):
    """What a job is to do, and the prefix of its events."""

    @property
    def token(self) -> str:
        """See `RunSpec`."""


@dataclass(frozen=True)
class JobEnd:
    """How a job has ended.

    :param program: what has run it, for texts.
    :param hint: how later jobs would start sooner, if this one has started Spark.
    """

    exit_code: int
    program: str
    hint: str | None = None

    @property
    def text(self) -> str:
        """For an error: it has not reported."""
        return f"{self.program} ended with exit code {self.exit_code} before the job could report"


def run_job(
    spec: TokenedSpec,
    options: RunOptions,
    conf: Mapping[str, str],
    *,
    configs: Sequence[Mapping[str, Any]],
    name: str,
    on_event: Callable[[dict[str, Any]], None],
    on_line: Callable[[str], None],
) -> JobEnd:
    """Run a job to its end. See `submit`.

    :param conf: Spark's settings. :param configs: of the connectors. :param name: of Spark's application.
    """
    direct, hint = all(needs_no_spark(config, options.master) for config in configs), None
    with run_spec_file(spec) as path, package_for(options.master) as archive:
        environment = submit_environment(options.master) | stores_hint(configs)
        if direct:
            command, environment = direct_command(["--run", str(path)], conf), direct_environment(environment)
        else:
            spark = find_spark_submit()
            conf = with_needs(conf, configs, spark, _as_phases(on_event))
            command = submit_command(spark, path, master=options.master, conf=conf, name=name, package=archive)
            if direct := starts_spark_itself(options.master, None, spark):
                hint = archive_hint(spark)
                command, environment = by_python(command, environment, conf)
        code = submit(command, token=spec.token, environment=environment, on_event=on_event, on_line=on_line)
    return JobEnd(code, "the job" if direct else "spark-submit", hint)


def _as_phases(on_event: Callable[[dict[str, Any]], None]) -> Callable[[str], None]:
    """Takes what is being done before the job, often, and shows it now and then, as if the job said it."""
    last_s = -_PHASE_S

    def say(text: str) -> None:
        nonlocal last_s
        if (now_s := time.monotonic()) - last_s >= _PHASE_S:
            last_s = now_s
            on_event({"event": "phase", "name": text})

    return say


def archive_hint(spark: SparkSubmit) -> str | None:
    """How Spark would start sooner; None if that was done, or cannot be."""
    return None if spark.pyspark is None or class_archive(spark) else _ARCHIVE
