"""What gives clients their tokens reaches other processes, and says why there is none."""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping

import confluent_kafka
import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.connect.token_provider import Token, TokenProvider
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.logins import callback
from airflow_kconnect.kafka.logins.callback import TokenCallback, last_failure, token_config
from airflow_kconnect.kafka.shared import shared_kafka
from tests.support.logins.providers import provide

WORKER = {"bootstrap.servers": "broker:9098", "kconnect.oauth.provider": "vault", "kconnect.oauth.vault.path": "p-1"}


class Vault(TokenProvider):
    """Its path says how it behaves."""

    made = 0

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        Vault.made += 1
        if options["path"] == "bad":
            raise ConfigError({"path": ["is bad"]})

    def token(self) -> Token:
        if self.options["path"] == "raises":
            raise OSError("no connection")
        return Token(f"token of {self.options['path']}", time.time() + 60, "etl", {"logicalCluster": "lkc-1"})


@pytest.fixture(autouse=True)
def vault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confluent_kafka, "__version__", "2.13.0")  # no client is made here
    provide(monkeypatch, "vault", Vault)


def path(text: str) -> dict[str, str]:
    return {**WORKER, "kconnect.oauth.vault.path": text}


def test_without_a_provider_a_client_has_no_callback() -> None:
    assert token_config({"bootstrap.servers": "broker:9092"}) == {}


def test_a_client_logs_in_over_tls_with_tokens() -> None:
    config = ClientConfigs(WORKER).admin()
    assert (config["security.protocol"], config["sasl.mechanism"]) == ("SASL_SSL", "OAUTHBEARER")


def test_the_protocol_of_the_worker_wins() -> None:
    config = ClientConfigs({**WORKER, "security.protocol": "SASL_PLAINTEXT"}).admin()
    assert config["security.protocol"] == "SASL_PLAINTEXT"


def test_a_connector_that_logs_in_by_itself_waits_for_no_token() -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    jaas = f'{module} required username="a" password="b";'
    own = {"producer.override.sasl.mechanism": "PLAIN", "producer.override.sasl.jaas.config": jaas}
    config = ClientConfigs(WORKER, own).producer(None)
    login = {key: config.get(key) for key in ("sasl.mechanism", "sasl.username", "security.protocol", "oauth_cb")}
    assert login == {
        "sasl.mechanism": "PLAIN",
        "sasl.username": "a",
        "security.protocol": "SASL_SSL",
        "oauth_cb": None,
    }


def test_a_client_without_a_login_waits_for_no_token() -> None:
    config = ClientConfigs(WORKER, {"producer.override.security.protocol": "SSL"}).producer(None)
    assert (config["security.protocol"], config.get("oauth_cb")) == ("SSL", None)


def test_the_callback_gives_what_the_client_wants() -> None:
    value, expires_s, principal, extensions = token_config(WORKER)["oauth_cb"](None)
    assert (value, principal, extensions) == ("token of p-1", "etl", {"logicalCluster": "lkc-1"})
    assert expires_s > time.time()


def test_it_reaches_other_processes() -> None:
    found: TokenCallback = pickle.loads(pickle.dumps(token_config(WORKER)["oauth_cb"]))  # noqa: S301
    assert found(None)[0] == "token of p-1"


def test_sensors_share_clients_of_one_provider_with_the_same_options_only() -> None:
    one, same, other = (shared_kafka(ClientConfigs(worker), "g") for worker in (WORKER, WORKER, path("p-2")))
    assert (same is one, other is one) == (True, False)


def test_its_options_are_not_shown() -> None:
    assert "p-1" not in repr(token_config(WORKER))


def test_clients_of_a_process_share_a_provider() -> None:
    before = Vault.made
    for _ in range(3):
        token_config(WORKER)["oauth_cb"](None)
    assert Vault.made == before + 1


def test_a_wrong_option_is_named_with_its_whole_key() -> None:
    with pytest.raises(ConfigError) as caught:
        token_config(path("bad"))
    assert caught.value.errors == {"kconnect.oauth.vault.path": ["is bad"]}


def test_a_machine_without_the_package_of_the_provider_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callback, "installed", dict)
    with pytest.raises(ConfigError, match="is vault, which no package on this machine has: install it"):
        token_config(WORKER)


def test_any_other_exception_may_pass() -> None:
    with pytest.raises(
        RetriableError, match=r"`kconnect\.oauth\.provider` vault gave no token: OSError: no connection"
    ):
        token_config(path("raises"))


def test_why_there_was_no_token_is_known_afterwards() -> None:
    with pytest.raises(ConnectError):
        token_config(path("raises"))
    assert "no connection" in str(last_failure())


def test_an_old_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confluent_kafka, "__version__", "2.6.0")
    with pytest.raises(ConfigError, match=r"needs confluent-kafka 2\.13; this is 2\.6\.0: upgrade it"):
        token_config(WORKER)
