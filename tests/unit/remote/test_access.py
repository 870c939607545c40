"""Where a REST API is: which URLs are refused, and when credentials go unencrypted."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.access import Access, Credentials


@pytest.mark.parametrize("url", ["connect:8083", "ftp://connect", "http://", "http://c:99999", "http://[::1"])
def test_what_is_not_a_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"`--server`: .* is not a URL such as http://connect:8083"):
        Access(url)


@pytest.mark.parametrize("url", ["http://me:secret@connect", "ftp://me:secret@connect"])
def test_a_password_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Access(url)
    assert "secret" not in str(raised.value)


def test_more_than_a_path_is_refused() -> None:
    with pytest.raises(ConfigError, match="has more than a path"):
        Access("http://c?a=b")


def test_a_slash_at_the_end_does_not_matter() -> None:
    assert Access("https://airflow/kconnect/").url == "https://airflow/kconnect"


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://connect:8083", True),
        ("http://127.0.0.1:8083", False),
        ("http://[::1]:8083", False),
        ("http://localhost", False),
        ("https://c", False),
    ],
)
def test_credentials_that_go_unencrypted_to_others_are_noticed(url: str, exposed: bool) -> None:
    assert (Access(url, Credentials("t")).is_exposed, Access(url).is_exposed) == (exposed, False)


def test_credentials_have_no_secret_in_their_text() -> None:
    assert "secret" not in repr(Access("http://c", Credentials("secret", "me", "secret")))


@pytest.mark.parametrize(("content", "why"), [("no certificate", "not a PEM file"), (None, "No such file")])
def test_a_file_without_certificates(content: str | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=rf"`ca_file`: .*ca\.pem: {why}"):
        Access("https://c", ca_file=file).tls()
