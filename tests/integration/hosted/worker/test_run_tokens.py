"""Java's clients get tokens of a provider, and newer ones before theirs expire."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.token_provider import Token, TokenProvider
from airflow_kconnect.hosted.jvm import libraries
from airflow_kconnect.hosted.jvm.jvm import HostJvm
from airflow_kconnect.hosted.jvm.own_classes import own_jar
from airflow_kconnect.hosted.worker import run_tokens
from airflow_kconnect.hosted.worker.run_tokens import login_keys, tokens_for
from airflow_kconnect.machine.java import find_java
from tests.support.logins.providers import provide

WORKER = {"bootstrap.servers": "b:9098", "kconnect.oauth.provider": "counted"}


class Counted(TokenProvider):
    """Each token is valid for some seconds; the second attempt fails."""

    asked, valid_s = 0, 3.0

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        Counted.asked = 0

    def token(self) -> Token:
        Counted.asked += 1
        if Counted.asked == 2:
            raise RetriableError("unavailable")
        return Token(f"token {Counted.asked}", time.time() + self.valid_s, extensions={"logicalCluster": "lkc-1"})


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    provide(monkeypatch, "counted", Counted)
    monkeypatch.setattr(run_tokens, "_RETRY_S", 0.2)


@pytest.fixture(scope="module")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostJvm]:
    folder, java = tmp_path_factory.mktemp("jvm"), find_java()
    jars = libraries.class_path(java)
    jars.append(own_jar(java, jars, folder))
    with HostJvm(java, jars, folder) as found:
        yield found


def handled(jvm: HostJvm, kind: str) -> Any:
    """The callback of a login, as Kafka's login module has it handled."""
    keys = login_keys(WORKER)
    name, _, option = keys["sasl.jaas.config"].removesuffix(";").partition(" required login=")
    required = jvm.view.javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag.REQUIRED
    options = jvm.text_map({"login": option.strip('"')})
    entries = jvm.view.java.util.ArrayList()
    entries.add(jvm.view.javax.security.auth.login.AppConfigurationEntry(name, required, options))
    handler = jvm.view.airflow_kconnect.RunTokens()
    handler.configure(jvm.text_map({}), "OAUTHBEARER", entries)
    security = jvm.view.org.apache.kafka.common.security
    asked = (
        security.oauthbearer.OAuthBearerTokenCallback() if kind == "token" else security.auth.SaslExtensionsCallback()
    )
    handler.handle(jvm.array(jvm.view.javax.security.auth.callback.Callback, asked))
    return asked


def test_a_client_gets_the_token_and_its_extensions(jvm: HostJvm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counted, "valid_s", 600.0)
    with tokens_for(jvm, WORKER):
        assert handled(jvm, "token").token().value() == "token 1"
        assert dict(handled(jvm, "extensions").extensions().map()) == {"logicalCluster": "lkc-1"}


def test_a_newer_one_is_there_in_time_although_the_provider_was_unavailable_once(jvm: HostJvm) -> None:
    with tokens_for(jvm, WORKER):
        until = time.monotonic() + 60
        while (value := handled(jvm, "token").token().value()) != "token 3" and time.monotonic() < until:
            time.sleep(0.1)
    assert value == "token 3"
