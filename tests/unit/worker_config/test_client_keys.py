"""Keys of Java's clients as librdkafka's, and keys that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config.client_keys import to_librdkafka, translated, worker_client_errors

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def errors_of(java: dict[str, str], prefix: str = "") -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        to_librdkafka(java, prefix)
    return caught.value.errors


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
            "ssl.engine.id",
            "ssl_engine_callback_data",
            "test.mock.num.brokers",
            "test.mock.broker.rtt",
            "internal.termination.signal",
            "error_cb",
            "oauth_cb",
            "ssl.certificate.verify_cb",
            "on_delivery",
            "logger",
            "opaque",
            "default.topic.config",
            "offset.store.path",
        ],
    )
    def test_a_key_that_would_load_code_is_refused(self, key: str) -> None:
        text = "is refused: it would load code, run a program or break exactly-once; remove it"
        assert errors_of({key: "x"}, "producer.") == {f"producer.{key}": [text]}

    def test_the_command_for_kerberos_tickets_is_refused(self) -> None:
        assert list(errors_of({"sasl.kerberos.kinit.cmd": "touch /tmp/x"})) == ["sasl.kerberos.kinit.cmd"]

    def test_all_refused_keys_are_named_at_once(self) -> None:
        java = {
            "plugin.library.paths": "/tmp/x.so",
            "ssl.keystore.location": "/k.jks",
            "ssl.keystore.type": "BCFKS",
            "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;",
            "linger.ms": "5",
        }
        assert set(errors_of(java)) == {"plugin.library.paths", "ssl.keystore.location", "sasl.jaas.config"}

    def test_a_buffer_memory_that_is_not_a_number_is_a_config_error(self) -> None:
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

    @pytest.mark.parametrize("side", ["truststore", "keystore"])
    @pytest.mark.parametrize("kind", [None, "JKS", "jks"])
    def test_javas_own_store_is_read_for_the_client(self, side: str, kind: str | None) -> None:
        java = {f"ssl.{side}.location": "/store", **({f"ssl.{side}.type": kind} if kind else {})}
        assert translated(java) == ({}, {})

    @pytest.mark.parametrize("side", ["truststore", "keystore"])
    def test_a_store_of_another_type_names_the_cure(self, side: str) -> None:
        java = {f"ssl.{side}.location": "/store", f"ssl.{side}.type": "BCFKS"}
        (message,) = errors_of(java)[f"ssl.{side}.location"]
        assert message == "a BCFKS store cannot be read here: convert it to PKCS12, JKS or PEM"


class TestKerberos:
    @pytest.mark.parametrize("key", ["principal", "keytab", "service.name"])
    @pytest.mark.parametrize(
        "value", ["x; id >/tmp/o #", "$(id)", "a`id`", "a b", "x\nid", "-X", "", '"', "a|b", "a&b"]
    )
    def test_a_value_that_a_shell_would_run_is_refused(self, key: str, value: str) -> None:
        assert list(errors_of({f"sasl.kerberos.{key}": value})) == [f"sasl.kerberos.{key}"]

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("principal", "kconnect/host.example.org@EXAMPLE.ORG"),
            ("keytab", "/etc/security/keytabs/kconnect-1.keytab"),
            ("service.name", "kafka"),
        ],
    )
    def test_a_usual_value_is_taken(self, key: str, value: str) -> None:
        assert to_librdkafka({f"sasl.kerberos.{key}": value}) == {f"sasl.kerberos.{key}": value}


class TestWorkerKeys:
    def test_all_that_no_client_can_honour_are_named(self) -> None:
        worker = {
            "ssl.truststore.location": "/t.store",
            "producer.plugin.library.paths": "/x.so",
            "consumer.sasl.jaas.config": "x.Y required;",
            "linger.ms": "1",
        }
        assert set(worker_client_errors(worker | {"ssl.truststore.type": "BCFKS"})) == set(worker) - {"linger.ms"}

    def test_a_type_for_one_client_counts_for_that_client(self) -> None:
        shared = {"ssl.truststore.location": "/ca.pem", "ssl.truststore.type": "BCFKS"}
        worker = shared | {f"{client}.ssl.truststore.type": "PEM" for client in ("producer", "consumer")}
        assert set(worker_client_errors(worker)) == {"ssl.truststore.location"}
        assert worker_client_errors(worker | {"admin.ssl.truststore.type": "PEM"}) == {}
