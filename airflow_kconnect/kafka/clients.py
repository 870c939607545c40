"""Client configurations for librdkafka from Connect's worker keys and connector overrides.

Precedence as in Connect: our defaults < worker's plain ``security.*``, ``sasl.*``, ``ssl.*`` < worker's ``producer.``
/ ``consumer.`` / ``admin.`` keys < the connector's ``*.override.`` keys < what correctness needs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError

Config = dict[str, Any]

_SHARED_PREFIXES = ("security.", "sasl.", "ssl.")
_SHARED_KEYS = ("bootstrap.servers", "client.dns.lookup", "request.timeout.ms", "metadata.max.age.ms")

# Java's names for what librdkafka calls otherwise.
_RENAMED = {
    "max.request.size": "message.max.bytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
}
# Keys of Java clients that have no meaning here; they do no harm and are dropped.
_DROPPED = re.compile(
    r"(key|value)\.(de)?serializer|max\.block\.ms|max\.poll\.records|interceptor\.classes|metric.*|metrics\..*"
    r"|partition\.assignment\.strategy|client\.dns\.lookup|partitioner\.class|partitioner\..*\.keys"
    r"|security\.providers|ssl\.provider|ssl\.protocol|ssl\.enabled\.protocols|ssl\.keymanager\.algorithm"
    r"|ssl\.trustmanager\.algorithm|ssl\.secure\.random\.implementation|ssl\.truststore\.type|ssl\.keystore\.type"
    r"|ssl\.truststore\.password|sasl\.login\..*|auto\.include\.jmx\.reporter|exclude\.internal\.topics"
    r"|default\.api\.timeout\.ms|enable\.metrics\.push|metadata\.max\.idle\.ms|compression\.\w+\.level"
    r"|socket\.connection\.setup\.timeout\.max\.ms|partitioner\.(adaptive|availability)\..*"
    r"|sasl\.kerberos\.(ticket\.renew.*|min\.time\.before\.relogin)"
)
# Would load code or files of the attacker's choice, or break exactly-once.
_REFUSED = re.compile(
    r"plugin\.library\.paths|ssl\.providers|ssl\.engine\.(location|factory\.class)|.*callback\.handler\.class"
    r"|sasl\.login\.class|config\.providers.*|sasl\.kerberos\.kinit\.cmd"
)
_JAAS = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?:required|requisite|sufficient|optional)\s*(?P<options>.*?);?\s*", re.S)
_JAAS_OPTION = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"';]+))""")


def _client(worker: Mapping[str, str], overrides: Mapping[str, str], prefix: str, defaults: Config) -> Config:
    merged: Config = dict(defaults)
    java = {k: v for k, v in worker.items() if k.startswith(_SHARED_PREFIXES) or k in _SHARED_KEYS}
    java |= {k.removeprefix(prefix): v for k, v in worker.items() if k.startswith(prefix)}
    override = f"{prefix}override."
    java |= {k.removeprefix(override): v for k, v in overrides.items() if k.startswith(override)}
    merged.update(to_librdkafka(java, prefix))
    return merged


