"""A job from its run spec to its exit code: read, validate, run, report."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.connect.connector.sink import SinkConnector
from airflow_kconnect.connect.connector.source import SourceConnector
from airflow_kconnect.connect.connector.upkeep import Upkeep
from airflow_kconnect.connect.errors import ConfigError, ConnectError, InternalError, WarnedError, named
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.hosting.replays import DEAD_LETTERS, interval_problem
from airflow_kconnect.places.libraries import import_libraries
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.events import EXIT_OK, EXIT_USAGE
from airflow_kconnect.runs.group import GroupSpec, MemberEnd, exit_code_of, name_of
from airflow_kconnect.runs.replays import check_replay
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import PLUGINS, SUBMITTER, RecordsShown, RunSpec, run_file_data
from airflow_kconnect.runs.warnings import FAIL_ON_WARNING, dead_letters_warning, failing
from airflow_kconnect.runtime.group.member import Member
from airflow_kconnect.runtime.mailbox import Mailbox, is_address
from airflow_kconnect.runtime.process import jvm, split_processes
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.late_imports import hide_pandas
from airflow_kconnect.runtime.process.parent_watch import die_with_parent
from airflow_kconnect.runtime.process.progress import emit, emit_error, ends_kept, speaker, use_token
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings, run_settings
from airflow_kconnect.runtime.statuses import RunTold, run_told
from airflow_kconnect.stores.offset_topic.many_views import ReadBefore
from airflow_kconnect.validation.connector import ValidatedConfig, validate_connector
from airflow_kconnect.variables.hidden_values import HiddenValues
from airflow_kconnect.variables.resolver import ConfigResolver, java_variables
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPLAY_IS_FOR_SINKS = (
    "is a source: only sinks can replay their dead letters. Those of a source are the records as they were before its"
    " transformations"
)

NO_TABLES = "has no tables to look after: only sinks have that write lake tables, such as SparkTableSink"
NOT_PREVIEWED = "is a Java connector, which reads its source only in runs: give `records`"
# A transformation could show the value of a variable in disguise.
_UNRESOLVED = ("transforms", "predicates")
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

log = logging.getLogger("kconnect")

# Of a hosted connector's keys: those that a run needs before its Connect worker is there.
_READ_HERE = ("name", "connector.class", "tasks.max", "topics", "topics.regex", "offsets.storage.topic")


class _Usage(Exception):
    """The arguments are wrong; argparse would end the process with an exit code of its own."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise _Usage(f"{message}\n{self.format_usage()}")


class _Hiding(logging.Formatter):
    """Writes variables in place of their values, in tracebacks too: no process after the job knows these values.

    Lines about a connector of a group begin with its name.
    """

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__(_FORMAT)
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        return self._hide(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        if (connector := speaker()) is not None:
            record.message = f"[{connector}] {record.message}"
        return super().formatMessage(record)


def main(arguments: Sequence[str], session: SparkSession | None = None) -> int:
    """Run the job; returns its exit code. An error becomes one ``error`` event; a traceback is a bug of ours.

    :param session: that of a process in which Spark is already running, and which is not the job's own.
    """
    mailbox = next((Mailbox(text) for text in arguments if is_address(text)), None)
    ends: list[str] = []
    try:
        with contextlib.nullcontext() if mailbox is None else ends_kept(ends.append):
            return _main(arguments, mailbox, session)
    finally:
        split_processes.end()
        if mailbox is not None:
            _leave_end(mailbox, ends)
        if session is None:
            jvm.end()


def _leave_end(mailbox: Mailbox, lines: Sequence[str]) -> None:
    """The run has ended however this goes: the worker then knows only what the service says about the job."""
    try:
        mailbox.leave_end("".join(lines))
    except ConnectError as error:
        log.error("%s", error)


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=_FORMAT)
    for noisy in ("py4j", "httpx"):  # httpx logs the URL of each request, whose query or login may be a secret
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _main(arguments: Sequence[str], mailbox: Mailbox | None, session: SparkSession | None) -> int:
    if jvm.starts_spark():
        import airflow_kconnect.runtime.sink.run
        import airflow_kconnect.runtime.source.run  # noqa: F401

        import_libraries()
        split_processes.start()
    _log_to_stderr()
    if session is None:
        die_with_parent()
    if jvm.starts_spark():
        jvm.prepare(short=False)  # JDBC connectors need the JVM before there is a session
    parser = _Parser(prog="connector_job.py", description="Run a connector once.")
    parser.add_argument("--run", required=True, help="run spec file (mode 600), or the address of a run's mailbox")
    hidden = HiddenValues()
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Hiding(hidden.hide_in_log))
    try:
        spec = _read(parser.parse_args(arguments).run, mailbox)
        use_token(spec.token)
        if isinstance(spec, GroupSpec):
            return exit_code_of(run_group(spec, session, hidden=hidden))
        event, facts = _done(spec, ConfigResolver.from_worker(spec.worker, spec.variables, hidden), session)
    except _Usage as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE
    except ConnectError as error:
        return _failed(error)
    except Exception as error:
        if (ended := jvm.unexpected_end()) is not None:
            return _failed(ended)
        log.exception("unexpected error")
        return _failed(InternalError(hidden.hide(named(error))))
    failpoint("before-report")
    emit(event, **facts)
    return EXIT_OK


