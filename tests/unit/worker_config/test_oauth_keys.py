"""The keys of a worker whose clients log in with tokens."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config import oauth_keys
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.oauth_keys import ALLOWED, GROUP, PROVIDER, options_of

BROKERS = {"bootstrap.servers": "broker:9098"}


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider of another package."""
    found = {"vault": EntryPoint("vault", "vault_tokens:Provider", GROUP)}
    monkeypatch.setattr(oauth_keys, "installed", lambda: found)


def errors(**worker: str) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        WorkerConfig.from_props({**BROKERS, **{key.replace("__", "."): text for key, text in worker.items()}})
    return dict(caught.value.errors)


@pytest.mark.parametrize("name", ["aws_msk_iam", "azure", "gcp"])
def test_a_provider_of_this_package_needs_no_other_key(name: str) -> None:
    assert WorkerConfig.from_props({**BROKERS, PROVIDER: name}).warnings == ()


def test_an_unknown_provider_is_an_error_that_names_the_known_ones() -> None:
    (text,) = errors(**{PROVIDER: "msk"})[PROVIDER]
    assert "unknown provider; expected one of aws_msk_iam, azure, gcp" in text


@pytest.mark.usefixtures("vault")
def test_a_provider_of_another_package_must_be_allowed() -> None:
    (text,) = errors(**{PROVIDER: "vault"})[PROVIDER]
    assert f"`{ALLOWED}` does not name" in text


@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize("allowed", ["vault", "*", "other, vault"])
def test_one_that_is_allowed_has_options_of_its_own(allowed: str) -> None:
    worker = {**BROKERS, PROVIDER: "vault", ALLOWED: allowed, "kconnect.oauth.vault.path": "kafka/creds"}
    assert WorkerConfig.from_props(worker).warnings == ()
    assert options_of("vault", worker) == {"path": "kafka/creds", **BROKERS}


def test_other_logins_beside_it_are_errors_all_at_once() -> None:
    found = errors(
        **{PROVIDER: "gcp", "sasl.mechanism": "PLAIN", "security.protocol": "SSL", "sasl.oauthbearer.method": "oidc"}
    )
    assert set(found) == {"sasl.mechanism", "security.protocol", "sasl.oauthbearer.method"}


JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";'


@pytest.mark.parametrize("key", ["sasl.jaas.config", "producer.sasl.jaas.config"])
def test_a_password_that_is_left_over_is_an_error_since_javas_clients_would_log_in_by_it(key: str) -> None:
    text = f"is another login than that by `{PROVIDER}`: remove one of them"
    assert errors(**{PROVIDER: "gcp", key: JAAS}) == {key: [text]}


def test_a_kind_of_client_may_have_another_mechanism() -> None:
    worker = {**BROKERS, PROVIDER: "gcp", "producer.sasl.mechanism": "PLAIN", "producer.sasl.jaas.config": JAAS}
    assert WorkerConfig.from_props(worker).warnings == ()


def test_options_of_a_provider_that_is_not_chosen_are_not_given_to_it() -> None:
    assert options_of("gcp", {**BROKERS, "kconnect.oauth.azure.client.secret": "x"}) == BROKERS


def test_a_misspelt_option_is_an_error_and_not_the_token_of_another_identity() -> None:
    (text,) = errors(**{PROVIDER: "aws_msk_iam", "kconnect.oauth.aws_msk_iam.rolearn": "x"}).values()
    assert "role.arn" in text[0]
