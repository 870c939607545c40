"""Keys of a worker whose clients log in with tokens: the provider of tokens, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, LambdaValidator, Type
from airflow_kconnect.worker_config.client_keys import CLIENTS

PROVIDER = "kconnect.oauth.provider"
ALLOWED = "kconnect.oauth.providers.allowed"
PREFIX = "kconnect.oauth."
GROUP = "airflow_kconnect.oauth_providers"
"""Of entry points."""

OAUTHBEARER = "OAUTHBEARER"
AWS, AZURE, GCP = "aws_msk_iam", "azure", "gcp"
OWN = {
    AWS: "airflow_kconnect.kafka.logins.aws:MskIamTokens",
    AZURE: "airflow_kconnect.kafka.logins.azure:EntraTokens",
    GCP: "airflow_kconnect.kafka.logins.gcp:GoogleTokens",
}
"""Providers of this package: name -> class."""
_OTHER_LOGINS = ("sasl.oauthbearer.method", "sasl.jaas.config", "sasl.username", "sasl.password")
"""librdkafka would ignore them, and Java's clients of hosted connectors would log in by them."""


def define_oauth_keys(definition: ConfigDef) -> None:
    """Add the keys to those of a worker."""
    definition.define(
        PROVIDER,
        Type.STRING,
        None,
        Importance.MEDIUM,
        "What gives Kafka clients the tokens of a login with OAUTHBEARER, in each process: `aws_msk_iam` (Amazon MSK, "
        "by IAM), `azure` (Event Hubs, by Entra ID), `gcp` (Google's managed Kafka), or the name of an entry point "
        f"`{GROUP}` that `{ALLOWED}` allows. `security.protocol` is then `SASL_SSL` unless it is set.",
        validator=LambdaValidator(_provider_problem),
    ).define(
        ALLOWED,
        Type.LIST,
        [],
        Importance.MEDIUM,
        f"Which entry points `{GROUP}` may be named, or `*` for all. A provider is code that runs in each process with "
        "Kafka clients.",
    )
    for key, documentation in {
        "region": "Region of the MSK cluster; without it, that in `bootstrap.servers`, then that of the environment.",
        "profile": "Profile of AWS's configuration files, instead of the default chain of credentials.",
        "role.arn": "Role to assume before a token is signed.",
        "role.session.name": "Name of that session, which brokers see; `airflow-kconnect` without it.",
        "role.external.id": "External id that the role asks for.",
    }.items():
        definition.define(f"{PREFIX}{AWS}.{key}", Type.STRING, None, Importance.LOW, documentation)
    for key, documentation in {
        "scope": "Scope of the tokens; without it `https://<host of bootstrap.servers>/.default`, that of Event Hubs.",
        "tenant.id": "Tenant of the application. Without tenant, client and secret: the environment's credential, "
        "workload identity, managed identity, then the logins of tools (`DefaultAzureCredential`).",
        "client.id": "Client id of the application, or of a managed identity that the machine's user has assigned.",
    }.items():
        definition.define(f"{PREFIX}{AZURE}.{key}", Type.STRING, None, Importance.LOW, documentation)
    definition.define(
        f"{PREFIX}{AZURE}.client.secret", Type.PASSWORD, None, Importance.LOW, "Client secret of the application."
    ).define(
        f"{PREFIX}{GCP}.credentials.file",
        Type.STRING,
        None,
        Importance.LOW,
        "File with a service account's key, or another configuration of credentials; without it, those that the "
        "environment has (application default credentials).",
    )


def options_of(name: str, worker: Mapping[str, str]) -> dict[str, str]:
    """The options of a provider: its keys without their prefix, and where the brokers are."""
    prefix = f"{PREFIX}{name}."
    own = {key.removeprefix(prefix): text for key, text in worker.items() if key.startswith(prefix)}
    return own | {"bootstrap.servers": worker.get("bootstrap.servers", "")}


def default_protocol(worker: Mapping[str, str]) -> str:
    """`security.protocol` of clients unless it is set: tokens are sent with encryption only."""
    return "SASL_SSL" if worker.get(PROVIDER, "").strip() else "PLAINTEXT"


def provider_errors(worker: Mapping[str, str]) -> dict[str, list[str]]:
    """What is wrong between the keys: key -> messages."""
    name = worker.get(PROVIDER, "").strip()
    if not name:
        return {}
    errors = _misspelt(name, worker) if name in OWN else {}
    allowed = {each.strip() for each in worker.get(ALLOWED, "").split(",")}
    if name not in OWN and name in installed() and not allowed & {"*", name}:
        errors[PROVIDER] = [f"is {name}, code of another package, which `{ALLOWED}` does not name: add it there"]
    if (mechanism := mechanism_of(worker)) != OAUTHBEARER:
        errors["sasl.mechanism"] = [f"is {mechanism}, but `{PROVIDER}` gives tokens: remove one of them"]
    if (protocol := worker.get("security.protocol", "SASL_SSL")).upper() not in ("SASL_SSL", "SASL_PLAINTEXT"):
        errors["security.protocol"] = [f"is {protocol}; a login by `{PROVIDER}` needs SASL_SSL"]
    with_tokens = ["", *(f"{client}." for client in CLIENTS if mechanism_of(worker, f"{client}.") == OAUTHBEARER)]
    others = [prefix + key for prefix in with_tokens for key in _OTHER_LOGINS]
    text = f"is another login than that by `{PROVIDER}`: remove one of them"
    return errors | {key: [text] for key in others if key in worker}


def mechanism_of(keys: Mapping[str, Any], prefix: str = "") -> str:
    """The mechanism of a login where a provider gives tokens, unless the keys say another one."""
    names = (f"{prefix}sasl.mechanisms", f"{prefix}sasl.mechanism")
    return next((str(keys[name]).upper() for name in names if keys.get(name)), OAUTHBEARER)


def _misspelt(name: str, worker: Mapping[str, str]) -> dict[str, list[str]]:
    """Without an option that was meant, a token could be that of another identity."""
    define_oauth_keys(known := ConfigDef())
    prefix = f"{PREFIX}{name}."
    options = ", ".join(key.removeprefix(prefix) for key in known.keys if key.startswith(prefix))
    unknown = (key for key in worker if key.startswith(prefix) and key not in known.keys)
    return {key: [f"is unknown; `{name}` has the options {options}"] for key in unknown}


def installed() -> dict[str, EntryPoint]:
    """Providers of other packages, by name."""
    return {each.name: each for each in entry_points(group=GROUP)}


def _provider_problem(name: str, value: Any) -> str | None:
    if value is None or value in OWN or value in installed():
        return None
    return f"unknown provider; expected one of {', '.join([*OWN, *sorted(installed())])}"