def _done(spec: RunSpec, resolver: ConfigResolver, session: SparkSession | None) -> tuple[str, dict[str, Any]]:
    """Run, or show records; the event that tells about it."""
    if spec.preview is not None:
        return "preview", {"answer": shown(spec, spec.preview, resolver, session)}
    return "report", {"report": run(spec, session, resolver=resolver).as_dict()}


def _read(run: str, mailbox: Mailbox | None) -> RunSpec | GroupSpec:
    """Read what is to be done. The file contains secrets: if it was made for this job, it is deleted even if the
    submitter has died.
    """
    data = run_file_data(Path(run)) if mailbox is None else mailbox.take_run_spec()
    if mailbox is None and SUBMITTER in os.environ:
        Path(run).unlink(missing_ok=True)
    for file in data.pop(PLUGINS, ()):
        registry().add(PluginFile(**file), instead=True)  # the one with which the configuration was checked
    return GroupSpec.of(data) if "runs" in data else RunSpec.of(data)


def _failed(error: ConnectError) -> int:
    emit_error(error)
    return error.exit_code


def run_group(
    spec: GroupSpec, session: SparkSession | None = None, *, hidden: HiddenValues | None = None
) -> list[MemberEnd]:
    """Run the connectors of a group; returns how each of them has ended. See `GroupRun`.

    :param session: a running Spark session, of which each gets a new one; without it one is started if it is needed.
    :param hidden: the values of variables, which all their texts hide.
    """
    from airflow_kconnect.runtime.group.idle import IdleMembers
    from airflow_kconnect.runtime.group.run import GroupRun, weights
    from airflow_kconnect.runtime.group.shared_spark import SharedSpark

    hides = HiddenValues() if hidden is None else hidden

    def run_one(member: RunSpec, own: LazySession) -> RunReport:
        resolver = ConfigResolver.from_worker(member.worker, member.variables, hides)
        return run(member, own, resolver=resolver, read_before=idle.taken(name_of(member.config)))

    def member(one: RunSpec) -> Member:
        return _member(one, ConfigResolver.from_worker(one.worker, one.variables, hides))

    spark = SharedSpark("kconnect group", weights(spec), session)
    idle = IdleMembers(member)
    group = GroupRun(spec, run_one, spark, idle.reports, idle.tell, hide=hides.hide)
    with _shared_jvms(spec):
        return group.run()


def _shared_jvms(spec: GroupSpec) -> contextlib.AbstractContextManager[None]:
    """Java connectors of a group share a JVM."""
    hosted = sum(looks_hosted(texts_of(run.config)[0]) for run in spec.runs)
    if not hosted:
        return contextlib.nullcontext()
    from airflow_kconnect.hosted.shared_jvms import shared_jvms

    return shared_jvms(min(hosted, spec.max_parallel))


def _member(spec: RunSpec, resolver: ConfigResolver) -> Member:
    """A connector of a group, checked as its run checks it. :raises ConnectError: what the run raises."""
    worker = WorkerConfig.from_props(resolver.resolve(spec.worker))
    props = resolver.resolve(spec.config)
    _provide_plugins(props, worker)
    config = validate_connector(props, worker=worker, kind=spec.kind)
    _check_java_variables(spec, config)
    return Member(replace(spec, run_id=spec.run_id or uuid.uuid4().hex[:12]), worker, config, resolver.hide)


