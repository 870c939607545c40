"""Which client settings a connector may override, and which it may not whatever the policy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import confluent_kafka
import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config.client_keys import to_librdkafka
from airflow_kconnect.worker_config.override_policy import ALLOWLIST, DEFAULT_ALLOWLIST, POLICY, override_errors

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";'
POLICIES = ["All", "None", "Principal", "Allowlist"]

# Settings that a worker can allow by name, or with the policy All: they read files that hold certificates, lead to
# other brokers, weaken the encryption, or are of no use.
WORKERS_CAN_ALLOW = """
    allow.auto.create.topics api.version.fallback.ms api.version.request api.version.request.timeout.ms
    auto.commit.enable auto.commit.interval.ms bootstrap.servers broker.address.family broker.address.ttl
    broker.version.fallback builtin.features consume.callback.max.messages coordinator.query.interval.ms
    delivery.report.only.error enable.gapless.guarantee enable.metrics.push
    enable.partition.eof enable.random.seed enable.ssl.certificate.verification group.protocol group.protocol.type
    group.remote.assignor log.connection.close log.queue log.thread.name log_level metadata.broker.list msg_order_cmp
    offset.store.sync.interval.ms produce.offset.report queue.buffering.backpressure.threshold
    queuing.strategy reconnect.backoff.jitter.ms sasl.kerberos.keytab sasl.kerberos.min.time.before.relogin
    sasl.kerberos.principal sasl.kerberos.service.name share.acknowledgement.mode socket.blocking.max.ms
    socket.max.fails ssl.ca.certificate.stores ssl.ca.location ssl.ca.pem ssl.certificate.location
    ssl.cipher.suites ssl.crl.location ssl.curves.list ssl.endpoint.identification.algorithm ssl.key.location
    ssl.keystore.location ssl.keystore.password ssl.sigalgs.list ssl_ca ssl_certificate ssl_key statistics.interval.ms
    topic.blacklist topic.metadata.propagation.max.ms topic.metadata.refresh.fast.cnt
    topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.sparse
"""

REFUSED = """
    closesocket_cb connect_cb consume_cb debug default_topic_conf dr_cb dr_msg_cb enabled_events error_cb
    background_event_cb enable.sasl.oauthbearer.unsecure.jwt https.ca.location https.ca.pem interceptors
    internal.termination.signal log_cb oauthbearer_token_refresh_cb offset.store.method offset.store.path
    offset_commit_cb opaque open_cb partitioner_cb plugin.library.paths rebalance_cb resolve_cb
    sasl.kerberos.kinit.cmd socket_cb ssl.certificate.verify_cb ssl.engine.id ssl.engine.location ssl.providers
    ssl_engine_callback_data stats_cb throttle_cb
