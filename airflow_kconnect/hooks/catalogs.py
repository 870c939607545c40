"""Settings of a catalog from Airflow connections: types `iceberg`, `aws`, `google_cloud_platform`, `wasb` and `adls`.

What is secret becomes a reference, such as `${airflow:lake:password}`, which is looked up as those that users write.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connectors.table.catalogs.keys import CONNECTIONS
from airflow_kconnect.hooks.fields import Fields, Problem, Settings, settings_of

if TYPE_CHECKING:
    from airflow.sdk import Connection

log = logging.getLogger(__name__)

_PREFIXES = ("table.catalog.", "iceberg.catalog.")
# PyIceberg's names of what Iceberg's Java calls otherwise, and what only PyIceberg has.
_RENAMED = {"s3.region": "client.region", "client.access-key-id": "s3.access-key-id",
            "client.secret-access-key": "s3.secret-access-key", "client.session-token": "s3.session-token"}  # fmt: skip
_PYTHON_ONLY = ("py-", "auth", "downcast-", "legacy-")
_OF_ENVIRONMENT = "Iceberg takes it from the environment of Spark's machines"
_GOOGLE_KEYS = ("key_path", "keyfile_path", "keyfile_dict", "key_secret_name")


def with_catalogs(
    config: Mapping[str, Any], connection_of: Callable[[str], Connection | None], *, enabled: bool
) -> dict[str, Any]:
    """A configuration with the settings of the connections that it names, in place of their names. Its own win.

    :param connection_of: None if there is none of this id. :param enabled: whether the worker has Airflow's variables.
    :raises ConfigError: a connection does not exist, or cannot be translated.
    """
    ids = [each.strip() for each in str(config.get(CONNECTIONS) or "").split(",") if each.strip()]
    if not ids:
        return dict(config)
    prefix = _PREFIXES["table.format" not in config]
    own = {key.removeprefix(prefix): str(value) for key, value in config.items() if key.startswith(prefix)}
    found: Settings = {}
    for conn_id in ids:
        read = partial(_settings, known=found | own)
        found |= settings_of(CONNECTIONS, conn_id, connection_of, read, enabled=enabled)
    rest = {key: value for key, value in config.items() if key != CONNECTIONS}
    return {**{f"{prefix}{name}": text for name, text in found.items()}, **rest}


def _settings(connection: Connection, known: Mapping[str, str]) -> Settings:
    """:param known: settings of the configuration and of connections before this one."""
    kind = str(connection.conn_type)
    if kind == "generic" and "://" in str(connection.host or ""):
        kind = "iceberg"  # `airflow connections add` stores types of providers that are not installed so
    if kind not in _READERS:
        raise Problem(f"is of type `{kind}`, expected one of: {', '.join(_READERS)}")
    return dict(_READERS[kind](Fields(connection), known))


def _iceberg(fields: Fields, known: Mapping[str, str]) -> Settings:
    extras, found = fields.extras, dict[str, str]()
    for name, value in extras.items():
        if name.startswith(_PYTHON_ONLY) or isinstance(value, dict | list):
            log.warning("Extra `%s` of an Iceberg connection has no effect: only PyIceberg knows it", name)
        else:
            found |= fields.setting(_RENAMED.get(name, name), f"extra.{name}")
    found |= fields.setting("uri", "host")
    merged = {**found, **known}
    if "type" not in merged and "catalog-impl" not in merged:
        found["type"] = merged["type"] = "rest"
    if ("login" in fields) != ("password" in fields):
        raise Problem("has a login or a password without the other: OAuth2 needs client id and secret")
    if "login" in fields:
        found |= _login(fields, merged)
    return found


def _login(fields: Fields, merged: Mapping[str, str]) -> Settings:
    kind = merged.get("type", "").lower()
    if kind == "rest":
        return {"credential": f"{fields.reference('login')}:{fields.reference('password')}"}
    if kind == "jdbc":
        return {"jdbc.user": fields.reference("login"), "jdbc.password": fields.reference("password")}
    raise Problem(f"has a login, which a catalog of type {kind or 'of a class'} does not use: remove it")


def _aws(fields: Fields, known: Mapping[str, str]) -> Settings:
    keys = {"access-key-id": "login", "secret-access-key": "password", "session-token": "extra.aws_session_token"}
    signs, found = _signs(known), dict[str, str]()
    for prefix in ("s3.", *(("rest.",) if signs else ())):
        for key, name in keys.items():
            found |= fields.setting(f"{prefix}{key}", name)
    found |= fields.setting("client.region", "extra.region_name")
    if signs:
        found |= fields.setting("rest.signing-region", "extra.region_name")
    found |= fields.setting("s3.endpoint", "extra.endpoint_url")
    if _is_glue(known):
        found |= fields.setting("glue.endpoint", "extra.endpoint_url")
    _check_keys(fields, known)
    if "extra.role_arn" in fields:
        found |= {"client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"}
        found |= fields.setting("client.assume-role.arn", "extra.role_arn")
        found |= fields.setting("client.assume-role.region", "extra.region_name")
    return found


def _signs(known: Mapping[str, str]) -> bool:
    """Whether requests to a REST catalog are signed."""
    return known.get("rest.sigv4-enabled", "").lower() == "true" or known.get("rest.auth.type") == "sigv4"


def _is_glue(known: Mapping[str, str]) -> bool:
    return known.get("type", "").lower() == "glue" or known.get("catalog-impl", "").endswith(".GlueCatalog")


def _check_keys(fields: Fields, known: Mapping[str, str]) -> None:
    """An access key that would have no effect."""
    if "login" not in fields:
        return
    if "extra.role_arn" in fields and not _signs(known):
        raise Problem(
            "has an access key and a role, and the key would not be what assumes the role: remove one of them."
            f" {_OF_ENVIRONMENT} (AWS_ACCESS_KEY_ID, a role)"
        )
    if _is_glue(known) and "extra.role_arn" not in fields:
        raise Problem(
            f"has an access key, which Glue's catalog does not use: {_OF_ENVIRONMENT} (AWS_ACCESS_KEY_ID, a role), "
            "or assumes the role of the extra `role_arn`. Glue's REST endpoint, `rest.sigv4-enabled`, does use it"
        )


def _google(fields: Fields, known: Mapping[str, str]) -> Settings:
    names = {name.removeprefix("extra__google_cloud_platform__"): name for name in fields.extras}
    if any(key in names and fields.text(f"extra.{names[key]}") for key in _GOOGLE_KEYS):
        raise Problem(f"has a key of a service account: {_OF_ENVIRONMENT} (GOOGLE_APPLICATION_CREDENTIALS)")
    found: Settings = {}
    for name in ("project", "project_id"):
        if name in names:
            found |= fields.setting("gcs.project-id", f"extra.{names[name]}")
    return found


def _azure(fields: Fields, known: Mapping[str, str]) -> Settings:
    if any("tenant" in name for name in fields.extras):
        raise Problem(
            f"has a tenant, and so the secret of an application: {_OF_ENVIRONMENT} (AZURE_CLIENT_ID, AZURE_TENANT_ID, "
            "AZURE_CLIENT_SECRET)"
        )
    account = _account(fields)
    if account is None:
        raise Problem("names no storage account: set it as its login, or its address as the host")
    found = fields.setting(f"adls.connection-string.{account}", "extra.connection_string")
    found |= fields.setting(f"adls.sas-token.{account}", "extra.sas_token")
    if "password" in fields:
        found |= {"adls.auth.shared-key.account.name": account}
        found |= fields.setting("adls.auth.shared-key.account.key", "password")
    return found


def _account(fields: Fields) -> str | None:
    text = fields.text("login") or fields.text("host")
    return text.removeprefix("https://").partition("/")[0].partition(".")[0] or None


_READERS: dict[str, Callable[[Fields, Mapping[str, str]], Settings]] = {
    "iceberg": _iceberg,
    "aws": _aws,
    "google_cloud_platform": _google,
    "wasb": _azure,
    "adls": _azure,
}
