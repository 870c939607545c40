"""A cloud, a broker that accepts its tokens, and an environment without other credentials."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.logins.broker import TokenBroker
from tests.support.logins.cloud import CLIENT_SECRET, IDENTITY_HEADER, Cloud, cloud, entra_id
from tests.support.logins.providers import forget

AWS, AZURE, GCP = (f"kconnect.oauth.{name}" for name in ("aws_msk_iam", "azure", "gcp"))
Worker = dict[str, str]


@pytest.fixture(scope="session")
def a_cloud() -> Iterator[Cloud]:
    with cloud() as found:
        yield found


@pytest.fixture(scope="session")
def token_broker(a_cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenBroker]:
    embedded = TokenBroker(tmp_path_factory.mktemp("tokens"), a_cloud, reauthentication_ms=3_000)
    embedded.start()
    yield embedded
    embedded.stop()


@pytest.fixture
def own_cloud(a_cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cloud:
    """The cloud as it was, which this test's process knows by its environment."""
    a_cloud.status, a_cloud.life_s = 200, 3600
    a_cloud.asked.clear()
    forget()
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"{a_cloud.url}/aws/sts/")
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{a_cloud.url}/aws/container")
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{a_cloud.url}/azure/msi")
    monkeypatch.setenv("IDENTITY_HEADER", IDENTITY_HEADER)
    return a_cloud


@pytest.fixture
def application(own_cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Worker]:
    """The keys of an application of Entra ID."""
    with entra_id(own_cloud, tmp_path) as environment:
        for name, text in environment.items():
            monkeypatch.setenv(name, text)
        yield {f"{AZURE}.tenant.id": "t", f"{AZURE}.client.id": "c", f"{AZURE}.client.secret": CLIENT_SECRET}


@pytest.fixture
def key_file(own_cloud: Cloud, tmp_path: Path) -> Path:
    """Of a service account of Google."""
    path = tmp_path / "account.json"
    path.write_text(json.dumps(own_cloud.service_account()))
    return path


@pytest.fixture
def worker(token_broker: TokenBroker, key_file: Path) -> Callable[..., Worker]:
    """`worker("gcp", **more)`: a worker whose clients log in so."""
    options = {
        "aws_msk_iam": {f"{AWS}.region": "eu-central-1"},
        "azure": {f"{AZURE}.scope": "api://kafka/.default"},
        "gcp": {f"{GCP}.credentials.file": str(key_file)},
    }

    def make(name: str, **more: str) -> Worker:
        where = {"bootstrap.servers": token_broker.sasl_bootstrap, "security.protocol": "SASL_PLAINTEXT"}
        return {**where, "kconnect.oauth.provider": name, **options[name], **more}

    return make
