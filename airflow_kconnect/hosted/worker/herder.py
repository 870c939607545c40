"""A distributed Connect worker without a public REST server, in a JVM that this process controls.

It is put together as `ConnectDistributed` does it. Everything is asked through the herder, so that no other user of the
machine can reach connectors or their secrets. Nothing listens, unless the worker is one of several.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError, first_line
from airflow_kconnect.hosted.jvm.gateway import HostGateway
from airflow_kconnect.hosted.worker.internal_rest import InternalRest
from airflow_kconnect.hosting.password_keys import note, was_asked

_REST_URL = "http://127.0.0.1:0/"  # of no server; other workers would forward requests to it
_ASK_S = 90
_PAUSE_S = 5
_POLL_S = 0.1
_ANSWER_POLL_S = 0.02

log = logging.getLogger("kconnect.hosted")


@dataclass(frozen=True)
class TaskState:
    """How a connector or a task is doing.

    :param state: `RUNNING`, `FAILED`, `UNASSIGNED`, `PAUSED`, `RESTARTING` or `STOPPED`.
    :param trace: of a failure: Java's stack trace.
    :param worker: the id of the worker that has it.
    """

    name: str
    state: str
    trace: str | None = None
    worker: str = ""


@dataclass(frozen=True)
class Listening:
    """Where a worker that is one of several is reached by the others.

    :param bind: the address to listen on.
    :param host: the name or address by which they reach it.
    """

    bind: str
    host: str


@dataclass(frozen=True)
class Statuses:
    """How a connector and its tasks are doing; `connector` is None as long as it is not known."""

    connector: TaskState | None
    tasks: tuple[TaskState, ...] = ()

    @property
    def failed(self) -> TaskState | None:
        """The first that has failed."""
        everyone = (self.connector, *self.tasks) if self.connector else self.tasks
        return next((one for one in everyone if one.state == "FAILED"), None)

    @property
    def started(self) -> bool:
        """Whether the connector and all its tasks run; a connector may have no task."""
        if self.connector is None or self.connector.state != "RUNNING":
            return False
        return all(task.state == "RUNNING" for task in self.tasks)


class ConnectHerder:
    """The worker. Make one, `validate`, `start`, `put`, look at `statuses`, `stop`.

    :param jvm: running; its class path has Connect's runtime.
    :param properties: of the worker, see `worker_properties`.
    :param worker_id: of this run: statuses that another worker has written do not count, unless its id begins with this
        one and a slash.
    :param listening: of one of several workers.
    :raises ConfigError: the worker's configuration is wrong. :raises RetriableError: no broker answers.
    """

    def __init__(
        self, jvm: HostGateway, properties: Mapping[str, str], *, worker_id: str, listening: Listening | None = None
    ) -> None:
        self._jvm, self._worker_id, self._listening = jvm, worker_id, listening
        self._started = False
        self._herder, self._worker = jvm.call("preparing the Connect worker", lambda: self._assembled(properties))

    def validate(self, props: Mapping[str, str]) -> dict[str, list[str]]:
        """What Connect and the classes that a configuration names find wrong with it: key -> messages.

        Works before `start`. The connector's own check may well ask its database.
        """

        items = self._jvm.items

        def ask() -> dict[str, list[str]]:
            infos = self._ask(lambda done: self._herder.validateConnectorConfig(self._jvm.text_map(props), done, False))
            configs = items(infos.configs())
            if not was_asked(props["connector.class"]):  # takes four requests for each key
                keys = [key for of in configs if (key := of.configKey()) is not None]
                note(props["connector.class"], ({"name": str(key.name()), "type": str(key.type())} for key in keys))
            values = (info.configValue() for info in configs)
            found = ((value.name(), [str(text) for text in items(value.errors())]) for value in values)
            return {str(name): errors for name, errors in found if errors}

        errors: dict[str, list[str]] = self._call("validating the configuration", ask)
        return errors

    def start(self) -> None:
        """Join the group. Returns at once; `put` waits until the worker leads it."""
        self._started = True
        self._call("starting the Connect worker", self._herder.start)

    def put(self, name: str, props: Mapping[str, str]) -> None:
        """Create the connector, or change its configuration.

        :raises RetriableError: the worker could not join its group, or did not answer.
        """

        def ask() -> None:
            config = self._jvm.text_map(props)
            self._ask(lambda done: self._herder.putConnectorConfig(name, config, True, done))

        self._call("handing the connector to the Connect worker", ask)

    def statuses(self, name: str) -> Statuses:
        """How the connector and its tasks are doing."""
        return self._jvm.call("asking for statuses", lambda: self._statuses(name))

    def topics(self, name: str, *, timeout_s: float) -> list[str]:
        """The topics that the connector has used on workers of this group.

        :param timeout_s: how long to wait for the first: the worker writes them to its status topic, and knows them
            when it has read them from there.
        """

        def ask() -> list[str]:
            topics = self._herder.connectorActiveTopics(name).topics()
            return sorted(str(topic) for topic in self._jvm.items(topics))

        deadline = time.monotonic() + timeout_s
        while True:
            topics: list[str] = self._call("asking for topics", ask)
            if topics or time.monotonic() > deadline:
                return topics
            time.sleep(_POLL_S)

    def pause(self, name: str) -> None:
        """Have the connector and its tasks on this worker deliver nothing new; returns when that was asked for.

        To pause a connector, Connect calls its `stop`. What goes wrong there is logged: its tasks pause all the same.
        """
        from py4j.protocol import Py4JJavaError

        def ask() -> None:
            state = self._connect.runtime.TargetState.PAUSED
            if self._worker.connectorNames().contains(name):
                self._ask(lambda done: self._worker.setTargetState(name, state, done), _PAUSE_S)
            else:  # where it is not, no one answers
                self._worker.setTargetState(name, state, self._connect.util.FutureCallback())

        try:
            self._jvm.call("pausing the connector", ask)
        except Py4JJavaError as error:
            log.warning("connector %s: it does not stop in order: %s", name, cause_of(error))

    def pause_everywhere(self, name: str) -> None:
        """Have all workers of the group pause it, and let none of its tasks that moves to another deliver anything."""
        self._call("pausing the connector", lambda: self._herder.pauseConnector(name))

    def stop(self, timeout_s: float) -> None:
        """Stop connector, tasks and worker: what was delivered is committed, the group is left.

        :raises RetriableError: it did not end within that time.
        """

        def stop() -> None:
            if not self._started:
                self._close()
            self._herder.stop()

        self._jvm.call("stopping the Connect worker", stop, timeout_s=timeout_s)

    def _close(self) -> None:
        """Close what the worker has opened before its start."""
        self._herder.halt()

    @property
    def is_running(self) -> bool:
        """Whether the worker is still at work, or has not been started: a worker that fails ends by itself."""
        return self._jvm.is_alive and not self._jvm.call("asking for the worker", self._has_ended)

    def _has_ended(self) -> bool:
        task = self._herder.herderTask()
        return task is not None and bool(task.isDone())

    @property
    def _connect(self) -> Any:
        return self._jvm.view.org.apache.kafka.connect

    def _assembled(self, properties: Mapping[str, str]) -> tuple[Any, Any]:
        """What `ConnectDistributed.createHerder` does."""
        from py4j.protocol import Py4JJavaError

        jvm, connect, java = self._jvm, self._connect, self._jvm.view.java
        texts = jvm.text_map(properties)
        try:
            plugins = jvm.view.airflow_kconnect.SharedPlugins.of(texts)
            plugins.compareAndSwapWithDelegatingLoader()
            config = connect.runtime.distributed.DistributedConfig(texts)
            cluster = config.kafkaClusterId()
        except Py4JJavaError as error:
            raise of_worker(error) from None
        client = connect.util.ConnectUtils.clientIdBase(config)
        admin_properties = java.util.HashMap(config.originals())
        connect.util.ConnectUtils.addMetricsContextProperties(admin_properties, config, cluster)
        admin_properties.put("client.id", f"{client}shared-admin")
        admin = connect.util.SharedTopicAdmin(admin_properties)
        no_schemas = jvm.text_map({"schemas.enable": "false"})
        converter = plugins.newInternalConverter(True, "org.apache.kafka.connect.json.JsonConverter", no_schemas)
        offsets = connect.storage.KafkaOffsetBackingStore(admin, self._supplier(client), converter)
        offsets.configure(config)
        policy_class = "org.apache.kafka.connect.connector.policy.ConnectorClientConfigOverridePolicy"
        policy_name = config.getString("connector.client.config.override.policy")
        policy = plugins.newPlugin(policy_name, config, jvm.java_class(policy_class))
        time = jvm.view.org.apache.kafka.common.utils.Time.SYSTEM
        worker = connect.runtime.Worker(self._worker_id, time, plugins, config, offsets, policy)
        values = worker.getInternalValueConverter()
        statuses = connect.storage.KafkaStatusBackingStore(time, values, admin, client)
        statuses.configure(config)
        configs = connect.storage.KafkaConfigBackingStore(values, config, worker.configTransformer(), admin, client)
        client_of_workers = connect.runtime.rest.RestClient(config)
        rest = self._rest(client_of_workers)
        url, namespace = (rest.url(), rest.namespace) if rest is not None else (_REST_URL, java.util.ArrayList())
        closed_at_the_end = jvm.array(java.lang.AutoCloseable, admin)
        herder = connect.runtime.distributed.DistributedHerder(
            config, time, worker, cluster, statuses, configs, url, client_of_workers, policy, namespace,
            closed_at_the_end,
        )  # fmt: skip
        if rest is not None:
            rest.serve(herder)
        return herder, worker

    def _rest(self, client: Any) -> InternalRest | None:
        listening = self._listening
        return None if listening is None else InternalRest(self._jvm, client, bind=listening.bind, host=listening.host)

    def _supplier(self, value: str) -> Any:
        """A `java.util.function.Supplier` of a constant: Java makes one of a method handle."""
        invoke, java_class = self._jvm.view.java.lang.invoke, self._jvm.java_class
        constant = invoke.MethodHandles.constant(java_class("java.lang.Object"), value)
        return invoke.MethodHandleProxies.asInterfaceInstance(java_class("java.util.function.Supplier"), constant)

    def _ask(self, ask: Callable[[Any], None], timeout_s: int = _ASK_S) -> Any:
        """The answer that a herder gives to a callback.

        :raises RetriableError: the worker has ended, and gives none.
        """
        done = self._connect.util.FutureCallback()
        ask(done)
        deadline = time.monotonic() + timeout_s
        while not done.isDone() and time.monotonic() < deadline:
            if self._has_ended() and not done.isDone():
                raise RetriableError("the Connect worker has ended by itself; its log says why")
            time.sleep(_ANSWER_POLL_S)
        return done.get(0, self._jvm.view.java.util.concurrent.TimeUnit.SECONDS)

    def _call(self, doing: str, function: Callable[[], Any]) -> Any:
        from py4j.protocol import Py4JJavaError

        try:
            return self._jvm.call(doing, function)
        except Py4JJavaError as error:
            raise RetriableError(f"{doing}: {cause_of(error)}") from None

    def _statuses(self, name: str) -> Statuses:
        from py4j.protocol import Py4JJavaError

        try:
            info = self._herder.connectorStatus(name)
        except Py4JJavaError as error:
            if "NotFoundException" in str(error.java_exception.getClass().getName()):
                return Statuses(None)
            raise RetriableError(f"asking for statuses: {cause_of(error)}") from None
        tasks = [self._state(f"task {task.id()}", task) for task in self._jvm.items(info.tasks())]
        return Statuses(self._state("connector", info.connector()), tuple(tasks))

    def _state(self, name: str, of: Any) -> TaskState:
        """A status that an earlier worker has left says nothing about this run."""
        worker = str(of.workerId())
        if worker != self._worker_id and not worker.startswith(f"{self._worker_id}/"):
            return TaskState(name, "UNASSIGNED")
        return TaskState(name, str(of.state()), of.trace() or None, worker)


def cause_of(error: Any) -> str:
    """The text of what lies at the bottom of a Java exception, one line, with the names of classes on the way.

    :param error: a `Py4JJavaError`.
    """
    texts: list[str] = []
    at = error.java_exception
    while at is not None and len(texts) < 10:
        name = str(at.getClass().getSimpleName())
        text = str(at.getMessage() or "")
        wrapper = name in ("ExecutionException", "InvocationTargetException") or text.startswith("java.")
        if not wrapper:
            texts.append(f"{name}: {first_line(text)}" if text else name)
        at = at.getCause()
    return "; caused by ".join(dict.fromkeys(texts)) or "no message"


def of_worker(error: Any) -> ConfigError | RetriableError:
    """Why a worker cannot be made: its configuration, or the brokers."""
    text = cause_of(error)
    if "ConfigException" in text and "cluster id" not in text.lower():
        return ConfigError({"worker": [f"Kafka Connect does not accept the worker configuration: {text}"]})
    return RetriableError(f"the Connect worker cannot be prepared: {text}")