"""

PRINT_KEYS = """
import ctypes, sys
libc, library = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1])
library.rd_kafka_conf_properties_show(ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


def errors_of(key: str, value: str = "x", worker: dict[str, str] | None = None) -> list[str]:
    return override_errors({f"producer.override.{key}": value}, worker or {}).get(f"producer.override.{key}", [])


@pytest.fixture(scope="module")
def librdkafka_keys() -> set[str]:
    """All settings of the client that is installed, as it lists them itself."""
    (library,) = (Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs").glob("librdkafka-*")
    shown = subprocess.run([sys.executable, "-c", PRINT_KEYS, library], capture_output=True, text=True, check=True)
    return set(re.findall(r"^([\w.]+) +\| +[*CP] +\|", shown.stdout, re.MULTILINE))


class TestEachSettingOfTheInstalledClient:
    def test_is_classified(self, librdkafka_keys: set[str]) -> None:
        known = {*DEFAULT_ALLOWLIST, *WORKERS_CAN_ALLOW.split(), *REFUSED.split()}
        unknown = {key for key in librdkafka_keys - known if not key.startswith("sasl.oauthbearer.")}
        assert unknown == set(), "decide about them here: may a connector override them?"

    @pytest.mark.parametrize("policy", POLICIES)
    def test_that_loads_code_or_names_addresses_is_refused(self, librdkafka_keys: set[str], policy: str) -> None:
        keys = {*REFUSED.split(), *(key for key in librdkafka_keys if key.startswith("sasl.oauthbearer."))}
        worker = {POLICY: policy, ALLOWLIST: ",".join(keys)}
        assert [key for key in keys if not errors_of(key, "x", worker)] == []

    @pytest.mark.parametrize("policy", POLICIES)
    def test_that_no_one_may_set_does_not_point_to_the_policy(self, policy: str) -> None:
        (message,) = errors_of("ssl.providers", "x.so", {POLICY: policy})
        assert message.startswith("is refused: it would load code")

    def test_in_the_default_list_reaches_the_client_or_is_known_to_have_no_effect(
        self, librdkafka_keys: set[str]
    ) -> None:
        values = {"sasl.jaas.config": PLAIN, "buffer.memory": "1024", "ssl.keystore.type": "PEM"}
        translated = {key for name in DEFAULT_ALLOWLIST for key in to_librdkafka({name: values.get(name, "1")})}
        assert translated - librdkafka_keys == set()


class TestDefault:
    @pytest.mark.parametrize(
        "key",
        [
            *("auto.offset.reset", "max.poll.records", "max.poll.interval.ms", "fetch.min.bytes", "fetch.max.bytes"),
            *("max.partition.fetch.bytes", "batch.size", "linger.ms", "compression.type", "max.request.size"),
            *("request.timeout.ms", "delivery.timeout.ms", "transaction.timeout.ms", "session.timeout.ms", "group.id"),
            *("client.id", "client.rack", "acks", "isolation.level", "sasl.mechanism", "sasl.username"),
        ],
    )
    def test_allows_what_connectors_usually_override(self, key: str) -> None:
        assert errors_of(key) == []

    def test_allows_a_principal_of_the_connectors_own(self) -> None:
        assert errors_of("sasl.jaas.config", PLAIN) == []

    def test_refuses_other_login_modules(self) -> None:
        (message,) = errors_of("sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required;")
        assert message.startswith("only PlainLoginModule and ScramLoginModule are understood here")

    @pytest.mark.parametrize(
        "key",
        ["bootstrap.servers", "metadata.broker.list", "ssl.ca.location", "enable.ssl.certificate.verification", "new"],
    )
    def test_error_names_the_key_and_what_would_allow_it(self, key: str) -> None:
        (message,) = errors_of(key)
        assert message == (
            f"The 'Allowlist' policy does not allow '{key}' to be overridden in the connector configuration. To allow "
            "it, name it in the worker's `connector.client.config.override.allowlist`, which replaces the default list"
        )

    def test_list_of_the_worker_replaces_it(self) -> None:
        worker = {ALLOWLIST: "ssl.ca.location , acks"}
        assert [bool(errors_of(key, "x", worker)) for key in ("ssl.ca.location", "acks", "linger.ms")] == [
            *(False, False, True)
        ]

    @pytest.mark.parametrize(
        ("of_worker", "own", "allowed"),
        [
            ("SASL_SSL", "SASL_PLAINTEXT", False),
            ("SASL_SSL", "PLAINTEXT", False),
            ("SSL", "plaintext", False),
            ("sasl_ssl", "SASL_PLAINTEXT", False),
            ("SASL_SSL", "SSL", True),
            ("SSL", "SASL_SSL", True),
            ("SASL_PLAINTEXT", "PLAINTEXT", True),
            (None, "SASL_PLAINTEXT", True),
        ],
    )
    def test_encryption_cannot_be_turned_off(self, of_worker: str | None, own: str, allowed: bool) -> None:
        worker = {} if of_worker is None else {"security.protocol": of_worker}
        assert (errors_of("security.protocol", own, worker) == []) is allowed

    def test_the_encryption_that_a_provider_of_tokens_brings_cannot_be_turned_off(self) -> None:
        worker = {"kconnect.oauth.provider": "aws_msk_iam"}
        assert errors_of("security.protocol", "SASL_PLAINTEXT", worker) != []

    def test_encryption_of_one_client_counts_for_that_client(self) -> None:
        worker = {"producer.security.protocol": "SSL"}
        overrides = {f"{client}.override.security.protocol": "PLAINTEXT" for client in ("producer", "consumer")}
        assert list(override_errors(overrides, worker)) == ["producer.override.security.protocol"]


class TestOtherPolicies:
    def test_all_allows_other_brokers(self) -> None:
        assert errors_of("bootstrap.servers", "other:9092", {POLICY: "All"}) == []

    def test_principal_allows_the_login_alone(self) -> None:
        keys = ["sasl.jaas.config", "sasl.mechanism", "security.protocol", "linger.ms"]
        found = [bool(errors_of(key, PLAIN, {POLICY: "Principal"})) for key in keys]
        assert found == [False, False, False, True]

    def test_a_value_that_is_not_understood_is_an_error_whatever_the_policy(self) -> None:
        assert errors_of("buffer.memory", "32m", {POLICY: "All"}) == ["Invalid value 32m: expected a number of bytes"]

    def test_a_store_is_understood_by_the_type_that_the_worker_names(self) -> None:
        worker = {POLICY: "All", "ssl.truststore.type": "PEM"}
        assert errors_of("ssl.truststore.location", "/ca.pem", worker) == []

    def test_errors_of_the_worker_are_not_those_of_the_connector(self) -> None:
        worker = {"ssl.truststore.location": "/t.jks"}
        assert override_errors({"producer.override.linger.ms": "1"}, worker) == {}


def test_nothing_that_is_refused_is_translated() -> None:
    of_workers = ("debug", "https.", "enable.sasl")
    for key in REFUSED.split():
        if key.startswith(of_workers):
            continue
        with pytest.raises(ConfigError):
            to_librdkafka({key: "x"})
