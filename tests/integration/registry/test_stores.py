"""TLS with stores as Java's keytool makes them: a real registry behind a front with https."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import registry_config
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.support import unique
from tests.support.certificates import self_signed
from tests.support.registry_front import forward, serving

PASSWORD, KEY_PASSWORD = "store-pass-1", "key-pass-2"
SCHEMA = RegisteredSchema("AVRO", '"string"')


def _keytool(*arguments: str) -> None:
    env = {**os.environ, "PASSWORD": PASSWORD, "KEY_PASSWORD": KEY_PASSWORD}
    subprocess.run(
        ["keytool", "-J-XX:TieredStopAtLevel=1", *arguments, "-noprompt"], env=env, check=True, capture_output=True
    )


@dataclass(frozen=True)
class Stores:
    """Stores of the client, and what the server needs.

    :param server: its certificate and key, in a PEM file; the client's truststores have the certificate.
    :param client: the certificate of the client's key, in a PEM file.
    """

    folder: Path
    server: Path
    client: Path

    def keys(self, trust: str, own: str | None = None) -> dict[str, str]:
        """The keys for stores of types: ``jks``, ``pkcs12`` or ``pem``."""
        found = self._keys("truststore", trust)
        return found | (self._keys("keystore", own) if own else {})

    def context(self, mode: ssl.VerifyMode) -> ssl.SSLContext:
        """What the server shows, and wants of clients."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.server)
        made.load_verify_locations(self.client)
        made.verify_mode = mode
        return made

    def _keys(self, store: str, kind: str) -> dict[str, str]:
        prefix = f"schema.registry.ssl.{store}."
        password = {} if kind == "pem" else {f"{prefix}password": PASSWORD}
        # JKS is the default.
        named = {} if kind == "jks" else {f"{prefix}type": kind}
        return {f"{prefix}location": str(self.folder / f"{store}.{kind}")} | password | named


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    folder = tmp_path_factory.mktemp("stores")
    certificate, key = self_signed()
    (folder / "truststore.pem").write_text(certificate)
    (folder / "server.pem").write_text(certificate + key)
    for kind in ("jks", "pkcs12"):
        options = ["-storetype", kind, "-storepass:env", "PASSWORD"]
        trust, own = (["-keystore", str(folder / f"{store}.{kind}"), *options] for store in ("truststore", "keystore"))
        _keytool("-importcert", "-alias", "registry", "-file", str(folder / "truststore.pem"), *trust)
        if kind == "jks":
            made = ["-genkeypair", "-alias", "client", "-keyalg", "EC", "-dname", "CN=client"]
            _keytool(*made, "-keypass:env", "PASSWORD", *own)
            _keytool("-exportcert", "-rfc", "-alias", "client", "-file", str(folder / "client.pem"), *own)
        else:
            source = ["-srckeystore", str(folder / "keystore.jks"), "-srcstorepass:env", "PASSWORD"]
            target = ["-destkeystore", str(folder / "keystore.pkcs12"), "-deststoretype", "pkcs12"]
            _keytool("-importkeystore", *source, *target, "-deststorepass:env", "PASSWORD")
    return Stores(folder, folder / "server.pem", folder / "client.pem")


@pytest.fixture(scope="module")
def front(registry_url: str, stores: Stores) -> Iterator[str]:
    """The URL of a front that shows its certificate, and wants one of the client."""
    context = stores.context(ssl.CERT_OPTIONAL)
    with serving(lambda *request: forward(registry_url, *request), context) as url:
        yield url


@pytest.fixture(scope="module")
def mutual(registry_url: str, stores: Stores) -> Iterator[str]:
    """The URL of a front that accepts no client without a certificate."""
    context = stores.context(ssl.CERT_REQUIRED)
    with serving(lambda *request: forward(registry_url, *request), context) as url:
        yield url


Ask = Callable[[str, Mapping[str, str]], int]


@pytest.fixture
def ask() -> Ask:
    """Registers a schema with these keys."""

    def register(url: str, keys: Mapping[str, str]) -> int:
        base = {"schema.registry.url": url, "max.retries": "0"}
        return SchemaRegistry(registry_config(ConfigDef()).parse({**base, **keys}), "value.converter.").register(
            unique("subject"), SCHEMA
        )

    return register


@pytest.mark.parametrize("kind", ["jks", "pkcs12", "pem"])
def test_a_truststore_is_trusted(front: str, stores: Stores, ask: Ask, kind: str) -> None:
    assert ask(front, stores.keys(kind)) > 0


def test_a_server_that_is_in_no_truststore_is_not_trusted(front: str, ask: Ask) -> None:
    with pytest.raises(RetriableError, match="CERTIFICATE_VERIFY_FAILED"):
        ask(front, {})


