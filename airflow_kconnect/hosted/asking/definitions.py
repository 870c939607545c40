"""Asks Java plug-ins for their keys and for what they think of a configuration, in a JVM that connects to no broker."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.hosted.jvm import libraries
from airflow_kconnect.hosted.jvm.jvm import HostJvm
from airflow_kconnect.hosted.jvm.own_classes import own_jar
from airflow_kconnect.hosted.worker.herder import cause_of
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.worker_config.keys import WorkerConfig

T = TypeVar("T")

ASK_S = 20.0
"""How long a plug-in may take for an answer: some ask their database while they validate."""
OFFSETS_S = 60.0
"""How long a plug-in may take to alter offsets that it keeps itself."""

_MEMORY = "256m"
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_POLICY = "connector.client.config.override.policy"
_NOT_FOUND = "Failed to find any class that implements"
_MISSING = re.compile(r"NoClassDefFoundError: (\S+)|ClassNotFoundException: (\S+)")


class PluginJvm:
    """A JVM with Connect's own herder, which answers as `/connector-plugins` of a Connect worker does.

    No worker is started. A plug-in's own validation may well connect to its system, as in Connect. Use it as a context
    manager.

    :param plugins: what is below `plugin.path`.
    :param worker: its converters are the defaults of connectors.
    :param folder: private, for the log.
    :raises SetupError: there is no Java, or no Spark, whose jars have the bridge to Python.
    :raises RetriableError: Connect's runtime could not be downloaded.
    """

    def __init__(self, plugins: JavaPlugins, worker: WorkerConfig, folder: Path) -> None:
        java = find_java()
        jars = libraries.class_path(java)
        # No class of it is needed here, but with the class path of runs their archive of classes is used.
        jars.append(own_jar(java, jars, folder))
        self._jvm = HostJvm(java, jars, folder, memory=_MEMORY, options=("-XX:TieredStopAtLevel=1",))
        self._properties = _properties(plugins, worker, folder)
        self._herder: Any = None
        self._plugins: Any = None
        self._mapper: Any = None

    def __enter__(self) -> PluginJvm:
        self._jvm.start()
        try:
            self._answer("preparing Kafka Connect", self._prepare)
        except BaseException:
            self._jvm.kill()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._jvm.kill()

    @property
    def is_alive(self) -> bool:
        """Whether it still answers."""
        return self._jvm.is_alive

    def keys(self, name: str, version: str | None = None) -> list[dict[str, Any]]:
        """The keys of a plug-in, as `GET /connector-plugins/{plugin}/config` shows them.

        :param name: full name of the class.
        :param version: None means the newest.
        """

        def ask() -> Any:
            utils = self._connect.runtime.isolation.PluginUtils
            wanted = utils.connectorVersionRequirement(version) if version else None
            return self._herder.connectorPluginConfig(name, wanted)

        answer: list[dict[str, Any]] = self._json(f"asking {name} for its keys", ask)
        return answer

    def check_keys(self, config: Mapping[str, str]) -> dict[str, Any]:
        """The `ConfigInfos` of the connector's own keys, each by itself: its type, and its own validator.

        What the class would try with them is left out: its `validate`, and its recommenders, which list the tables of a
        database, for example.

        :param config: with `connector.class`, a full name.
        """
        name = config["connector.class"]

        def ask() -> Any:
            utils, runtime = self._connect.runtime.isolation.PluginUtils, self._connect.runtime
            wanted = utils.connectorVersionRequirement(config.get("connector.plugin.version"))
            # Values may be names of classes of the plug-in.
            swap = self._plugins.withClassLoader(self._plugins.connectorLoader(name, wanted))
            try:
                definition = self._plugins.newConnector(name, wanted).config()
                groups = self._jvm.view.java.util.ArrayList()
                with self._without_recommenders(definition):
                    values = definition.validate(self._jvm.text_map(config))
                return runtime.AbstractHerder.generateResult(name, definition.configKeys(), values, groups)
            finally:
                swap.close()

        answer: dict[str, Any] = self._json(f"asking {name} for its keys", ask)
        return answer

    def validate(self, config: Mapping[str, str]) -> dict[str, Any]:
        """The `ConfigInfos` of a configuration, as `PUT /connector-plugins/{plugin}/config/validate` answers.

        :param config: without keys of our own, variables resolved.
        """

        def ask() -> Any:
            done = self._connect.util.FutureCallback()
            self._herder.validateConnectorConfig(self._jvm.text_map(config), done, False)
            return done.get(int(ASK_S), self._jvm.view.java.util.concurrent.TimeUnit.SECONDS)

        answer: dict[str, Any] = self._json(f"asking {config.get('connector.class')} about its configuration", ask)
        return answer

    def alter_offsets(
        self, config: Mapping[str, str], changes: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    ) -> bool:
        """Have a connector check offsets, and alter them where it stores some itself; returns whether it does that.

        A Connect worker does the same before it writes offsets.

        :param config: with `connector.class`, a full name; variables resolved.
        :param changes: partitions and offsets as Connect's REST API has them; an offset of None means reset.
        :raises ConfigError: keyed by `offsets`, the class refuses. :raises RetriableError: it does not answer.
        """
        from py4j.protocol import Py4JJavaError

        name = config["connector.class"]
        doing = f"asking {name} about offsets"

        def ask() -> bool:
            connect = self._connect
            wanted = connect.runtime.isolation.PluginUtils.connectorVersionRequirement(
                config.get("connector.plugin.version")
            )
            swap = self._plugins.withClassLoader(self._plugins.connectorLoader(name, wanted))
            try:
                connector, offsets = self._plugins.newConnector(name, wanted), self._offsets(changes)
                if connect.util.ConnectUtils.isSinkConnector(connector):
                    offsets = connect.util.SinkUtils.parseSinkConnectorOffsets(offsets)
                return bool(connector.alterOffsets(self._jvm.text_map(config), offsets))
            finally:
                swap.close()

        try:
            return self._jvm.call(doing, ask, timeout_s=OFFSETS_S)
        except Py4JJavaError as error:
            raise self._refusal(doing, config.get("name", ""), error) from None

    @property
    def _connect(self) -> Any:
        return self._jvm.view.org.apache.kafka.connect

    @contextmanager
    def _without_recommenders(self, definition: Any) -> Iterator[None]:
        """The same definition, which a class may share between its instances: one question is asked at a time."""
        recommender = self._jvm.java_class("org.apache.kafka.common.config.ConfigDef$ConfigKey").getField("recommender")
        recommender.setAccessible(True)
        keys = [entry.getValue() for entry in self._jvm.items(definition.configKeys().entrySet())]
        of_keys = [(key, recommender.get(key)) for key in keys]
        try:
            for key, own in of_keys:
                if own is not None:
                    recommender.set(key, None)
            yield
        finally:
            for key, own in of_keys:
                if own is not None:
                    recommender.set(key, own)

    def _prepare(self) -> None:
        connect, jvm = self._connect, self._jvm
        texts = jvm.text_map(self._properties)
        plugins = self._plugins = connect.runtime.isolation.Plugins(texts)
        plugins.compareAndSwapWithDelegatingLoader()
        config = connect.runtime.standalone.StandaloneConfig(texts)
        # Else the worker would ask the brokers for it.
        cluster = jvm.java_class("org.apache.kafka.connect.runtime.WorkerConfig").getDeclaredField("kafkaClusterId")
        cluster.setAccessible(True)
        cluster.set(config, "none")
        interface = jvm.java_class(f"{_POLICY_PACKAGE}.ConnectorClientConfigOverridePolicy")
        policy = plugins.newPlugin(config.getString(_POLICY), config, interface)
        time = jvm.view.org.apache.kafka.common.utils.Time.SYSTEM
        worker = connect.runtime.Worker("plugins", time, plugins, config, None, policy)
        self._herder = connect.runtime.standalone.StandaloneHerder(worker, "none", policy)
        self._mapper = jvm.view.com.fasterxml.jackson.databind.ObjectMapper()

    def _offsets(self, changes: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]) -> Any:
        """A Java map of partitions to offsets, in which whole numbers are `Long`, as in what Connect has stored."""
        converter = self._connect.json.JsonConverter()
        converter.configure(self._jvm.text_map({"schemas.enable": "false"}), True)
        result = self._jvm.view.java.util.HashMap()
        for partition, offset in changes:
            data = [None if each is None else json.dumps(each).encode() for each in (partition, offset)]
            result.put(*(None if each is None else converter.toConnectData("", each).value() for each in data))
        return result

    def _refusal(self, doing: str, name: str, error: Any) -> ConnectError:
        """Connect's text for what `alterOffsets` of a class throws."""
        thrown, cause = error.java_exception, cause_of(error)
        if _is_about_loading(cause):
            return _failure(doing, cause)
        if self._jvm.java_class("java.lang.UnsupportedOperationException").isInstance(thrown):
            text = f"Failed to modify offsets for connector {name} because it doesn't support external modification of"
            return ConfigError({"offsets": [f"{text} offsets"]})
        if self._jvm.java_class("org.apache.kafka.connect.errors.ConnectException").isInstance(thrown):
            return ConfigError({"offsets": [str(thrown.getMessage() or cause)]})
        return ConfigError({"offsets": [f"Failed to modify offsets for connector {name}: {cause}"]})

    def _json(self, doing: str, ask: Callable[[], Any]) -> Any:
        return json.loads(self._answer(doing, lambda: str(self._mapper.writeValueAsString(ask()))))

    def _answer(self, doing: str, ask: Callable[[], T]) -> T:
        from py4j.protocol import Py4JJavaError

        try:
            return self._jvm.call(doing, ask, timeout_s=ASK_S + 10)
        except Py4JJavaError as error:
            raise _failure(doing, cause_of(error)) from None


