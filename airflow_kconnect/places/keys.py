"""The keys with which a connector says how its store is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, LambdaValidator, Type
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.address import LOCAL, address
from airflow_kconnect.validation.connector_keys import KCONNECT

CONNECTION = "kconnect.store.conn_id"
"""Names a connection of Airflow; a task has put its settings in place of it."""
PREFIX = "store."


def define_store_keys(config: ConfigDef) -> ConfigDef:
    """Define the keys of stores, for a connector whose address may be in one."""
    low = Importance.LOW
    text = "What is not set, is found as the store's own programs find it: environment, profile, role of the machine."
    config.define(CONNECTION, Type.STRING, None, Importance.MEDIUM, "Id of an Airflow connection with the login of "
                  f"the store: types aws, google_cloud_platform, wasb, adls, webhdfs. {text}",
                  group=KCONNECT)  # fmt: skip
    return (
        config.define("store.endpoint", Type.STRING, None, low, "URL of a store that speaks the protocol of S3, Google "
                      "or Azure, if it is not theirs. HDFS: URLs of its name nodes for HTTP, separated by commas.",
                      group=KCONNECT, example="https://minio.example.com:9000")
        .define("store.region", Type.STRING, None, low, "Region of the bucket (S3).", group=KCONNECT)
        .define("store.path.style", Type.BOOLEAN, None, low, "S3: whether the bucket is in the path of a URL, not in "
                "its host. Default: only with `store.endpoint`.", group=KCONNECT)
        .define("store.proxy", Type.PASSWORD, None, low, "URL of an HTTP proxy.", group=KCONNECT)
        .define("store.ca.file", Type.STRING, None, low, "File with certificates (PEM) of those who may sign the "
                "store's.", group=KCONNECT)
        .define("store.profile", Type.STRING, None, low, "S3: a profile of AWS's files, on all machines of the job.",
                group=KCONNECT)
        .define("store.role.arn", Type.STRING, None, low, "S3: a role that is assumed with the credentials; they are "
                "renewed while a run lasts.", group=KCONNECT, example="arn:aws:iam::123456789012:role/lake")
        .define("store.role.external.id", Type.STRING, None, low, "S3: the external id that the role asks for.",
                group=KCONNECT)
        .define("store.access.key.id", Type.STRING, None, low, "S3: access key.", group=KCONNECT)
        .define("store.secret.access.key", Type.PASSWORD, None, low, "S3: secret key.", group=KCONNECT)
        .define("store.session.token", Type.PASSWORD, None, low, "S3: token of temporary credentials.", group=KCONNECT)
        .define("store.credentials.file", Type.STRING, None, low, "Google: file with the key of a service account, or "
                "with what `gcloud auth application-default login` has written; on all machines of the job.",
                group=KCONNECT)
        .define("store.credentials.json", Type.PASSWORD, None, low, "Google: the key of a service account, as the JSON "
                "of its file.", group=KCONNECT)
        .define("store.account.key", Type.PASSWORD, None, low, "Azure: a key of the storage account.", group=KCONNECT)
        .define("store.sas.token", Type.PASSWORD, None, low, "Azure: a shared access signature for the container, with "
                "the rights to read, add, create, write, delete and list.", group=KCONNECT)
        .define("store.tenant.id", Type.STRING, None, low, "Azure: the tenant of a service principal.", group=KCONNECT)
        .define("store.client.id", Type.STRING, None, low, "Azure: the client id of a service principal, or of a "
                "managed identity that is one of several of a machine.", group=KCONNECT)
        .define("store.client.secret", Type.PASSWORD, None, low, "Azure: the secret of a service principal.",
                group=KCONNECT)
        .define("store.user", Type.STRING, None, low, "HDFS: the user of a cluster without Kerberos. Default: "
                "`HADOOP_USER_NAME`, or the user of the job.", group=KCONNECT)
        .define("store.delegation.token", Type.PASSWORD, None, low, "HDFS: a delegation token, as WebHDFS gives it "
                "out; what a cluster with Kerberos asks for.", group=KCONNECT)
    )  # fmt: skip


def address_validator() -> LambdaValidator:
    """For the key that has the address of a place."""

    def problem(name: str, value: Any) -> str | None:
        try:
            if value is not None:
                address(value)
        except ValueError as error:
            return str(error)
        return None

    return LambdaValidator(problem)


def store_problems(props: Mapping[str, str], key: str) -> dict[str, list[str]]:
    """Key -> messages: keys of a store for a folder of this machine.

    :param key: the one with the address.
    """
    try:
        if not props.get(key) or address(props[key]).scheme != LOCAL:
            return {}
    except ValueError:
        return {}
    odd = sorted(name for name in props if name == CONNECTION or name.startswith(PREFIX))
    return {name: [f"is for object stores, and `{key}` is a folder: leave it out"] for name in odd}


def check_connection(props: Mapping[str, str]) -> None:
    """:raises ConfigError: a connection of Airflow is named, and no task of it has looked it up."""
    if props.get(CONNECTION, "").strip():
        text = "names a connection of Airflow, and needs Airflow, whose tasks look it up; elsewhere write the settings"
        raise ConfigError({CONNECTION: [text]}, props.get("name"))