@pytest.mark.parametrize("kind", ["jks", "pkcs12"])
def test_a_keystore_proves_who_the_client_is(mutual: str, stores: Stores, ask: Ask, kind: str) -> None:
    assert ask(mutual, stores.keys("pem", kind)) > 0


def test_a_client_without_keystore_is_refused(mutual: str, stores: Stores, ask: Ask) -> None:
    with pytest.raises(RetriableError):
        ask(mutual, stores.keys("pem"))


def test_the_types_of_java_stand_for_each_other(front: str, stores: Stores, ask: Ask) -> None:
    assert ask(front, stores.keys("pkcs12") | {"schema.registry.ssl.truststore.type": "JKS"}) > 0


def test_a_jks_truststore_needs_no_password(front: str, stores: Stores, ask: Ask) -> None:
    keys = stores.keys("jks")
    del keys["schema.registry.ssl.truststore.password"]

    assert ask(front, keys) > 0


class TestAKeyWithAPasswordOfItsOwn:
    @pytest.fixture(scope="class")
    def keys(self, stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
        path = str(tmp_path_factory.mktemp("own") / "keystore.jks")
        made = ["-genkeypair", "-alias", "the client, it's me", "-keyalg", "EC", "-dname", "CN=client"]
        options = ["-keystore", path, "-storetype", "jks", "-storepass:env", "PASSWORD"]
        _keytool(*made, *options, "-keypass:env", "KEY_PASSWORD")
        return stores.keys("pem") | {
            "schema.registry.ssl.keystore.location": path,
            "schema.registry.ssl.keystore.password": PASSWORD,
        }

    def test_is_opened_with_it(self, front: str, ask: Ask, keys: dict[str, str]) -> None:
        # The front knows another certificate, so it ends the connection: the key was shown.
        with pytest.raises(RetriableError):
            ask(front, keys | {"schema.registry.ssl.key.password": KEY_PASSWORD})

    @pytest.mark.parametrize(
        "password", [{}, {"schema.registry.ssl.key.password": "wrong-pass"}], ids=["none", "wrong"]
    )
    def test_another_password_is_an_error_of_its_key(
        self, front: str, ask: Ask, keys: dict[str, str], password: dict[str, str]
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            ask(front, keys | password)

        assert list(caught.value.errors) == ["value.converter.schema.registry.ssl.key.password"]


class TestErrors:
    @pytest.mark.parametrize(
        ("store", "kind", "password"),
        [
            ("truststore", "jks", "wrong-pass"),
            ("truststore", "pkcs12", "wrong-pass"),
            ("keystore", "jks", "wrong-pass"),
            ("keystore", "jks", None),
            ("keystore", "pkcs12", None),
        ],
    )
    def test_a_wrong_password(
        self, front: str, stores: Stores, ask: Ask, store: str, kind: str, password: str | None
    ) -> None:
        keys = stores.keys("pem" if store == "keystore" else kind, kind)
        key = f"schema.registry.ssl.{store}.password"
        keys = {name: text for name, text in keys.items() if name != key} | ({key: password} if password else {})

        with pytest.raises(ConfigError) as caught:
            ask(front, keys)

        assert list(caught.value.errors) == [f"value.converter.{key}"]
        assert "wrong-pass" not in str(caught.value)

    def test_a_store_that_is_not_there(self, front: str, ask: Ask, stores: Stores) -> None:
        keys = stores.keys("jks") | {"schema.registry.ssl.truststore.location": "/no/store.jks"}

        with pytest.raises(ConfigError, match=r"ssl\.truststore\.location`: there is no file /no/store\.jks"):
            ask(front, keys)

    def test_a_pem_file_of_the_default_type_says_which_type_it_is(self, front: str, stores: Stores, ask: Ask) -> None:
        keys = stores.keys("pem")
        del keys["schema.registry.ssl.truststore.type"]

        with pytest.raises(ConfigError, match=r"ssl\.truststore\.type`: .* is a PEM file, the type is JKS"):
            ask(front, keys)

    @pytest.mark.parametrize("kind", ["jks", "pkcs12"])
    def test_a_truststore_is_not_a_keystore(self, front: str, stores: Stores, ask: Ask, kind: str) -> None:
        path = str(stores.folder / f"truststore.{kind}")

        with pytest.raises(ConfigError, match=r"ssl\.keystore\.location`: .* has no key with a certificate"):
            ask(front, stores.keys("pem", kind) | {"schema.registry.ssl.keystore.location": path})

    def test_jks_without_java(
        self, front: str, stores: Stores, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

        with pytest.raises(ConfigError, match=r"ssl\.truststore\.type`: JKS needs Java's keytool"):
            ask(front, stores.keys("jks"))
