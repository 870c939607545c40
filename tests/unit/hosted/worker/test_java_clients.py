"""Settings by which librdkafka reaches brokers, as Java's clients know them."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.worker.java_clients import java_client_keys

LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanisms": "SCRAM-SHA-512",
    "sasl.username": "ann",
    "sasl.password": 'se"cret\\1',
}
JAAS = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required"
    r' username="ann" password="se\"cret\\1";'
)


@pytest.mark.parametrize("prefix", ["", "producer.", "consumer.", "admin."])
def test_a_login_is_given_to_each_kind_of_client(prefix: str) -> None:
    keys = java_client_keys({"bootstrap.servers": "kafka:9092", **LOGIN})
    assert {key.removeprefix(prefix): text for key, text in keys.items() if key.startswith(prefix or "s")} == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": JAAS,
    }


def test_the_login_of_a_kind_of_client_is_its_own() -> None:
    keys = java_client_keys({**LOGIN, "producer.sasl.username": "writer"})
    assert ['username="writer"' in keys[f"{prefix}sasl.jaas.config"] for prefix in ("", "producer.", "consumer.")] == [
        *(False, True, False)
    ]


def test_a_login_in_javas_form_stays() -> None:
    assert java_client_keys({"sasl.jaas.config": "a.Module required;"})["consumer.sasl.jaas.config"] == (
        "a.Module required;"
    )


def test_files_in_pem_are_read(tmp_path: Path) -> None:
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_text(f"-----BEGIN {name}-----\n")
    keys = java_client_keys(
        {
            "ssl.ca.location": str(tmp_path / "ca"),
            "ssl.certificate.location": str(tmp_path / "cert"),
            "ssl.key.location": str(tmp_path / "key"),
            "ssl.key.password": "p",
            "ssl.endpoint.identification.algorithm": "none",
        }
    )
    assert {key.removeprefix("admin."): text for key, text in keys.items() if key.startswith("admin.")} == {
        "ssl.truststore.certificates": "-----BEGIN ca-----\n",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.certificate.chain": "-----BEGIN cert-----\n",
        "ssl.keystore.key": "-----BEGIN key-----\n",
        "ssl.keystore.type": "PEM",
        "ssl.key.password": "p",
        "ssl.endpoint.identification.algorithm": "",
    }


def test_what_java_does_not_have_is_refused_at_once_and_without_values(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        java_client_keys(
            {
                "sasl.mechanism": "GSSAPI",
                "sasl.username": "ann",
                "sasl.password": "s3cret",
                "sasl.oauthbearer.method": "oidc",
                "ssl.ca.location": str(tmp_path / "missing"),
            }
        )
    assert set(caught.value.errors) == {"sasl.mechanism", "sasl.oauthbearer.method", "ssl.ca.location"}
    assert "s3cret" not in str(caught.value)


def test_with_a_provider_of_tokens_each_client_asks_the_runs_own_handler() -> None:
    worker = {"bootstrap.servers": "b:9098", "kconnect.oauth.provider": "gcp", "producer.linger.ms": "5"}
    found = java_client_keys(worker)
    for prefix in ("", "producer.", "consumer.", "admin."):
        assert found[f"{prefix}security.protocol"] == "SASL_SSL"
        assert found[f"{prefix}sasl.login.callback.handler.class"] == "airflow_kconnect.RunTokens"


def test_its_options_are_not_in_javas_keys() -> None:
    secret = {"kconnect.oauth.azure.client.secret": "canary-secret"}
    assert "canary" not in str(java_client_keys({"kconnect.oauth.provider": "azure", **secret}))


def test_a_kind_of_client_with_a_password_of_its_own_gets_no_tokens() -> None:
    own = {f"producer.{key}": text for key, text in LOGIN.items() if key != "security.protocol"}
    keys = java_client_keys({"kconnect.oauth.provider": "gcp", **own})
    assert {key: text for key, text in keys.items() if key.startswith("producer.")} == {
        "producer.security.protocol": "SASL_SSL",
        "producer.sasl.mechanism": "SCRAM-SHA-512",
        "producer.sasl.jaas.config": JAAS,
    }
