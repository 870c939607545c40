"""Profiles: places and credentials under short names."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.cli.connectors.profiles import Profile, profile_of, profiles_file
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.access import Credentials


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def _profile(file: Path, text: str, mode: int = 0o644) -> Profile:
    file.write_text(f"[profiles.prod]\n{text}\n")
    file.chmod(mode)
    return profile_of("prod", file)


def _errors(file: Path, text: str, mode: int = 0o644) -> str:
    with pytest.raises(ConfigError) as raised:
        _profile(file, text, mode)
    return str(raised.value)


def test_a_server_with_a_token_in_a_file(file: Path) -> None:
    (file.parent / "token").write_text("abc\n")
    profile = _profile(file, 'server = "http://c:8083"\ntoken_file = "token"')
    assert profile == Profile("prod", "http://c:8083", credentials=Credentials("abc"))


def test_a_server_with_user_and_password(file: Path) -> None:
    (file.parent / "password").write_text("abc")
    profile = _profile(file, 'server = "http://c:8083"\nuser = "me"\npassword_file = "password"')
    assert profile.credentials == Credentials(None, "me", "abc")


def test_a_server_with_authorities_of_its_own(file: Path) -> None:
    assert _profile(file, 'server = "https://c"\nca_file = "ca.pem"').ca_file == file.parent / "ca.pem"


def test_paths_begin_at_the_folder_of_the_file(file: Path) -> None:
    assert _profile(file, 'worker = "w.properties"').worker == file.parent / "w.properties"


def test_a_password_that_others_can_read_is_refused(file: Path) -> None:
    text = 'server = "http://c"\nuser = "me"\npassword = "abc"'
    message = _errors(file, text)
    assert f"chmod 600 {file}" in message
    assert "abc" not in message
    assert _profile(file, text, 0o600).credentials == Credentials(None, "me", "abc")


def test_all_that_is_wrong_is_reported_at_once(file: Path) -> None:
    message = _errors(file, 'server = "http://c"\nworker = "w"\ntoken_file = "none"\nsever = "x"')
    for text in ("are two targets", "cannot read", "`profiles.prod.sever`: is not a key"):
        assert text in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "`profiles.prod.server`: is missing"),
        ("server = 5", "is not a text"),
        ('server = "http://c"\nuser = "me"', "a password go together"),
    ],
)
def test_what_is_missing_is_named(file: Path, text: str, problem: str) -> None:
    assert problem in _errors(file, text)


def test_an_unknown_profile_names_the_known_ones(file: Path) -> None:
    file.write_text('[profiles.a]\nserver = "http://c"\n')
    with pytest.raises(ConfigError, match="has no profile prod; it has: a"):
        profile_of("prod", file)


@pytest.mark.parametrize(("text", "problem"), [("[", "is not TOML"), ('profile = "x"', "nothing else is read")])
def test_an_invalid_file_is_named(file: Path, text: str, problem: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=problem):
        profile_of("prod", file)


def test_a_missing_file_says_where_it_would_be(file: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        profile_of("prod", file)


def test_the_file_is_in_the_configuration_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KCONNECT_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert profiles_file() == tmp_path / "kconnect" / "config.toml"
