"""Runs a connector job with spark-submit: lifts its events out of the log, masks, ends all its processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from airflow_kconnect.connect.run import describe_event, parse_event
from airflow_kconnect.hooks.masking import mask_command
from airflow_kconnect.local.process_tree import kill_tree
from airflow_kconnect.local.spark import SparkSubmit, find_spark_submit
from airflow_kconnect.local.submit import spark_conf, submit_environment

# Printed by each JVM that Spark starts.
_NOISE = ("WARNING: Using incubator modules: jdk.incubator.vector",)


class ConnectorSparkSubmitHook(SparkSubmitHook):
    """A `SparkSubmitHook` for connector jobs; takes the same parameters.

    After `submit`, also after one that failed:

    * `report`: the run's report, None if the job made none (or ran in cluster mode, where its output is elsewhere);
    * `error`: the job's error event, None if there was none;
    * `exit_code`: that of spark-submit, which in client mode is the job's own.

    :raises ConfigError: the Spark configuration is refused, or PySpark is not whole.
    :raises SetupError: there is no spark-submit or no Java.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prepare()

    @classmethod
    def from_hook(cls, hook: SparkSubmitHook) -> ConnectorSparkSubmitHook:
        """A hook with the state of a plain one, whichever parameters that was made from."""
        made = cls.__new__(cls)
        made.__dict__.update(hook.__dict__)
        made._prepare()
        return made

    def _prepare(self) -> None:
        self.report: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self._killed = False
        master, deploy_mode = self._connection["master"], self._connection["deploy_mode"]
        self._conf = spark_conf(self._conf, master=master, deploy_mode=deploy_mode, spark=self._spark_submit)

    @cached_property
    def _spark_submit(self) -> SparkSubmit:
        return find_spark_submit(self._connection["spark_binary"])

    @property
    def exit_code(self) -> int | None:
        """Exit code of spark-submit; None before it has ended."""
        return None if self._submit_sp is None else self._submit_sp.returncode

    def submit(self, application: str = "", **kwargs: Any) -> str | None:
        """Run spark-submit in a session of its own, so that `on_kill` finds all its processes."""
        try:
            environment = submit_environment(self._connection["master"])
            return super().submit(application, env=environment, start_new_session=True, **kwargs)
        except BaseException:
            self._end_processes()
            raise

    def on_kill(self) -> None:
        """End the job: its processes here, or in cluster mode the driver on the cluster."""
        self._killed = True
        if self._connection["deploy_mode"] != "cluster":
            self._end_processes()
        super().on_kill()

    def _end_processes(self) -> None:
        if self._submit_sp is not None and self._submit_sp.returncode is None:
            self.log.info("Ending spark-submit (process %s) and all that it started", self._submit_sp.pid)
            kill_tree(self._submit_sp.pid)

    def _get_spark_binary_path(self) -> list[str]:
        return [str(self._spark_submit.program)]

    def _mask_cmd(self, connection_cmd: str | list[str]) -> str:
        words = [connection_cmd] if isinstance(connection_cmd, str) else connection_cmd
        return super()._mask_cmd(mask_command(words))

    def _process_spark_submit_log(self, itr: Iterator[Any]) -> None:
        if self._killed:
            # The signal came while the process was being made, when there was nothing to end yet.
            self._end_processes()
        super()._process_spark_submit_log(self._without_events(itr))

    def _without_events(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            event = parse_event(line)
            if event is not None:
                self._take(event)
            elif line.strip() and not line.startswith(_NOISE):
                yield line

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("event") == "error":
            self.error = event
            self.log.error("%s", describe_event(event))
            return
        if event.get("event") == "report":
            self.report = event["report"]
        self.log.info("%s", describe_event(event))
