"""Java client settings as librdkafka's, and who may override what."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.clients import ClientConfigs, to_librdkafka

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
WORKER = {"bootstrap.servers": "localhost:9092"}


def errors_of(java: dict[str, str], prefix: str = "") -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        to_librdkafka(java, prefix)
    return caught.value.errors


def configs(worker: dict[str, str] | None = None, overrides: dict[str, str] | None = None) -> ClientConfigs:
    return ClientConfigs({**WORKER, **(worker or {})}, overrides, "fs")


class TestTranslation:
    @pytest.mark.parametrize(
        ("java", "expected"),
        [
            pytest.param({"linger.ms": "5"}, {"linger.ms": "5"}, id="the same in both"),
            pytest.param({"max.request.size": "9"}, {"message.max.bytes": "9"}, id="max.request.size"),
            pytest.param({"fetch.max.wait.ms": "9"}, {"fetch.wait.max.ms": "9"}, id="fetch.max.wait.ms"),
            pytest.param({"request.timeout.ms": "9"}, {"socket.timeout.ms": "9"}, id="request.timeout.ms"),
            pytest.param({"send.buffer.bytes": "9"}, {"socket.send.buffer.bytes": "9"}, id="send.buffer.bytes"),
            pytest.param(
                {"receive.buffer.bytes": "9"}, {"socket.receive.buffer.bytes": "9"}, id="receive.buffer.bytes"
            ),
            pytest.param(
                {"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": 32768}, id="buffer.memory in KiB"
            ),
            pytest.param(
                {"buffer.memory": "10"}, {"queue.buffering.max.kbytes": 1}, id="buffer.memory of less than 1 KiB"
            ),
            pytest.param(
                {"ssl.endpoint.identification.algorithm": ""},
                {"ssl.endpoint.identification.algorithm": "none"},
                id="no host name check",
            ),
            pytest.param(
                {"ssl.endpoint.identification.algorithm": "https"},
                {"ssl.endpoint.identification.algorithm": "https"},
                id="host name check",
            ),
            pytest.param(
                {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "CA"},
                {"ssl.ca.pem": "CA"},
                id="inline PEM certificates",
            ),
            pytest.param(
                {"ssl.keystore.certificate.chain": "C", "ssl.keystore.key": "K", "ssl.key.password": "p"},
                {"ssl.certificate.pem": "C", "ssl.key.pem": "K", "ssl.key.password": "p"},
                id="inline PEM key",
            ),
        ],
    )
    def test_key(self, java: dict[str, str], expected: dict[str, Any]) -> None:
        assert to_librdkafka(java) == expected

    @pytest.mark.parametrize(
        "key",
        [
            "key.serializer",
            "value.deserializer",
            "max.block.ms",
            "max.poll.records",
            "interceptor.classes",
            "metric.reporters",
            "metrics.num.samples",
            "partition.assignment.strategy",
            "client.dns.lookup",
            "partitioner.class",
            "partitioner.ignore.keys",
            "security.providers",
            "ssl.protocol",
            "ssl.enabled.protocols",
            "ssl.truststore.password",
            "sasl.login.refresh.buffer.seconds",
            "auto.include.jmx.reporter",
            "default.api.timeout.ms",
        ],
    )
    def test_a_key_without_meaning_here_is_dropped(self, key: str) -> None:
        assert to_librdkafka({key: "x"}) == {}

    @pytest.mark.parametrize(
        "key",
        [
            "plugin.library.paths",
            "ssl.providers",
            "ssl.engine.location",
            "ssl.engine.factory.class",
            "sasl.client.callback.handler.class",
            "sasl.login.callback.handler.class",
            "sasl.login.class",
            "config.providers",
            "config.providers.file.class",
        ],
    )
    def test_a_key_that_would_load_code_is_refused(self, key: str) -> None:
        text = "is refused: it would load code or break exactly-once; remove it"
        assert errors_of({key: "x"}, "producer.") == {f"producer.{key}": [text]}

    def test_the_command_for_kerberos_tickets_is_refused(self) -> None:
        assert list(errors_of({"sasl.kerberos.kinit.cmd": "touch /tmp/x"})) == ["sasl.kerberos.kinit.cmd"]

    def test_all_refused_keys_are_named_at_once(self) -> None:
        java = {
            "plugin.library.paths": "/tmp/x.so",
            "ssl.keystore.location": "/k.jks",
            "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;",
            "linger.ms": "5",
        }
        assert set(errors_of(java)) == {"plugin.library.paths", "ssl.keystore.location", "sasl.jaas.config"}

    def test_a_buffer_memory_that_is_no_number_is_a_config_error(self) -> None:
        assert list(errors_of({"buffer.memory": "32m"})) == ["buffer.memory"]


class TestJaas:
    @pytest.mark.parametrize(
        ("jaas", "user", "password"),
        [
            pytest.param(f'{PLAIN} required username="al" password="se cret";', "al", "se cret", id="PLAIN"),
            pytest.param(f'{SCRAM} required username="al" password="pw";', "al", "pw", id="SCRAM"),
            pytest.param(f'{PLAIN} required password="pw" username="al";', "al", "pw", id="the other order"),
            pytest.param(f'{PLAIN} required username="al" password="pw"', "al", "pw", id="no semicolon"),
            pytest.param(f"{PLAIN} required username=al password=pw;", "al", "pw", id="no quotes"),
            pytest.param(f'{PLAIN} required username = "al"  password = "pw" ;', "al", "pw", id="white space"),
            pytest.param(f'\n {PLAIN}\n required\n username="al"\n password="pw";\n', "al", "pw", id="several lines"),
            pytest.param(f'{PLAIN} requisite username="al" password="pw";', "al", "pw", id="another control flag"),
            pytest.param(f'{PLAIN} required username="al" password="";', "al", "", id="empty password"),
            pytest.param(f'{PLAIN} required username="al" password="a;b";', "al", "a;b", id="semicolon inside"),
            pytest.param(
                f'{PLAIN} required username="al" password="a=b c=\'d\'";', "al", "a=b c='d'", id="options inside"
            ),
            pytest.param(rf'{PLAIN} required username="al" password="a\"b";', "al", 'a"b', id="escaped quote"),
            pytest.param(rf'{PLAIN} required username="al" password="a\\b";', "al", r"a\b", id="escaped backslash"),
            pytest.param(
                rf'{PLAIN} required username="al" password="x\" username=\"evil";',
                "al",
                'x" username="evil',
                id="an option within the password is none",
            ),
            pytest.param(
                f'{SCRAM} required tokenauth="true" username="al" password="pw";', "al", "pw", id="more options"
            ),
            pytest.param(
                f'{PLAIN} required username="$ConnectionString" password="Endpoint=sb://x/;Key=a+b==";',
                "$ConnectionString",
                "Endpoint=sb://x/;Key=a+b==",
                id="Event Hubs",
            ),
        ],
    )
    def test_user_and_password(self, jaas: str, user: str, password: str) -> None:
        assert to_librdkafka({"sasl.jaas.config": jaas}) == {"sasl.username": user, "sasl.password": password}

    def test_escapes_in_the_user_are_undone(self) -> None:
        jaas = rf'{PLAIN} required username="DOM\\al" password="pw";'
        assert to_librdkafka({"sasl.jaas.config": jaas})["sasl.username"] == r"DOM\al"

    def test_single_quotes_are_quotes(self) -> None:
        jaas = f"{PLAIN} required username='al' password='p w';"
        assert to_librdkafka({"sasl.jaas.config": jaas}) == {"sasl.username": "al", "sasl.password": "p w"}

    @pytest.mark.parametrize(
        "jaas",
        [
            "",
            "nonsense",
            "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;",
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
            f'{PLAIN} username="al" password="pw";',
        ],
        ids=["empty", "nonsense", "Kerberos", "OAuth", "no control flag"],
    )
    def test_what_is_not_understood_names_the_alternative(self, jaas: str) -> None:
        (message,) = errors_of({"sasl.jaas.config": jaas}, "consumer.")["consumer.sasl.jaas.config"]
        assert "set librdkafka's own `sasl.*` keys" in message

    @pytest.mark.parametrize(
        ("options", "missing"),
        [
            ('username="al"', "password"),
            ('password="pw"', "username"),
            ("", "username and password"),
        ],
        ids=["password", "username", "both"],
    )
    def test_missing_options_are_named(self, options: str, missing: str) -> None:
        jaas = f"{PLAIN} required {options};"
        assert errors_of({"sasl.jaas.config": jaas}) == {"sasl.jaas.config": [f"lacks the option {missing}"]}

    def test_no_error_tells_the_password(self) -> None:
        assert "pw123" not in str(errors_of({"sasl.jaas.config": 'x.Y required username="al" password="pw123";'}))


class TestStores:
    @pytest.mark.parametrize(
        ("java", "expected"),
        [
            pytest.param(
                {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem"},
                {"ssl.ca.location": "/ca.pem"},
                id="PEM truststore",
            ),
            pytest.param(
                {"ssl.keystore.type": "pem", "ssl.keystore.location": "/k.pem", "ssl.key.password": "p"},
                {"ssl.certificate.location": "/k.pem", "ssl.key.location": "/k.pem", "ssl.key.password": "p"},
                id="PEM keystore",
            ),
            pytest.param(
                {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/k.p12", "ssl.keystore.password": "p"},
                {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "p"},
                id="PKCS12 keystore",
            ),
        ],
    )
    def test_store_that_can_be_read(self, java: dict[str, str], expected: dict[str, str]) -> None:
        assert to_librdkafka(java) == expected

    @pytest.mark.parametrize(
        ("side", "kind"),
        [
            ("truststore", None),
            ("keystore", None),
            ("truststore", "JKS"),
            ("keystore", "JKS"),
            ("truststore", "PKCS12"),
        ],
        ids=str,
    )
    def test_store_that_cannot_be_read_names_the_cure(self, side: str, kind: str | None) -> None:
        java = {f"ssl.{side}.location": "/store", **({f"ssl.{side}.type": kind} if kind else {})}
        (message,) = errors_of(java)[f"ssl.{side}.location"]
        assert message.startswith(f"a {kind or 'JKS'} store cannot be read here; convert it")


PRECEDENCE = [
    pytest.param({}, {}, 50, id="our default"),
    pytest.param({"producer.linger.ms": "1"}, {}, "1", id="worker"),
    pytest.param({"producer.linger.ms": "1"}, {"producer.override.linger.ms": "2"}, "2", id="connector over worker"),
    pytest.param({"linger.ms": "1"}, {}, 50, id="a worker key without prefix is the worker's own"),
    pytest.param({}, {"linger.ms": "1"}, 50, id="a connector key without prefix is the connector's own"),
    pytest.param({}, {"consumer.override.linger.ms": "1"}, 50, id="another client's override"),
    pytest.param({"producer.override.linger.ms": "1"}, {}, 50, id="an override in the worker is none"),
]


class TestPrecedence:
    @pytest.mark.parametrize(("worker", "overrides", "expected"), PRECEDENCE)
    def test_of_a_producer_key(self, worker: dict[str, str], overrides: dict[str, str], expected: Any) -> None:
        assert configs(worker, overrides).producer("t")["linger.ms"] == expected

    @pytest.mark.parametrize(
        ("worker", "overrides", "expected"),
        [
            ({"security.protocol": "SSL"}, {}, "SSL"),
            ({"security.protocol": "SSL", "consumer.security.protocol": "SASL_SSL"}, {}, "SASL_SSL"),
            (
                {"security.protocol": "SSL", "consumer.security.protocol": "SASL_SSL"},
                {"consumer.override.security.protocol": "PLAINTEXT"},
                "PLAINTEXT",
            ),
        ],
        ids=["worker", "prefixed worker key", "override"],
    )
    def test_of_a_security_key(self, worker: dict[str, str], overrides: dict[str, str], expected: str) -> None:
        assert configs(worker, overrides).consumer("g")["security.protocol"] == expected

    def test_security_of_the_worker_counts_for_every_client(self) -> None:
        found = configs({"security.protocol": "SSL"})
        clients = (found.admin(), found.producer(None), found.producer("t"), found.consumer("g"))
        assert [client["security.protocol"] for client in clients] == ["SSL"] * 4

    def test_an_override_of_one_client_does_not_touch_the_others(self) -> None:
        found = configs(overrides={"producer.override.security.protocol": "SSL"})
        assert "security.protocol" not in found.consumer("g") | found.admin()

    def test_a_key_that_cannot_be_honoured_is_named_with_its_client(self) -> None:
        with pytest.raises(ConfigError, match=r"`producer\.plugin\.library\.paths`"):
            configs(overrides={"producer.override.plugin.library.paths": "/x.so"}).producer("t")


class TestWhatExactlyOnceNeeds:
    @pytest.mark.parametrize("where", ["producer.", "producer.override."], ids=["worker", "connector"])
    @pytest.mark.parametrize(
        ("key", "theirs", "ours"),
        [
            ("acks", "1", "all"),
            ("enable.idempotence", "false", True),
            ("partitioner", "random", "murmur2_random"),
            ("transactional.id", "evil", "g-fs-0"),
            ("delivery.report.only.error", "false", True),
        ],
    )
    def test_a_producer_key_cannot_be_overridden(self, where: str, key: str, theirs: str, ours: Any) -> None:
        assert ClientConfigs(WORKER | {where + key: theirs}, {where + key: theirs}).producer("g-fs-0")[key] == ours

    @pytest.mark.parametrize("where", ["consumer.", "consumer.override."], ids=["worker", "connector"])
    @pytest.mark.parametrize(
        ("key", "theirs", "ours"),
        [
            ("group.id", "evil", "connect-fs"),
            ("isolation.level", "read_uncommitted", "read_committed"),
            ("enable.auto.commit", "true", False),
            ("enable.auto.offset.store", "true", False),
            ("enable.partition.eof", "false", True),
            ("auto.offset.reset", "latest", "error"),
        ],
    )
    def test_a_consumer_key_cannot_be_overridden(self, where: str, key: str, theirs: str, ours: Any) -> None:
        assert ClientConfigs(WORKER | {where + key: theirs}, {where + key: theirs}).consumer("connect-fs")[key] == ours

    def test_a_producer_without_transactions_has_no_transactional_id(self) -> None:
        assert "transactional.id" not in configs({"producer.transactional.id": "evil"}).producer(None)

    def test_a_producer_without_transactions_has_no_transaction_timeout(self) -> None:
        assert "transaction.timeout.ms" not in configs({"producer.transaction.timeout.ms": "9"}).producer(None)

    @pytest.mark.parametrize(
        ("worker", "overrides", "expected"),
        [
            ({}, {}, 60_000),
            ({"producer.transaction.timeout.ms": "30000"}, {}, 30_000),
            ({"producer.transaction.timeout.ms": "30000"}, {"producer.override.transaction.timeout.ms": "9000"}, 9_000),
        ],
        ids=["default", "worker", "connector"],
    )
    def test_transaction_timeout(self, worker: dict[str, str], overrides: dict[str, str], expected: int) -> None:
        assert configs(worker, overrides).transaction_timeout_ms == expected


class TestClients:
    def test_client_ids_are_those_of_connect(self) -> None:
        found = configs()
        assert [client["client.id"] for client in (found.admin(), found.producer("t"), found.consumer("g"))] == [
            "connector-adminclient-fs",
            "connector-producer-fs",
            "connector-consumer-fs",
        ]

    def test_a_bulk_consumer_waits_for_fuller_answers(self) -> None:
        wait = "fetch.wait.max.ms"
        assert configs().consumer("g", bulk=True)[wait] > configs().consumer("g")[wait]

    def test_librdkafka_takes_the_defaults_of_every_client(self) -> None:
        found = configs()
        AdminClient(found.admin())
        Producer(found.producer(None))
        Producer(found.producer("t"))
        Consumer(found.consumer("g")).close()

    @pytest.mark.parametrize(
        "key",
        [
            "socket.connection.setup.timeout.max.ms",
            "metadata.max.idle.ms",
            "compression.gzip.level",
            "compression.lz4.level",
            "compression.zstd.level",
            "partitioner.adaptive.partitioning.enable",
            "partitioner.availability.timeout.ms",
            "sasl.kerberos.ticket.renew.jitter",
        ],
    )
    def test_librdkafka_takes_any_key_of_a_java_producer(self, key: str) -> None:
        Producer(configs({f"producer.{key}": "1"}).producer("t"))
