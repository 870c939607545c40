"""Clients of Google's and Azure's stores: what is wrong with settings is said without their secrets."""

from __future__ import annotations

import json

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.registry import open_place

_KEY = json.dumps({"type": "service_account", "private_key": "s3cret"})


@pytest.mark.parametrize("text", [json.dumps(_KEY), _KEY[:-1], f"[{_KEY}]", "s3cret"])
def test_a_key_of_google_that_is_no_object_does_not_show(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a JSON object") as caught:
        open_place("gs://lake/raw", {"store.credentials.json": text}).check()
    assert list(caught.value.errors) == ["store.credentials.json"]
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__!r} {caught.value.__context__!r}"