_POLICY_PACKAGE = "org.apache.kafka.connect.connector.policy"


def _is_about_loading(cause: str) -> bool:
    return _NOT_FOUND in cause or _MISSING.search(cause) is not None


def _failure(doing: str, cause: str) -> ConnectError:
    if missing := _MISSING.search(cause):
        name = (missing[1] or missing[2]).replace("/", ".")
        text = f"{doing}: the plug-in needs class {name}, which none of its jars has: install it again, with everything"
        return ConfigError({"connector.class": [f"{text} that it needs"]})
    if _NOT_FOUND in cause:
        # Connect adds a list of all classes of all plug-ins.
        text = f"{doing}: Java cannot load the class. Its plug-in may lack jars that it needs: install it again, with"
        return ConfigError({"connector.class": [f"{text} everything that it needs"]})
    if "TimeoutException" in cause:
        why = "does it wait for a system that cannot be reached from here?"
        return RetriableError(f"{doing}: no answer within {ASK_S:.0f} s; {why}")
    return ConfigError({"connector.class": [f"{doing}: {cause}"]})


def _properties(plugins: JavaPlugins, worker: WorkerConfig, folder: Path) -> dict[str, str]:
    converters = {
        key: text for key, text in worker.props.items() if re.match(r"(key|value|header)\.converter(\.|$)", key)
    }
    return {
        "bootstrap.servers": "127.0.0.1:9",
        "key.converter": _JSON,
        "value.converter": _JSON,
        **converters,
        "offset.storage.file.filename": str(folder / "offsets"),
        "listeners": "http://127.0.0.1:0",
        "plugin.path": ",".join(str(element) for element in plugins.plugin_path if element.exists()),
        "plugin.discovery": "service_load",
        _POLICY: str(worker.get(_POLICY)),
    }
