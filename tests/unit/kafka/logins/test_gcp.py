"""Files of credentials for Google."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.logins.gcp import GoogleTokens


def test_a_key_file_that_cannot_be_read_is_not_quoted(tmp_path: Path) -> None:
    (file := tmp_path / "key.json").write_bytes(b'{"private_key": "hush", "name": "\xe4"}')
    with pytest.raises(ConfigError) as caught:
        GoogleTokens({"credentials.file": str(file)})
    (text,) = caught.value.errors["credentials.file"]
    assert ("is not a valid json file" in text, "hush" in text, caught.value.__cause__) == (True, False, None)