def to_librdkafka(java: Mapping[str, str], prefix: str = "") -> Config:
    """Translate a Java client configuration.

    :param prefix: how the keys were written, for error texts.
    :raises ConfigError: for keys that cannot be honoured (JKS stores, custom classes), all at once.
    """
    errors: dict[str, list[str]] = {}
    config: Config = {}
    for key, value in java.items():
        if _REFUSED.fullmatch(key):
            errors[f"{prefix}{key}"] = ["is refused: it would load code or break exactly-once; remove it"]
        elif key == "sasl.jaas.config":
            _jaas(value, f"{prefix}{key}", config, errors)
        elif key in ("ssl.truststore.location", "ssl.keystore.location"):
            _store(key, value, java, config, errors)
        elif key == "buffer.memory":
            if value.isdecimal():
                config["queue.buffering.max.kbytes"] = max(int(value) // 1024, 1)
            else:
                errors[f"{prefix}{key}"] = [f"Invalid value {value}: expected a number of bytes"]
        elif key == "ssl.endpoint.identification.algorithm":
            config[key] = value or "none"
        elif not _DROPPED.fullmatch(key):
            config[_RENAMED.get(key, key)] = value
    if errors:
        raise ConfigError(errors)
    return config


def _jaas(value: str, key: str, config: Config, errors: dict[str, list[str]]) -> None:
    match = _JAAS.fullmatch(value)
    module = match["module"].rpartition(".")[2] if match else ""
    if not match or module not in ("PlainLoginModule", "ScramLoginModule"):
        errors[key] = [
            "only PlainLoginModule and ScramLoginModule are understood here;"
            " for others set librdkafka's own `sasl.*` keys (e.g. `sasl.oauthbearer.method`)"
        ]
        return
    options = {name: _unescaped("".join(value)) for name, *value in _JAAS_OPTION.findall(match["options"])}
    missing = [name for name in ("username", "password") if name not in options]
    if missing:
        errors[key] = [f"lacks the option {' and '.join(missing)}"]
        return
    config["sasl.username"] = options["username"]
    config["sasl.password"] = options["password"]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _store(key: str, value: str, java: Mapping[str, str], config: Config, errors: dict[str, list[str]]) -> None:
    side = key.split(".")[1]
    kind = java.get(f"ssl.{side}.type", "JKS").upper()
    if kind == "PEM" and side == "truststore":
        config["ssl.ca.location"] = value
    elif kind == "PEM":
        config["ssl.certificate.location"] = config["ssl.key.location"] = value
    elif kind == "PKCS12" and side == "keystore":
        config[key] = value
    else:
        errors[key] = [
            f"a {kind} store cannot be read here; convert it (keytool -exportcert -rfc / openssl pkcs12) and set"
            f" `ssl.{side}.type=PEM`, or set librdkafka's `ssl.ca.location`"
        ]


class ClientConfigs:
    """The clients' configurations of one connector.

    :param worker: worker keys, variables resolved.
    :param overrides: the connector's configuration (its ``*.override.*`` keys count).
    :param name: connector name, for the client ids.
    :raises ConfigError: when a key cannot be honoured.
    """

    def __init__(self, worker: Mapping[str, str], overrides: Mapping[str, str] | None = None, name: str = "") -> None:
        self._worker = dict(worker)
        self._overrides = dict(overrides or {})
        self._name = name

    def admin(self) -> Config:
        """For the admin client."""
        defaults: Config = {"client.id": f"connector-adminclient-{self._name}"}
        return _quiet(_client(self._worker, self._overrides, "admin.", defaults))

    def producer(self, transactional_id: str | None) -> Config:
        """For a producer; exactly-once when it has a transactional id.

        The queue is capped: librdkafka's default of 1 GiB would be taken by every Spark core.
        """
        defaults: Config = {
            "client.id": f"connector-producer-{self._name}",
            "linger.ms": 50,
            "batch.size": 1_048_576,
            "batch.num.messages": 100_000,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 200_000,
            "queue.buffering.max.kbytes": 65_536,
        }
        config = _quiet(_client(self._worker, self._overrides, "producer.", defaults))
        config |= {
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": "murmur2_random",  # Java's default: a topic may be shared with Connect
            "delivery.report.only.error": True,
        }
        config.pop("transactional.id", None)
        if transactional_id is None:
            return {k: v for k, v in config.items() if k != "transaction.timeout.ms"}
        return config | {"transactional.id": transactional_id}

    def consumer(self, group: str, *, bulk: bool = False) -> Config:
        """For a consumer that is assigned its partitions and never commits by itself.

        :param bulk: tuned for reading many records of few partitions.
        """
        defaults: Config = {
            "client.id": f"connector-consumer-{self._name}",
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 50 if bulk else 10,
            "fetch.queue.backoff.ms": 5,
            # More in the queue is no quicker, and each reader would hold hundreds of megabytes (measured).
            "queued.min.messages": 100_000,
            "queued.max.messages.kbytes": 16_384,
        }
        config = _quiet(_client(self._worker, self._overrides, "consumer.", defaults))
        return config | {
            "group.id": group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        }

    @property
    def transaction_timeout_ms(self) -> int:
        """The producers' ``transaction.timeout.ms``; 60 s unless it is set."""
        value = str(self.producer("x").get("transaction.timeout.ms", 60_000))
        if not value.isdecimal():
            text = f"Invalid value {value} for configuration transaction.timeout.ms: Not a number of type INT"
            raise ConfigError({"producer.override.transaction.timeout.ms": [text]})
        return int(value)


def _quiet(config: Config) -> Config:
    # Connection refusals and the like are reported by our own errors, once, instead of on stderr for ever.
    return {"log_level": 2} | config
