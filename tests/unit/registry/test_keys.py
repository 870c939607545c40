"""Keys of the registry: URLs and strategies are checked before anything is asked."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.registry.keys import registry_config


def _parse(**keys: str) -> dict[str, object]:
    base = {"schema.registry.url": "http://registry"}
    return registry_config(ConfigDef()).parse(base | {key.replace("_", "."): value for key, value in keys.items()})


@pytest.mark.parametrize("url", ["http://a", "https://a:8081/api,http://b", "http://u:p@[::1]:80"])
def test_http_urls_are_right(url: str) -> None:
    assert _parse(schema_registry_url=url)["schema.registry.url"] == url.split(",")


@pytest.mark.parametrize("url", ["", "ftp://a", "file:///etc/passwd", "gopher://a", "http://", "a:8081", "http://a:x"])
def test_other_urls_are_an_error(url: str) -> None:
    with pytest.raises(ConfigError, match=r"schema\.registry\.url"):
        _parse(schema_registry_url=url)


def test_an_error_does_not_show_what_is_in_the_url() -> None:
    with pytest.raises(ConfigError) as caught:
        _parse(schema_registry_url="ftp://ann:s3cret-pass@a")

    assert "s3cret-pass" not in str(caught.value)


@pytest.mark.parametrize("given", ["major", "=2", "major=2,owner"])
def test_metadata_without_a_value_are_an_error(given: str) -> None:
    with pytest.raises(ConfigError, match="Each property must be key=value"):
        _parse(use_latest_with_metadata=given)


def test_an_unknown_strategy_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"value\.subject\.name\.strategy"):
        _parse(value_subject_name_strategy="com.example.Mine")