def run(
    spec: RunSpec,
    session: SparkSession | LazySession | None = None,
    *,
    resolver: ConfigResolver | None = None,
    read_before: ReadBefore | None = None,
) -> RunReport:
    """Run a connector once.

    :param resolver: created from the worker of `spec`; None creates one.
    :param session: a running Spark session to use; without it one is started if there is something to do.
    :param read_before: what was read of the offset topic of a source already.
    :raises ConnectError: any failure; its class says what to do.
    """
    resolver = resolver or ConfigResolver.from_worker(spec.worker, spec.variables)
    spec = replace(spec, run_id=spec.run_id or uuid.uuid4().hex[:12])
    with resolver.hidden_in_errors():
        worker = WorkerConfig.from_props(resolver.resolve(spec.worker))
        name = str(resolver.resolve({"name": spec.config.get("name", "")})["name"]).strip()
    with run_told(spec, worker, name, resolver.hide) as told, resolver.hidden_in_errors():
        config = resolver.resolve(spec.config)
        told.report = report = _run(spec, worker, config, session, told, read_before)
        _judge(report, spec, config)
        return report


def _judge(report: RunReport, spec: RunSpec, config: Mapping[str, Any]) -> None:
    """Add what all kinds of runs warn of. :raises WarnedError: the user wants the run to fail because of a warning."""
    topic = str(config.get("errors.deadletterqueue.topic.name", "")).strip() or None
    warning = dead_letters_warning(report.connector, report.records, report.notes, topic)
    if warning is not None:
        log.warning("%s", warning)
        report.warn(warning)
    chosen = [kind.strip() for kind in str(config.get(FAIL_ON_WARNING, "")).split(",")]
    if (texts := failing(report.warnings, chosen)) and not spec.dry_run:
        emit("report", report=report.as_dict())
        text = f"connector {report.connector}: what was moved is committed, with {len(texts)} warnings of the kinds in"
        raise WarnedError(f"{text} `{FAIL_ON_WARNING}`: {'; '.join(texts)}")


def shown(
    spec: RunSpec, wanted: RecordsShown, resolver: ConfigResolver, session: SparkSession | None = None
) -> dict[str, Any]:
    """The next records of a source and what its transformations make of them: see `SourcePreview.answer`.

    Nothing is moved. Variables are used, but not in transformations, which could show their values in disguise; in the
    answer their texts stand for their values.

    :raises ConfigError: the configuration is wrong, or not that of a source of this package. :raises ConnectError: any
        other failure.
    """
    from airflow_kconnect.runtime.source.previewing import SourcePreview

    with resolver.hidden_in_errors():
        # Records of a preview are not committed: a task would wait for that before it stops.
        quick = {"task.shutdown.graceful.timeout.ms": "0"}
        worker = WorkerConfig.from_props({**resolver.resolve(spec.worker), **quick})
        config = {key: value for key, value in spec.config.items() if not key.startswith(_UNRESOLVED)}
        props = {**spec.config, **resolver.resolve(config)}
        texts, _ = texts_of(props)
        if looks_hosted(texts):
            raise ConfigError({"connector.class": [NOT_PREVIEWED]})
        validated = validate_connector(props, worker=worker, kind="source")
        connector = registry().connector(validated.connector_class)(validated.props)
        assert isinstance(connector, SourceConnector)
        connector.check()
        settings = run_settings(validated, worker, spec.run_id or uuid.uuid4().hex[:12])
        settings = replace(settings, max_records=wanted.most)
        lazy = LazySession(f"kconnect preview {validated.name}", session)
        answer: dict[str, Any] = SourcePreview(settings, connector, lazy, wanted).answer()
    hidden: dict[str, Any] = json.loads(resolver.hide(json.dumps(answer, ensure_ascii=False)))
    return hidden


