"""Settings of Google's and Azure's stores and of HDFS from an Airflow connection; see `stores`."""

from __future__ import annotations

from airflow_kconnect.hooks.fields import Fields, Problem, Settings

_ELSEWHERE = ("key_secret_name", "credential_config_file", "impersonation_chain", "is_anonymous")


def google(fields: Fields) -> Settings:
    """Of type `google_cloud_platform`."""
    check_google(fields)
    found = fields.setting("credentials.file", "extra.key_path")
    if "extra.keyfile_dict" in fields:
        found["credentials.json"] = fields.reference("extra.keyfile_dict")
    return found


def check_google(fields: Fields) -> None:
    """Refuse a connection with a login other than a key, or that of the machine. :raises Problem: it has one."""
    if odd := [name for name in _ELSEWHERE if fields.text(f"extra.{name}").lower() not in ("", "false")]:
        raise Problem(f"has `{odd[0]}`: leave it out, and use a key, or the login of the machines of the job")
    if isinstance(fields.extras.get("keyfile_dict"), dict):
        raise Problem("has an object as `keyfile_dict`: write it as a text, or use `key_path`")


def azure(fields: Fields) -> Settings:
    """Of types `wasb` and `adls`: with a tenant, login and password are a service principal's; else the password is the
    account's key.
    """
    if "extra.connection_string" in fields:
        raise Problem("has a `connection_string`: write the key of the account as its password")
    if "extra.sas_token" in fields:
        text = fields.text("extra.sas_token")
        if text.startswith("http"):
            raise Problem("has a URL as `sas_token`: write only what follows its `?`")
        return {"sas.token": fields.reference("extra.sas_token")}
    if "extra.tenant_id" in fields:
        found = fields.setting("tenant.id", "extra.tenant_id") | fields.setting("client.id", "login")
        return found | _secret(fields, "client.secret", "password")
    key = "password" if "password" in fields else "extra.shared_access_key"
    found = _secret(fields, "account.key", key)
    return found or fields.setting("client.id", "extra.managed_identity_client_id")


def _secret(fields: Fields, key: str, name: str) -> Settings:
    return {key: fields.reference(name)} if name in fields else {}


def hdfs(fields: Fields) -> Settings:
    """Of type `webhdfs`, as Airflow's hook reads it: several hosts are those of name nodes, of which one is active."""
    if "password" in fields:
        raise Problem("has a password, which name nodes do not ask for: leave it out, or use `store.delegation.token`")
    if not (hosts := [host.strip() for host in fields.text("host").split(",") if host.strip()]):
        raise Problem("names no host of a name node")
    secure = fields.text("extra.use_ssl").lower() == "true"
    verify = fields.text("extra.verify").lower()
    if secure and verify == "false":
        raise Problem("does not verify the store's certificate: set `verify` to the file of the CA that has signed it")
    scheme, port = ("https", "9871") if secure else ("http", "9870")
    path = fields.text("schema").strip("/")
    urls = (f"{scheme}://{host}:{fields.text('port') or port}{f'/{path}' if path else ''}" for host in hosts)
    found = {"endpoint": ",".join(urls)} | fields.setting("user", "login")
    return found if verify in ("", "true", "false") else found | fields.setting("ca.file", "extra.verify")
