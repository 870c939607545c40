"""Runs a connector job with spark-submit: extracts its events from the log, masks secrets, ends all its processes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self
from uuid import uuid4

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.printable import printable
from airflow_kconnect.hooks.clusters.yarn import ADDRESS_EXTRA
from airflow_kconnect.hooks.masking import mask_command
from airflow_kconnect.hooks.services.staging import STAGING, STAGING_CONNECTION, Staging
from airflow_kconnect.machine.environment import AIRFLOW_SETTINGS
from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.places.libraries import stores_hint
from airflow_kconnect.runs.events import describe_event, parse_event
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.submit.direct import (
    by_python,
    direct_command,
    direct_environment,
    driver_is_local,
    needs_no_spark,
    starts_spark_itself,
)
from airflow_kconnect.submit.group import GroupProgress
from airflow_kconnect.submit.heartbeat import SILENCE_S, STARTING, Heartbeat
from airflow_kconnect.submit.package_archive import package_for, with_archive
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit, job_path
from airflow_kconnect.submit.spark_needs import JARS, PACKAGES, SparkOfJob, with_needs
from airflow_kconnect.submit.submit import socket_conf, spark_conf, submit_environment

# Printed by each JVM that Spark starts.
_NOISE = ("WARNING: Using incubator modules: jdk.incubator.vector",)
# Timestamps in lines of the job and of Spark; each line of a task's log has one of its own.
_TIMESTAMP = re.compile(r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}|\d\d/\d\d/\d\d \d\d:\d\d:\d\d) ")
# The provider finds it in the namespace `spark` only.
_DRIVER_POD = re.compile(r"submission ID [^\s:]+:([^\s:]+)")
# YARN's client reports on an application in separate lines, again and again; first before the job does anything.
_TRACKING_URL = re.compile(r"\t tracking URL: (https?://\S+)$")
UNTRACKED_YARN = f"the Spark connection has no extra `{ADDRESS_EXTRA}`"


def _without_settings(words: Sequence[str]) -> list[str]:
    """A command of spark-submit without its `--conf KEY=VALUE`, of which there are dozens."""
    return [word for word, before in zip(words, ["", *words], strict=False) if "--conf" not in (word, before)]


class ConnectorSparkSubmitHook(SparkSubmitHook):
    """A `SparkSubmitHook` for connector jobs; takes the same parameters.

    After `submit`, even a failed one:

    * `report`: the run's report, None if the job wrote none (or ran in cluster mode, where its output is elsewhere);
    * `error`: the job's error event, None if there was none;
    * `exit_code`: that of spark-submit, which in client mode is the job's own;
    * `tracking_url`: the application's page on YARN, None elsewhere;
    * `mailbox`: the id of the run's mailbox in the staging folder, None if there is none.

    `token` must be set before: that of the run spec, the prefix of each event of the job. Without it no line of the
    output is treated as an event.

    `group` is set before for the job of a group: the reports and errors of its connectors are there, and the log has a
    line for the end of each, and how many have ended instead of their phases.

    `on_tracking_url` is called with that address, and with that of the driver's own UI, as soon as it is known.

    While it runs, the log gets a line at least every `silence_s` seconds.

    :raises ConfigError: the Spark configuration is rejected, or PySpark is incomplete.
    :raises SetupError: there is no spark-submit or no Java.
    """

    silence_s: ClassVar[float] = SILENCE_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prepare()

    @classmethod
    def from_hook(cls, hook: SparkSubmitHook) -> Self:
        """A hook with the state of a plain one, however that one was created."""
        connector_hook = cls.__new__(cls)
        connector_hook.__dict__.update(hook.__dict__)
        connector_hook._prepare()
        return connector_hook

    def _prepare(self) -> None:
        self.report: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.tracking_url: str | None = None
        self.token: str | None = None
        self.mailbox: str | None = None
        self.group: GroupProgress | None = None
        self._without_spark = False
        self._hints: dict[str, str] = {}
        self.on_tracking_url: Callable[[str], None] = self._no_listener
        self._killed = False
        self._heartbeat = Heartbeat(self._say)
        self._conf = self._spark_settings()
        if self.in_yarn_cluster_mode and self.get_connection(self._conn_id).extra_dejson.get(ADDRESS_EXTRA):
            self._yarn_track_via_rm_api = True

    def _spark_settings(self) -> dict[str, str]:
        master, deploy_mode = self._connection["master"], self._connection["deploy_mode"]
        return spark_conf(self._conf, master=master, deploy_mode=deploy_mode, spark=self._spark_submit)

    def keep_sockets_in(self, folder: Path) -> None:
        """Make the Python workers of a local master communicate through socket files in a folder of this run alone."""
        if self._connection["master"].startswith("local"):
            self._conf = socket_conf(folder) | self._conf

    def without_spark_if_possible(self, *configs: Mapping[str, Any]) -> None:
        """Start the job of some connectors without Spark if they would use nothing of it."""
        master, deploy_mode = self._connection["master"], self._connection["deploy_mode"]
        self._without_spark = all(needs_no_spark(config, master, deploy_mode) for config in configs)

    def start_with_needs_of(self, *configs: Mapping[str, Any]) -> None:
        """Start the job with what its connectors need of Spark; fetches jars that are not there yet.

        :raises ConfigError, RetriableError: see `with_needs`.
        """
        if self._without_spark:
            return
        self._hints = stores_hint(configs)
        given = {JARS: self._jars, PACKAGES: self._packages}
        conf = self._conf | {key: value for key, value in given.items() if value}
        with Heartbeat(self._say, "looking for the jars that Spark needs", self.silence_s) as heartbeat:
            needed = with_needs(conf, configs, self._spark, heartbeat.doing)
        if needed != conf:
            # Of `--jars` and the setting, spark-submit takes the first.
            self._jars = needed.pop(JARS, None)
            self._conf = needed

    @property
    def spark_version(self) -> str:
        """Version of the Spark that will run the job; empty if it is not known."""
        return self._spark.version

    @property
    def driver_is_local(self) -> bool:
        """Whether the whole job, its driver too, runs on this machine."""
        return driver_is_local(self._connection["master"], self._connection["deploy_mode"])

    @property
    def is_direct(self) -> bool:
        """Whether the job starts on this machine without spark-submit, and starts Spark itself if it needs it."""
        master, deploy_mode = self._connection["master"], self._connection["deploy_mode"]
        return self._without_spark or starts_spark_itself(master, deploy_mode, self._spark_submit)

    def _no_listener(self, url: str) -> None:
        """Used when there is no listener."""

    @property
    def in_yarn_cluster_mode(self) -> bool:
        """Whether the driver will run on YARN."""
        return bool(self._is_yarn_cluster_mode)

    @property
    def is_tracked(self) -> bool:
        """Whether spark-submit ends once the job is submitted, and its status then comes from the cluster manager."""
        return bool(self._should_track_yarn_application_via_rm_api() or self._should_track_driver_via_k8s_api())

    def why_not_deferrable(self) -> str | None:
        """Why a trigger cannot wait for the job; None if it can."""
        if self.is_tracked:
            return self._why_to_wait_here()
        if self._connection["deploy_mode"] != "cluster":
            return f"in client mode, on {self._connection['master']}, the driver is a child of this worker"
        if self.in_yarn_cluster_mode:
            return UNTRACKED_YARN
        return "`track_driver_via_k8s_api=True` is not set"

    def _why_to_wait_here(self) -> str | None:
        kerberos = self._connection["keytab"] and self._connection["principal"]
        if self.in_yarn_cluster_mode and (self._yarn_rm_auth is not None or kerberos):
            return "the ResourceManager wants an authentication that a trigger does not have"
        if self._post_submit_commands:
            return "`post_submit_commands` are run by a worker that waits for the job"
        return None

    @property
    def _spark(self) -> SparkOfJob:
        return self._spark_submit

    @cached_property
    def _spark_submit(self) -> SparkSubmit:
        return find_spark_submit(self._connection["spark_binary"])

    @property
    def exit_code(self) -> int | None:
        """Exit code of spark-submit; None before it has ended."""
        return None if self._submit_sp is None else self._submit_sp.returncode

    def end_of_submit(self) -> str | None:
        """How spark-submit failed, with the end of its output but without its command; None if it did not fail."""
        if not self.exit_code:
            return None
        program = "the process of the job" if self.is_direct else "spark-submit"
        return f"{program} ended with exit code {self.exit_code}, and the job reported no error{self._submit_log_tail}"

    def submit(self, application: str = "", **kwargs: Any) -> str | None:
        """Run spark-submit in its own session, so that `on_kill` finds all its processes."""
        doing = STARTING if self.is_direct else f"starting Spark on {self._connection['master']}"
        self._heartbeat = Heartbeat(self._say, doing, self.silence_s)
        self.use_mailbox()
        try:
            with self._heartbeat, self._package_for(application), self.keeping_mailbox():
                job_id: str | None = super().submit(application, start_new_session=True, **kwargs)
        except BaseException:
            self._end_processes()
            self.take_end(self.mailbox)
            raise
        if not self.is_tracked:
            self.take_end(self.mailbox)
        return job_id

    @cached_property
    def staging(self) -> Staging | None:
        """Where a job whose driver runs elsewhere finds its run spec and leaves its report; None if nothing was said.

        :raises ConfigError: the address is not one of a folder, or its connection does not fit.
        """
        if self._connection["deploy_mode"] != "cluster":
            return None
        extra = self.get_connection(self._conn_id).extra_dejson
        if not extra.get(STAGING):
            return None
        return Staging.of(str(extra[STAGING]), extra.get(STAGING_CONNECTION))

    def use_mailbox(self) -> None:
        """If there is a staging folder, put the run spec into a mailbox of this run: Spark does not upload it."""
        if self.staging is None:
            return
        *files, run_file = (self._files or "").split(",")
        self.mailbox = uuid4().hex
        self._files, self._application_args = ",".join(files) or None, ["--run", self.staging.mailbox(self.mailbox)]
        self.staging.put_run_spec(self.mailbox, Path(run_file))

    def keeping_mailbox(self) -> AbstractContextManager[None]:
        """While the block waits for the job, other runs do not take its mailbox for one that was left."""
        if self.mailbox is None or self.staging is None:
            return nullcontext()
        return self.staging.keeping(self.mailbox)

    def take_end(self, mailbox: str | None) -> None:
        """Learn how the job has ended from what it has left in a mailbox, and clear that.

        How the job has ended does not depend on it: what cannot be read is a warning.
        """
        if mailbox is None or self.staging is None:
            return
        try:
            for line in self.staging.end_of(mailbox).splitlines():
                if (event := parse_event(line, self.token)) is not None:
                    self._take(event)
            self.staging.clear(mailbox)
        except ConnectError as error:
            self.log.warning("What the job has left in the staging folder cannot be read: %s", error)

    def forget_end(self) -> None:
        """Forget what a job has said at its end: another one follows."""
        self.report = self.error = None
        if self.group is not None:
            self.group.forget()

    @contextmanager
    def _package_for(self, application: str) -> Iterator[None]:
        """Ship this package, unless executors are on this machine or the application is part of an image."""
        with package_for(self._connection["master"]) as archive:
            if archive is not None and application == str(job_path()):
                self._py_files = ",".join(filter(None, [str(archive), self._py_files]))
                self._conf = with_archive(self._conf)
            yield

    def adopt(self, job_id: str) -> None:
        """Make `on_kill` end a job on the cluster that an earlier attempt has submitted."""
        if self.in_yarn_cluster_mode:
            self._yarn_application_id = job_id
        elif self.is_tracked:
            self._kubernetes_driver_pod = job_id.partition(":")[2]

    def on_kill(self) -> None:
        """End the job: its processes here, or in cluster mode the driver on the cluster."""
        self._killed = True
        if self._connection["deploy_mode"] != "cluster":
            self._end_processes()
            # There is no driver pod: what looked like its name was printed by the driver, perhaps from records.
            self._kubernetes_driver_pod = None
        super().on_kill()
        self._clear_mailbox()

    def _clear_mailbox(self) -> None:
        try:
            if self.mailbox is not None and self.staging is not None:
                self.staging.clear(self.mailbox)
        except ConnectError as error:
            self.log.warning("The run's configuration may still be in the staging folder: %s", error)

    def _poll_k8s_driver_via_api(self) -> str | None:
        phase: str | None = super()._poll_k8s_driver_via_api()
        if phase is None and not self._killed:
            # The provider considers it a success.
            raise RuntimeError(f"driver pod {self._kubernetes_driver_pod} is gone: how its job ended is not known")
        return phase

    def _end_processes(self) -> None:
        if self._submit_sp is not None and self._submit_sp.returncode is None:
            self.log.info("Ending spark-submit (process %s) and all that it started", self._submit_sp.pid)
            kill_tree(self._submit_sp.pid)

    def _build_spark_submit_command(self, application: str) -> list[str]:
        command: list[str] = super()._build_spark_submit_command(application)
        # Here, because the provider builds an environment of its own if there are `env_vars`.
        self._env = submit_environment(self._connection["master"]) | self._hints | (self._env or {})
        if not self.is_direct or application != str(job_path()):
            return command
        unset = self._without_airflow()
        if self._without_spark:
            self._env = direct_environment(self._env)
            return [*unset, *direct_command(self._application_args or (), self._conf)]
        direct, self._env = by_python(command[len(unset) :], self._env, self._conf)
        return [*unset, *direct]

    def _get_spark_binary_path(self) -> list[str]:
        return [*self._without_airflow(), str(self._spark_submit.program)]

    def _without_airflow(self) -> list[str]:
        """A command that starts another one without Airflow's own settings: the provider passes on `os.environ`, which
        this task itself still needs.
        """
        names = [name for name in os.environ if AIRFLOW_SETTINGS.fullmatch(name) and name not in (self._env_vars or {})]
        return ["/usr/bin/env", *(word for name in names for word in ("-u", name))] if names else []

    def _mask_cmd(self, connection_cmd: str | list[str]) -> str:
        words = [connection_cmd] if isinstance(connection_cmd, str) else connection_cmd
        words = words[len(self._without_airflow()) :] if words[:1] == ["/usr/bin/env"] else words
        masked: str = super()._mask_cmd(mask_command(words))
        settings = words.count("--conf")
        if not settings:
            return masked
        self.log.debug("The whole command of spark-submit: %s", masked)
        short: str = super()._mask_cmd(mask_command(_without_settings(words)))
        return f"{short} ({settings} settings of Spark: see the log at the level debug)"

    def _process_spark_submit_log(self, itr: Iterator[Any]) -> None:
        if self._killed:
            # The signal came while the process was being created, when there was nothing to end yet.
            self._end_processes()
        super()._process_spark_submit_log(self._without_events(itr))

    def _without_events(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            event = parse_event(line, self.token)
            if event is not None:
                self._take(event)
            elif line.strip() and not line.startswith(_NOISE):
                if self._is_kubernetes and (pod := _DRIVER_POD.search(line)):
                    self._kubernetes_driver_pod = pod[1]
                self._look_for_tracking_url(line)
                self._heartbeat.heard()
                yield printable(_TIMESTAMP.sub("", line.rstrip("\n")))

    def _look_for_tracking_url(self, line: str) -> None:
        if self._is_yarn and self.tracking_url is None and (match := _TRACKING_URL.match(line)):
            self.tracking_url = match[1]
            self.on_tracking_url(match[1])

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("event") == "spark_ui":
            self.on_tracking_url(event["url"])
        if self.group is not None and event.get("connector") is not None:
            self._take_of_group(event, self.group)
            return
        if event.get("event") == "error":
            self.error = event
            if self.group is not None:
                self.group.take(event)
            self.log.error("%s", describe_event(event))
            return
        if event.get("event") in ("phase", "progress"):
            self._heartbeat.event(event)
            return
        if event.get("event") == "report":
            self.report = RunReport.of(event["report"]).as_dict()
        self.log.info("%s", describe_event(event))

    def _take_of_group(self, event: dict[str, Any], group: GroupProgress) -> None:
        """One line for the end of each connector; what else they do is counted in the signs of life."""
        end = group.take(event)
        self._heartbeat.doing(group.text())
        if end is None:
            return
        self._heartbeat.heard()
        if end.error is not None:
            self.log.error("[%s] %s: %s", group.count(), end.connector, describe_event(event))
        else:
            self.log.info("[%s] %s", group.count(), describe_event(event))

    def _say(self, line: str) -> None:
        self.log.info("%s", line)
