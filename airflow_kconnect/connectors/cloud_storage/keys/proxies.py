"""HTTP proxies, whose user and password have keys of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from airflow_kconnect.connect.config import ConfigDef, Importance, Type

_LOW = Importance.LOW


def define_proxy(config: ConfigDef, store: str) -> ConfigDef:
    """The keys of a store, such as `s3`."""
    return (
        config.define(f"{store}.proxy.url", Type.STRING, "", _LOW, "URL of an HTTP proxy.")
        .define(f"{store}.proxy.user", Type.STRING, None, _LOW, "User of the proxy.")
        .define(f"{store}.proxy.password", Type.PASSWORD, None, _LOW, "Password of the proxy.")
    )


def proxy_url(values: Mapping[str, Any], store: str) -> str | None:
    """The URL with user and password; None: there is no proxy."""
    url, user = values[f"{store}.proxy.url"], values[f"{store}.proxy.user"]
    if not url or not user:
        return str(url) if url else None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    password = plain(values[f"{store}.proxy.password"]) or ""
    login = f"{quote(user, '')}:{quote(password, '')}"
    return str(parts._replace(netloc=f"{login}@{parts.netloc.rpartition('@')[2]}").geturl())


def plain(value: Any) -> str | None:
    """The text of a password."""
    return None if value is None else str(getattr(value, "value", value))
