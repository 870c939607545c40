"""A run of a hosted connector: a Kafka Connect worker in a JVM, from its start to a clean stop.

What all runs have in common; `LiveRun` moves what is new, `ReplayRun` an interval again.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.hosted.installing.provision import plugin_path
from airflow_kconnect.hosted.jvm import libraries
from airflow_kconnect.hosted.jvm.gateway import HostGateway, JavaEnded
from airflow_kconnect.hosted.known import debezium, iceberg
from airflow_kconnect.hosted.known.schema_history import history_defaults
from airflow_kconnect.hosted.shared_jvms import Lease, Needs, leased
from airflow_kconnect.hosted.sharing import among
from airflow_kconnect.hosted.worker.herder import ConnectHerder, Listening
from airflow_kconnect.hosted.worker.java_clients import java_client_keys
from airflow_kconnect.hosted.worker.run_secrets import lent
from airflow_kconnect.hosted.worker.run_tokens import tokens_for
from airflow_kconnect.hosted.worker.topic_guard import guard_keys
from airflow_kconnect.hosted.worker.worker_keys import (
    connector_properties,
    handed_over,
    host_worker,
    sink_session,
    worker_properties,
)
from airflow_kconnect.hosted.worker.workers import LocalWorker
from airflow_kconnect.hosting.keys import IDLE_MS, MEMORY, hosted_group
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.java_connector.brokers import BrokersUnavailable, BrokerWatch
from airflow_kconnect.runtime.java_connector.outcome import Outcome
from airflow_kconnect.runtime.java_connector.places import tenant_of
from airflow_kconnect.runtime.java_connector.sink_progress import Progress
from airflow_kconnect.runtime.java_connector.source_progress import SourceProgress
from airflow_kconnect.runtime.java_connector.watching import Watching
from airflow_kconnect.runtime.java_connector.workers.crew import Crew
from airflow_kconnect.runtime.java_connector.workers.fleet import Fleet
from airflow_kconnect.runtime.java_connector.workers.remote import HostTask
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.phases import HOSTED_PHASES, PhaseTimer
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.stores.offset_topic.view import OffsetView, read_view
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.override_policy import without_ignored_overrides

log = logging.getLogger("kconnect.hosted")

_HANGS = (
    "connector {name}: {problem}: the plug-in does not return from one of its methods. Its JVM ends with the runs"
    " that are in it; the next run moves again what was not committed"
)
_EXACTLY_ONCE = "exactly.once.support"
_TOPICS_S = 10.0


class HostedRun(ABC):
    """One run. Whatever it raises, what the connector has committed stays, and the next run resumes from there.

    :param spec: with the configuration as the user has written it.
    :param config: validated; `config.hosted` is the class.
    :param session: of Spark; started only if tasks are spread over its executors.
    """

    def __init__(
        self, spec: RunSpec, config: ValidatedConfig, worker: WorkerConfig, run_id: str, session: LazySession
    ) -> None:
        assert config.hosted is not None
        self._hosted = config.hosted
        self._session = session
        self._spec, self._config, self._worker, self._run_id = spec, config, worker, run_id
        self._name, self._kind, self._class_name = config.name, config.kind, config.hosted.name
        self._host = host_worker(worker, hosted_group(config.props, worker.group_id))
        self._clients = ClientConfigs(worker.props, {}, config.name)
        self._admin = GroupAdmin(self._clients.admin())
        self._phases = PhaseTimer(HOSTED_PHASES, config.name)
        self._sink: Progress | None = None
        self._source = SourceProgress(self._class_name, config.props, config.common[IDLE_MS])
        self._outcome = Outcome()
        self.topics_used: list[str] = []
        """The topics that a sink reads, or that a source has written to, now or in former hosted runs."""

    def run(self, on_started: Callable[[], None] = lambda: None) -> RunReport:
        """The steps of a run.

        :param on_started: called once it is certain that no one else is at work.

        1 no one else may be at work: a live member of the group would take tasks
        2 Java starts; Connect and the class itself validate the configuration; nothing is moved before that
        3 what others have left behind is fenced, and what a killed run has left in the group's config topic is removed;
          then the worker joins the group
        4 the connector runs until it has caught up, or to a bound
        5 it stops, which commits; then a sink's offsets are kept in the offset topic, too, and read for the report
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        self._refuse_others()  # 1
        on_started()
        if self._kind == "sink":
            self._sink = self._sink_progress()
            self.topics_used = self._sink.topics
            if not self._spec.dry_run and self._sink.caught_up(look=True):
                self._outcome.over = "caught up"
                return self._report()
        if not self._spec.dry_run:
            self._prepare()
        self._source.check(self._offsets)
        failpoint("before-java")
        with self._workers() as (crew, herder, props):  # 2
            self._phases.enter("validating")
            failpoint("before-validating")
            self._validate(herder, props)
            if self._spec.dry_run:
                self._outcome.over = "dry run"
                return self._report()
            self._phases.enter("starting the connector")
            self._join(crew, herder)  # 3
            failpoint("after-joining")
            herder.put(self._name, props)
            failpoint("after-handing-over")
            self._phases.enter("moving records")
            self._watch(crew, herder)  # 4
            self._phases.enter("stopping")
            failpoint("before-stop")
            if self._stop(crew):  # 5
                crew.finish()
            else:
                self._check_hung()
        if self._outcome.stopped:
            self._keep()
        self._source.finish(self._offsets)
        failpoint("after-stop")
        return self._report()

    _bounded = True
    """Whether the connector's bounds of records and time apply."""

    _must_be_alone = False
    """Whether no other run may be in the same JVM."""

    @abstractmethod
    def _refuse_others(self) -> None:
        """:raises RetriableError: another run or a Connect cluster is at work on what this one moves."""

    @abstractmethod
    def _sink_progress(self) -> Progress:
        """What a sink has to read."""

    @abstractmethod
    def _prepare(self) -> None:
        """Called before Java starts: what must be there."""

    @abstractmethod
    def _adapted(self, plain: dict[str, str]) -> dict[str, str]:
        """The connector's keys as this kind of run hands them over."""

    @abstractmethod
    def _further_workers(self) -> int:
        """How many workers there are at most besides the one here."""

    @abstractmethod
    def _herder(self, jvm: HostGateway, properties: dict[str, str], listening: Listening | None) -> ConnectHerder:
        """The worker in a JVM."""

    @abstractmethod
    def _join(self, crew: Crew, herder: ConnectHerder) -> None:
        """Have the workers start, after what others have left behind is fenced."""

    @abstractmethod
    def _check_of_moved(self, crew: Crew) -> Callable[[], None]:
        """Asks the JVM, before the tasks stop, what is to be known of the records; the check itself comes later."""

    @abstractmethod
    def _keep(self) -> None:
        """Called when Java has stopped as it should: what is to be kept of what the connector has committed."""

    @abstractmethod
    def _own_notes(self) -> dict[str, Any]:
        """What the report says besides; warnings are added."""

    @property
    def _graceful_s(self) -> float:
        return int(self._worker.get("task.shutdown.graceful.timeout.ms")) / 1000

    @property
    def _offset_topic(self) -> str:
        return self._worker.offset_topic_of(self._config.props)

    @contextmanager
    def _workers(self) -> Iterator[tuple[Crew, ConnectHerder, dict[str, str]]]:
        """The workers, of which the one in a JVM of this process leads the others, and the configuration in which
        secrets are references.
        """
        self._phases.enter("starting Java")
        create = bool(self._worker.get("topic.creation.enable"))
        own = without_ignored_overrides(self._config.props, self._worker.props)
        plain = connector_properties(own, self._kind, create_topics=create)
        reaching = {
            "bootstrap.servers": self._worker.props["bootstrap.servers"],
            **java_client_keys(self._worker.props),
        }
        plain |= history_defaults(self._class_name, plain, reaching) | iceberg.session_default(self._class_name, plain)
        props, secrets = handed_over(self._adapted(plain), self._spec.config, self._spec.worker)
        java = find_java()
        further = 0 if self._spec.dry_run else self._further_workers()
        memory = str(self._config.common[MEMORY])
        with ExitStack() as stack:
            fleet = stack.enter_context(Fleet(self._session, self._config, further)) if further else None
            properties = worker_properties(self._host) | sink_session(self._worker.props, self._config.props)[0]
            properties |= guard_keys(self._name, self._config.props, self._worker, self._host)
            if fleet is not None:
                fleet.launch(self._host_task(fleet, properties, secrets, memory))
            jars = libraries.class_path(java, progress=log.info, several=further > 0)
            needs = Needs(java, tuple(jars), plugin_path(self._hosted, self._config.props, self._worker))
            lease = stack.enter_context(leased(needs, tenant_of(self._config, alone=self._must_be_alone)))
            try:
                stack.enter_context(lent(lease.gateway, secrets))
                stack.enter_context(tokens_for(lease.gateway, self._worker.props))
                properties |= lease.plugin_properties
                crew, herder = self._crew(lease, properties, fleet)
                stack.callback(crew.leave, self._graceful_s)
                yield crew, herder, props
            except JavaEnded as error:
                raise JavaEnded(f"connector {self._name}: {error}{among(lease.others())}") from None

    def _crew(self, lease: Lease, properties: dict[str, str], fleet: Fleet | None) -> tuple[Crew, ConnectHerder]:
        herder = self._herder(lease.gateway, properties, None if fleet is None else fleet.listening)
        local = LocalWorker(
            lease.gateway, herder, self._name, self._kind, worker_id=self._run_id, host=socket.gethostname(),
            server=debezium.server(self._config.props),
        )  # fmt: skip
        return Crew(self._name, lease, herder, local, fleet), herder

    def _host_task(
        self, fleet: Fleet, properties: Mapping[str, str], secrets: Mapping[str, str], memory: str
    ) -> HostTask:
        return HostTask(
            address=fleet.address,
            worker_id=self._run_id,
            name=self._name,
            kind=self._kind,
            props=dict(self._config.props),
            worker=dict(self._worker.props),
            properties=dict(properties),
            secrets=dict(secrets),
            memory=memory,
            version=self._hosted.version,
        )

    def _validate(self, herder: ConnectHerder, props: Mapping[str, str]) -> None:
        """:raises ConfigError: with everything that Connect and the class find wrong."""
        if errors := herder.validate(props):
            raise ConfigError(errors, self._name)
        if self._kind == "source" and self._worker.exactly_once:
            # Connect's own preflight: it asks the class with this configuration.
            required = herder.validate({**props, _EXACTLY_ONCE: "required"})
            self._outcome.guarantee = "at_least_once" if _EXACTLY_ONCE in required else "exactly_once"

    def _watch(self, crew: Crew, herder: ConnectHerder) -> None:
        brokers = BrokerWatch(self._admin, self._name)
        watching = Watching(
            crew, herder, self._config, self._sink, self._source, brokers, self._worker, bounded=self._bounded
        )
        try:
            self._outcome.over = watching.until_over()
            check = self._check_of_moved(crew)
        except BrokersUnavailable:
            raise  # without them nothing can be committed
        except ConnectError:
            with contextlib.suppress(JavaEnded):
                self._stop(crew)  # what others of its tasks have done is committed, and the group is left
            raise
        self._outcome.places = crew.places()
        self._outcome.warnings.extend(crew.warnings)
        self._outcome.counts, self._outcome.tasks = watching.counts, watching.tasks
        self._outcome.warnings.extend(watching.warnings)
        check()
        tracked = bool(self._worker.get("topic.tracking.enable"))
        if self._kind == "source" and self._outcome.counts.written and tracked:
            self.topics_used = herder.topics(self._name, timeout_s=_TOPICS_S)

    def _stop(self, crew: Crew) -> bool:
        """Whether everything has stopped in time. A plug-in that does not is ended with its JVM; what it did not commit
        is moved again.

        :raises JavaEnded: the JVM ended before it had stopped: who knows what was committed.
        """
        problems = crew.stop(self._graceful_s)
        self._outcome.stopped = not problems
        for problem in problems:
            self._outcome.warnings.append(RunWarning(Kind.WAITING, _HANGS.format(name=self._name, problem=problem)))
            log.warning("%s", self._outcome.warnings[-1])
        return self._outcome.stopped

    def _check_hung(self) -> None:
        """:raises RetriableError: a sink hangs before it has written everything, so that nothing moved any more; or a
        source before it has delivered anything, as the next run would do, too.
        """
        if self._sink is None:
            is_stuck = not self._outcome.counts.read
        else:
            is_stuck = self._outcome.over == "idle" and not self._sink.caught_up(look=True)
        if is_stuck:
            raise RetriableError(self._outcome.warnings[-1])

    def _report(self) -> RunReport:
        outcome, sink = self._outcome, self._sink
        lag, lag_max = sink.lag() if sink is not None else ({}, None)
        notes = outcome.notes(self._hosted.version) | self._source.notes
        if self._spec.dry_run:
            notes["dry_run"] = True
            if sink is not None:
                notes["would_read_offsets"] = sink.left()
        notes |= self._own_notes()
        left = outcome.left(sink)
        return RunReport(
            connector=self._name,
            kind=self._kind,
            connector_class=self._hosted.name,
            run_id=self._run_id,
            guarantee=outcome.guarantee,
            records=outcome.records(),
            topics=self.topics_used,
            offsets=self._offsets(),
            splits=outcome.tasks,
            incomplete=[*left],
            notes=notes,
            warnings=[*self._config.warnings, *outcome.warnings, *self._source.warnings],
            durations_s=self._phases.durations(),
            replay=str(self._spec.replay) if self._spec.replay else None,
            lag=lag,
            lag_max=lag_max,
        )

    def _offsets(self) -> list[dict[str, Any]]:
        """What is committed: a sink's in its consumer group, a source's in the offset topic."""
        if self._sink is not None:
            positions = self._sink.positions().items()
            return [{"topic": p.topic, "partition": p.partition, "offset": offset} for p, offset in positions]
        return [{"partition": partition, "offset": offset} for partition, offset in self._view().committed()]

    def _view(self) -> OffsetView:
        """What the offset topic has of this source now."""
        topic, partitions = self._offset_topic, self._admin.partitions(self._offset_topic)
        consumer = self._clients.consumer(f"connect-{self._name}-offsets")
        return read_view(CompactedLog(self._admin, consumer, topic, self._clients.patience_s), self._name, partitions)
