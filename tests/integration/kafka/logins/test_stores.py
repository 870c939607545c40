"""Clients whose certificates are in Java's stores, at a broker that wants certificates."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.certificates import chain, pkcs12, self_signed

PASSWORD, KEY_PASSWORD = "store-pass-1", "key-pass-2"


@dataclass(frozen=True)
class Stores:
    """:param bootstrap: of a listener that accepts clients with a certificate of the root."""

    bootstrap: str
    folder: Path

    def worker(self, trust: str, own: str, **more: str) -> dict[str, str]:
        """:param trust, own: the types of the stores."""
        found = {"bootstrap.servers": self.bootstrap, "security.protocol": "SSL"}
        for store, kind in (("truststore", trust), ("keystore", own)):
            found[f"ssl.{store}.location"] = str(self.folder / f"{store}.{kind}")
            found |= {f"ssl.{store}.type": kind, f"ssl.{store}.password": PASSWORD}
        return found | {key.replace("_", "."): text for key, text in more.items()}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    folder = tmp_path_factory.mktemp("java-stores")
    (other, _), (certificate, key) = self_signed("127.0.0.2"), self_signed()
    (folder / "server.pem").write_text(certificate + key)
    client = chain("client")
    (folder / "root.pem").write_text(client.root)
    (folder / "keystore.PKCS12").write_bytes(pkcs12(client, PASSWORD))
    _convert(folder, "keystore", "keystore.JKS", PASSWORD)
    _convert(folder, "keystore", "keystore-of-two.JKS", KEY_PASSWORD)
    for kind in ("JKS", "PKCS12"):
        # The broker's is not the first one.
        for alias, text in (("a-other", other), ("broker", certificate)):
            (folder / "one.pem").write_text(text)
            into = ["-keystore", str(folder / f"truststore.{kind}"), "-storetype", kind, "-storepass", PASSWORD]
            _keytool("-importcert", "-alias", alias, "-file", str(folder / "one.pem"), *into)
    listener = "listener.name.sasl.ssl"
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SSL",
        f"{listener}.keystore.type": "PEM",
        f"{listener}.keystore.location": str(folder / "server.pem"),
        f"{listener}.truststore.type": "PEM",
        f"{listener}.truststore.location": str(folder / "root.pem"),
        f"{listener}.client.auth": "required",
    }
    broker = EmbeddedBroker(tmp_path_factory.mktemp("tls") / "data", sasl_users={"nobody": "x"}, settings=settings)
    broker.start()
    yield Stores(broker.sasl_bootstrap, folder)
    broker.stop()


def _convert(folder: Path, store: str, name: str, key_password: str) -> None:
    source = ["-srckeystore", str(folder / f"{store}.PKCS12"), "-srcstorepass", PASSWORD, "-srcalias", "client"]
    target = ["-destkeystore", str(folder / name), "-deststoretype", "JKS", "-deststorepass", PASSWORD]
    _keytool("-importkeystore", *source, *target, "-destkeypass", key_password)


def _keytool(*arguments: str) -> None:
    subprocess.run(["keytool", *arguments, "-noprompt"], env=os.environ, check=True, capture_output=True)


def log_in(worker: dict[str, str]) -> None:
    KafkaAdmin(ClientConfigs(worker).admin(), timeout_s=5).check_reachable()


@pytest.mark.parametrize(("trust", "own"), [("JKS", "PKCS12"), ("PKCS12", "JKS")])
def test_a_client_shows_its_certificate_with_those_that_have_signed_it(stores: Stores, trust: str, own: str) -> None:
    log_in(stores.worker(trust, own))


def test_a_key_may_have_a_password_of_its_own(stores: Stores) -> None:
    worker = stores.worker("JKS", "JKS", ssl_key_password=KEY_PASSWORD)
    log_in(worker | {"ssl.keystore.location": str(stores.folder / "keystore-of-two.JKS")})


def test_nothing_of_a_store_but_its_certificates_is_in_the_configuration(stores: Stores) -> None:
    assert PASSWORD not in str(ClientConfigs(stores.worker("PKCS12", "JKS")).admin())


@pytest.mark.parametrize(
    ("change", "key", "text"),
    [
        ({"ssl.truststore.password": "wrong"}, "admin.ssl.truststore.password", "password"),
        ({"ssl.truststore.location": "/no/such.jks"}, "admin.ssl.truststore.location", "there is no file /no/such.jks"),
        ({"ssl.key.password": "wrong"}, "admin.ssl.key.password", "is another"),
    ],
    ids=["password", "file", "key"],
)
def test_a_store_that_cannot_be_read_names_the_key_to_blame(
    stores: Stores, change: dict[str, str], key: str, text: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        log_in(stores.worker("JKS", "JKS") | change)
    assert text in caught.value.errors[key][0]
