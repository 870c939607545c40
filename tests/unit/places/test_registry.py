"""Places by their addresses, and what is wrong with their settings."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.places.registry import open_place

_ADDRESSES = ("s3://lake/raw", "gs://lake/raw", "abfss://c@lake.dfs.core.windows.net/raw", "hdfs://nn:8020/raw")
_PROXIES = (
    "http://proxy",
    "https://me:s3cret@proxy.example.com:3128/",
    "http://[::1]:3128",
    "proxy.example.com:3128",
    "me:s3cret@proxy:3128",
)
_NO_PROXIES = (
    "ftp://me:s3cret@proxy",
    "socks5://me:s3cret@proxy:1080",
    "http://me:s3cret@pro xy",
    "proxy.example.com://me:s3cret@/3128",
)


@pytest.mark.parametrize("address", _ADDRESSES)
@pytest.mark.parametrize("proxy", _PROXIES)
def test_a_proxy_has_a_url_or_a_host_and_a_port(address: str, proxy: str) -> None:
    settings = vars(open_place(address, {"store.proxy": proxy}))["_settings"]
    assert settings.proxy == (proxy if "://" in proxy else f"http://{proxy}")


@pytest.mark.parametrize("address", _ADDRESSES)
@pytest.mark.parametrize("proxy", _NO_PROXIES)
def test_what_is_no_proxy_does_not_show(address: str, proxy: str) -> None:
    with pytest.raises(ConfigError, match="is not the URL of an HTTP proxy") as caught:
        open_place(address, {"store.proxy": proxy})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        ("s3://lake/raw", "http://me:s3cret@127.0.0.1:1"),
        ("hdfs://nn/raw", "me:s3cret@nn:9870"),
        ("hdfs://nn/raw", "http://me:s3cret@[nn:9870"),
    ],
)
def test_the_login_of_an_endpoint_does_not_show(address: str, endpoint: str) -> None:
    login = {"store.access.key.id": "k", "store.secret.access.key": "s"}
    with pytest.raises(ConnectError) as caught:
        open_place(address, {**login, "store.endpoint": endpoint}).check()
    assert "s3cret" not in str(caught.value)
