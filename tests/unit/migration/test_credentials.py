"""Where a Connect cluster is and how to log in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.migration.credentials import access_of
from airflow_kconnect.remote.access import Access


def access(url: str = "http://connect:8083", **more: Any) -> Access:
    return access_of(url, **{"environment": {}, **more})


def test_a_slash_at_the_end_does_not_matter() -> None:
    assert access("https://gateway/connect/").url == "https://gateway/connect"


@pytest.mark.parametrize("url", ["connect:8083", "ftp://connect", "http://", "http://connect:99999", "http://[::1"])
def test_what_is_not_a_url_is_an_error(url: str) -> None:
    with pytest.raises(ConfigError, match=r"`--from`: .* is not a URL such as http://connect:8083"):
        access(url)


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="has a user in it") as caught:
        access("http://ann:s3cret@connect:8083")
    assert "s3cret" not in str(caught.value)


def test_the_first_line_of_the_file_is_the_password(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("s3cret\n")
    credentials = access(user="ann", password_file=tmp_path / "password").credentials
    assert (credentials.user, credentials.password) == ("ann", "s3cret")


def test_the_password_is_not_shown() -> None:
    environment = {"KCONNECT_CONNECT_USER": "ann", "KCONNECT_CONNECT_PASSWORD": "s3cret"}
    assert "s3cret" not in repr(access(environment=environment))


def test_a_user_needs_a_password() -> None:
    with pytest.raises(ConfigError, match="`--user`: needs a password: --password-file, or the variable KCONNECT_"):
        access(user="ann")


def test_a_password_needs_a_user(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("s3cret\n")
    with pytest.raises(ConfigError, match="`--password-file`: needs a user"):
        access(password_file=tmp_path / "password")


@pytest.mark.parametrize(("content", "problem"), [(None, "cannot read .*: No such file"), ("", "is empty")])
def test_a_password_file_without_a_password(tmp_path: Path, content: str | None, problem: str) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=problem):
        access(user="ann", password_file=file)


def test_a_file_without_certificates(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(ConfigError, match=r"`--ca-file`: .*ca\.pem"):
        access(ca_file=tmp_path / "ca.pem").tls()