def _run(
    spec: RunSpec,
    worker: WorkerConfig,
    props: Mapping[str, Any],
    session: SparkSession | LazySession | None,
    told: RunTold,
    read_before: ReadBefore | None,
) -> RunReport:
    _provide_plugins(props, worker)
    config = validate_connector(props, worker=worker, kind=spec.kind)
    told.validated(config)
    _check_java_variables(spec, config)
    if config.hosted is not None and spec.upkeep is None:
        return _run_hosted(spec, worker, config, config.hosted, session, told)
    _load_little()
    from airflow_kconnect.runtime.sink.run import SinkRun
    from airflow_kconnect.runtime.source.run import SourceRun

    settings = run_settings(config, worker, spec.run_id, replay=spec.replay, dry_run=spec.dry_run)
    for warning in (*worker.warnings, *settings.config.warnings):
        log.warning("%s", warning)
    if spec.replay:
        check_replay(config.props)
    if spec.upkeep is not None:
        return _looked_after(settings, spec.upkeep, _lazy(config.name, session))
    connector = registry().connector(config.connector_class)(config.props)
    if spec.replay and isinstance(connector, SinkConnector):
        connector.replay(spec.replay)
    if isinstance(connector, SinkConnector):
        # In Connect a sink's tasks are the first to look at its target: what is wrong there is their failure.
        told.running()
    connector.check()
    lazy = _lazy(config.name, session)
    if isinstance(connector, SourceConnector):
        if spec.replay_dead_letters:
            raise ConfigError({"connector.class": [REPLAY_IS_FOR_SINKS]}, config.name)
        source = SourceRun(settings, connector, lazy, read_before)
        told.running()
        report = source.run()
        told.used(report.topics, settings.offset_topic)
        return report
    assert isinstance(connector, SinkConnector)
    if isinstance(connector, PlannedSinkConnector):
        from airflow_kconnect.runtime.sink.planned import PlannedRun

        sink: SinkRun = PlannedRun(settings, connector, lazy, dead_letters=spec.replay_dead_letters)
    else:
        sink = SinkRun(settings, connector, lazy, dead_letters=spec.replay_dead_letters)
    report = sink.run()
    told.used(sink.topics_read)
    return report


def _load_little() -> None:
    """Not pandas, unless a class of others may use it. To be called once all classes are loaded, in a job's process."""
    if jvm.starts_spark() and registry().only_own_loaded:
        hide_pandas()


def _looked_after(settings: RunSettings, upkeep: Upkeep, session: LazySession) -> RunReport:
    from airflow_kconnect.runtime.upkeep import UpkeepRun

    config = settings.config
    plugin = None if config.hosted is not None else registry().connector(config.connector_class)
    if plugin is None or not issubclass(plugin, PlannedSinkConnector):
        raise ConfigError({"connector.class": [f"{config.connector_class} {NO_TABLES}"]}, settings.name)
    return UpkeepRun(settings, plugin(config.props), session, upkeep).run()


def _lazy(name: str, session: SparkSession | LazySession | None) -> LazySession:
    return session if isinstance(session, LazySession) else LazySession(f"kconnect {name}", session)


def _check_java_variables(spec: RunSpec, config: ValidatedConfig) -> None:
    """:raises ConfigError: for variables that only a Connect worker resolves, in what is read before there is one."""
    read, who = dict(spec.config), "a connector that is not hosted"
    if config.hosted is not None:
        read = {key: value for key, value in read.items() if key.startswith("kconnect.") or key in _READ_HERE}
        who = "the run itself, which reads this key,"
    if errors := java_variables(read, spec.worker, who):
        raise ConfigError(errors, config.name)


def _provide_plugins(config: Mapping[str, Any], worker: WorkerConfig) -> None:
    """Before validation, which looks into the plug-ins."""
    props, _ = texts_of(config)
    if looks_hosted(props):
        from airflow_kconnect.runtime.java_connector.plugins import provide_plugins

        provide_plugins(props, worker)


def _run_hosted(
    spec: RunSpec,
    worker: WorkerConfig,
    config: ValidatedConfig,
    hosted_class: JavaPlugin,
    session: SparkSession | LazySession | None,
    told: RunTold,
) -> RunReport:
    """A Java connector: Spark is needed only if its tasks are spread over executors."""
    from airflow_kconnect.runtime.java_connector.live import LiveRun
    from airflow_kconnect.runtime.java_connector.replay_run import ReplayRun

    for warning in (*worker.warnings, *config.warnings):
        log.warning("%s", warning)
    problem = DEAD_LETTERS if spec.replay_dead_letters else None
    if spec.replay is not None:
        problem = interval_problem(hosted_class.name, config.kind, config.props)
    if problem is not None:
        raise ConfigError({"connector.class": [f"{hosted_class.name} {problem}"]}, config.name)
    lazy = _lazy(config.name, session)
    run = LiveRun if spec.replay is None else ReplayRun
    hosted = run(spec, config, worker, spec.run_id, lazy)
    report = hosted.run(told.running)
    told.used(hosted.topics_used, worker.offset_topic_of(config.props) if config.kind == "source" else None)
    return report
