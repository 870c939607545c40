"""Settings of an object store from an Airflow connection.

What is secret becomes a reference, such as `${airflow:lake:password}`, which is looked up as those that users write.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow_kconnect.hooks.cloud_stores import azure, google, hdfs
from airflow_kconnect.hooks.fields import Fields, Problem, Settings, settings_of
from airflow_kconnect.places.address import Address, address
from airflow_kconnect.places.keys import CONNECTION, PREFIX
from airflow_kconnect.variables.secret_keys import has_secret

if TYPE_CHECKING:
    from airflow.sdk import Connection

log = logging.getLogger(__name__)

_AWS_EXTRAS = {"aws_session_token", "region_name", "endpoint_url", "role_arn", "profile_name", "service_config",
               "assume_role_method", "assume_role_kwargs", "external_id", "session_kwargs", "verify",
               "config_kwargs"}  # fmt: skip
_LOGIN = ("access.key.id", "secret.access.key", "session.token", "profile", "credentials.file", "credentials.json",
          "account.key", "sas.token", "tenant.id", "client.id", "client.secret",
          "user", "delegation.token")  # fmt: skip
_ADDRESSES = {
    "directory": "{}",
    "input.path": "{}",
    "s3.bucket.name": "s3://{}",
    "gcs.bucket.name": "gs://{}",
    "azblob.container.name": "abfss://{}@account.dfs.core.windows.net",
}
"""Key that says where files are -> the address that its value means; in Azure that of some account."""
_OWN_LOGIN = ("aws.access.key.id", "aws.secret.access.key", "s3.credentials.provider.sts.aws.access.key.id",
              "s3.credentials.provider.sts.aws.secret.key", "gcs.credentials.path", "gcs.credentials.json",
              "azblob.account.key")  # fmt: skip
"""Keys with which Confluent's sinks log in."""


def with_store(
    config: Mapping[str, Any], connection_of: Callable[[str], Connection | None], *, enabled: bool
) -> dict[str, Any]:
    """A configuration with the settings of the connection of its store, in place of its name. Its own win.

    :param connection_of: None if there is none of this id. :param enabled: whether the worker has Airflow's variables.
    :raises ConfigError: the connection does not exist, or cannot be translated.
    """
    conn_id = str(config.get(CONNECTION) or "").strip()
    if not conn_id:
        return dict(config)
    found = settings_of(CONNECTION, conn_id, connection_of, partial(_settings, at=_address(config)), enabled=enabled)
    if _has_login(config):  # which is not combined with another one's
        found = {name: text for name, text in found.items() if name not in _LOGIN}
    rest = {key: value for key, value in config.items() if key != CONNECTION}
    return {**{f"{PREFIX}{name}": text for name, text in found.items()}, **rest}


def _has_login(config: Mapping[str, Any]) -> bool:
    return any(f"{PREFIX}{name}" in config for name in _LOGIN) or any(config.get(key) for key in _OWN_LOGIN)


def _address(config: Mapping[str, Any]) -> Address | None:
    for key, form in _ADDRESSES.items():
        try:
            return address(form.format(config[key]))
        except (KeyError, ValueError):  # reported where the key is checked
            continue
    return None


def _settings(connection: Connection, at: Address | None) -> Settings:
    kind = str(connection.conn_type)
    if kind not in _READERS:
        raise Problem(f"is of type `{kind}`, expected one of: {', '.join(_READERS)}")
    scheme, read = _READERS[kind]
    if at is not None and at.scheme != scheme:
        raise Problem(f"is of type `{kind}`, which is for {scheme}://, and the address is {at}")
    return read(Fields(connection))


def _aws(fields: Fields) -> Settings:
    if ("login" in fields) != ("password" in fields):
        raise Problem("has an access key (login) or a secret key (password) without the other")
    found = fields.setting("access.key.id", "login") | fields.setting("secret.access.key", "password")
    found |= fields.setting("session.token", "extra.aws_session_token")
    found |= fields.setting("region", "extra.region_name")
    found |= fields.setting("endpoint", "extra.endpoint_url") | _of_service(fields)
    found |= fields.setting("profile", "extra.profile_name")
    found |= _plain("profile", _member(fields, "session_kwargs").get("profile_name"))
    found |= _role(fields) | _verify(fields) | _client(fields)
    _warn_of_others(fields)
    return found


def _role(fields: Fields) -> Settings:
    method = fields.text("extra.assume_role_method") or "assume_role"
    if "extra.role_arn" not in fields:
        return {}
    if method != "assume_role":
        raise Problem(
            f"assumes its role by `{method}`: leave role and method out, and set AWS's variables on the machines of "
            "the job (AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_PROFILE)"
        )
    external = _member(fields, "assume_role_kwargs").get("ExternalId")
    found = fields.setting("role.arn", "extra.role_arn") | fields.setting("role.external.id", "extra.external_id")
    return found | _plain("role.external.id", external)


def _verify(fields: Fields) -> Settings:
    text = fields.text("extra.verify").lower()
    if text == "false":
        raise Problem("does not verify the store's certificate: set `verify` to the file of the CA that has signed it")
    return {} if text in ("", "true") else fields.setting("ca.file", "extra.verify")


def _client(fields: Fields) -> Settings:
    """Of what the connection gives to botocore's `Config`."""
    given = _member(fields, "config_kwargs")
    known = {"proxies", "s3", "region_name", "signature_version"}
    if given.get("signature_version", "s3v4") not in ("s3v4", "v4"):
        raise Problem("has a `signature_version` in `config_kwargs`, and requests are signed with s3v4: remove it")
    proxies = _object(given, "proxies", "config_kwargs")
    style = _object(given, "s3", "config_kwargs").get("addressing_style")
    if others := sorted(given.keys() - known):
        log.warning("Extra `config_kwargs` of an AWS connection: %s have no effect", ", ".join(others))
    found = _plain("proxy", proxies.get("https") or proxies.get("http"))
    if style in ("path", "virtual"):
        found |= {"path.style": str(style == "path").lower()}
    return found | _plain("region", given.get("region_name"))


def _of_service(fields: Fields) -> Settings:
    return _plain("endpoint", _object(_member(fields, "service_config"), "s3", "service_config").get("endpoint_url"))


def _member(fields: Fields, name: str) -> Mapping[str, Any]:
    return _object(fields.extras, name)


def _object(given: Mapping[str, Any], name: str, extra: str = "") -> Mapping[str, Any]:
    value = given.get(name) or {}
    if not isinstance(value, dict):
        where = f"`{name}` in its extra `{extra}`" if extra else f"an extra `{name}`"
        raise Problem(f"has {where} that is not a JSON object")
    return value


def _plain(key: str, value: Any) -> Settings:
    """A setting of what is within an extra, to which nothing can refer."""
    if value in (None, ""):
        return {}
    if has_secret(str(value)):
        raise Problem(f"has a password within an extra: write `{PREFIX}{key}` with a variable instead")
    if "${" in str(value):
        raise Problem(f"has a variable within an extra: write `{PREFIX}{key}` instead")
    return {key: str(value)}


def _warn_of_others(fields: Fields) -> None:
    if others := sorted(fields.extras.keys() - _AWS_EXTRAS):
        log.warning("Extras of an AWS connection without effect on a store: %s", ", ".join(others))


_READERS: dict[str, tuple[str, Callable[[Fields], Settings]]] = {
    "aws": ("s3", _aws),
    "google_cloud_platform": ("gs", google),
    "wasb": ("abfss", azure),
    "adls": ("abfss", azure),
    "webhdfs": ("hdfs", hdfs),
}
"""Type -> the scheme of its stores, and what reads it."""
