"""Logins of S3: profiles of AWS's files, and roles that are assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.registry import open_place
from tests.support.faults import FaultProxy, refuse
from tests.support.stores import Store

ROLE = {"store.role.arn": "arn:aws:iam::123456789012:role/lake", "store.role.external.id": "us"}


@pytest.fixture(scope="module")
def store(store_of: Callable[[str], Store]) -> Store:
    return store_of("moto")


@pytest.fixture
def proxy(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    with FaultProxy(store.settings["store.endpoint"]) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", made.url)
        yield made


def test_a_role_is_assumed_with_the_credentials(store: Store, proxy: FaultProxy) -> None:
    open_place(store.address, {**store.settings, **ROLE}).check()
    assert proxy.seen == ["AssumeRole"]


def test_a_role_that_may_not_be_assumed_is_named(store: Store, proxy: FaultProxy) -> None:
    with proxy.fault("*", refuse(403, "AccessDenied", "not authorized")), pytest.raises(ConfigError) as caught:
        open_place(store.address, {**store.settings, **ROLE}).check()
    assert "the role cannot be assumed" in caught.value.errors["store.role.arn"][0]


def test_a_profile_has_the_login(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "credentials"
    file.write_text("[lake]\naws_access_key_id = AKIA\naws_secret_access_key = s3cret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    endpoint = {"store.endpoint": store.settings["store.endpoint"]}
    open_place(store.address, {**endpoint, "store.profile": "lake"}).check()


def test_no_login_at_all_is_an_error(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="there are no credentials: name an Airflow connection"):
        open_place(store.address, {"store.endpoint": store.settings["store.endpoint"]}).check()
