"""The keys of Confluent's S3 sink about S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Range, Type, ValidString
from airflow_kconnect.connectors.cloud_storage.keys.common import define_common_keys
from airflow_kconnect.connectors.cloud_storage.keys.proxies import define_proxy, plain, proxy_url
from airflow_kconnect.places.registry import UPLOAD

_HIGH, _MEDIUM, _LOW = Importance
_PROVIDER = "s3.credentials.provider.class"
_ROLE_PROVIDER = "AwsAssumeRoleCredentialsProvider"
_AFFIX = "s3.schema.partition.affix.type"
_ROLE = "s3.credentials.provider.sts."
_STANDARD_PROVIDERS = (
    "DefaultAWSCredentialsProviderChain", "DefaultCredentialsProvider", "EnvironmentVariableCredentialsProvider",
    "ProfileCredentialsProvider", "InstanceProfileCredentialsProvider", "WebIdentityTokenCredentialsProvider",
    "WebIdentityTokenFileCredentialsProvider", "ContainerCredentialsProvider", "EC2ContainerCredentialsProviderWrapper",
    "SystemPropertiesCredentialsProvider",
)  # fmt: skip
_REPLACED = "objects that a killed run has left are replaced"
_IGNORED: Sequence[tuple[str, Type, Any, str]] = (
    (f"{_ROLE}region", Type.STRING, "", "the role is assumed in the region of the bucket"),
    (f"{_ROLE}role.session.name", Type.STRING, "", "sessions have the name airflow-kconnect"),
    ("s3.part.retries", Type.INT, 3, "requests are repeated up to five times"),
    ("s3.retry.backoff.ms", Type.LONG, 200, "requests are repeated after random delays that grow"),
    ("s3.http.send.expect.continue", Type.BOOLEAN, True, "the client decides"),
    ("s3.wan.mode", Type.BOOLEAN, False, "set `store.url` to an endpoint for accelerated transfers"),
    ("s3.elastic.buffer.enable", Type.BOOLEAN, False, "memory is limited by `kconnect.buffer.bytes`"),
    ("s3.elastic.buffer.init.capacity", Type.INT, 131_072, "memory is limited by `kconnect.buffer.bytes`"),
    ("s3.send.digest", Type.BOOLEAN, False, "the client decides"),
    ("s3.object.tagging.key.value.pairs", Type.LIST, "", "objects get no tags"),
    ("s3.object.behavior.on.tagging.error", Type.STRING, "ignore", "objects get no tags"),
    ("enable.conditional.writes", Type.BOOLEAN, None, _REPLACED),
    ("max.files.scan.limit", Type.INT, 100, _REPLACED),
    ("max.write.duration.ms", Type.LONG, None, "a run is not bound to a consumer's poll interval"),
    ("rotate.file.on.partition.change", Type.BOOLEAN, True, "each folder has a file of its own that fills up"),
    ("partitioner.max.open.files", Type.INT, -1, "memory is limited by `kconnect.buffer.bytes`, and open files by "
     "`kconnect.open.files.max`"),
    ("report.null.values.to.dlq", Type.BOOLEAN, True, "records without value that are ignored are counted as filtered"),
)  # fmt: skip


def s3_config() -> ConfigDef:
    """All keys of the sink."""
    config = ConfigDef()
    (
        config.define("s3.bucket.name", Type.STRING, importance=_HIGH, validator=NonEmptyString(), example="shop-lake",
                      documentation="The bucket.")
        .define("s3.region", Type.STRING, "us-west-2", _MEDIUM, "Its region.")
        .define("store.url", Type.STRING, None, _HIGH, "URL of a store that speaks S3's protocol, if it is not S3.",
                example="https://minio.example.com:9000")
        .define("aws.access.key.id", Type.STRING, "", _HIGH, "Access key. Without it, it is found as AWS's own "
                "programs find it: environment, profile, role of the machine.")
        .define("aws.secret.access.key", Type.PASSWORD, "", _HIGH, "Secret key.")
        .define(_PROVIDER, Type.STRING, "com.amazonaws.auth.DefaultAWSCredentialsProviderChain", _LOW,
                "AWS's own classes all mean: as AWS's programs find them. AwsAssumeRoleCredentialsProvider assumes a "
                "role.")
        .define(f"{_ROLE}role.arn", Type.STRING, "", _MEDIUM, "That role.")
        .define(f"{_ROLE}role.external.id", Type.STRING, "", _MEDIUM, "The external id that it asks for.")
        .define(f"{_ROLE}aws.access.key.id", Type.STRING, "", _MEDIUM, "Access key with which it is assumed.")
        .define(f"{_ROLE}aws.secret.key", Type.PASSWORD, "", _MEDIUM, "Secret key with which it is assumed.")
        .define("s3.path.style.access.enabled", Type.BOOLEAN, True, _LOW, "false: the bucket is in the host of a URL. "
                "true: as the store wants it.")
        .define("s3.part.size", Type.INT, 26_214_400, _HIGH, "Bytes that are sent at once. It costs no memory.",
                validator=Range.between(5_242_880, 2_147_483_647))
        .define("s3.compression.type", Type.STRING, "none", _LOW, "Compression of JSON and byte files: none or gzip.",
                validator=ValidString.in_("none", "gzip"))
        .define("s3.compression.level", Type.INT, -1, _LOW, "Level of gzip, -1 to 9.", validator=Range.between(-1, 9))
        .define("s3.ssea.name", Type.STRING, "", _LOW, "Encryption by S3: AES256 or aws:kms.")
        .define("s3.sse.kms.key.id", Type.STRING, "", _LOW, "Key for aws:kms.")
        .define("s3.sse.customer.key", Type.PASSWORD, None, _LOW, "Not supported.")
        .define("s3.acl.canned", Type.STRING, None, _LOW, "Access rights of objects, such as "
                "bucket-owner-full-control.")
        .define("s3.object.tagging", Type.BOOLEAN, False, _LOW, "Not supported.")
        .define(_AFFIX, Type.STRING, "NONE", _LOW, "NONE; the name of a schema in paths is not supported.",
                validator=ValidString.in_("NONE", "PREFIX", "SUFFIX"))
    )  # fmt: skip
    define_proxy(config, "s3")
    return define_common_keys(config, _IGNORED)


def s3_problems(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Key -> messages."""
    return {key: [text] for key, text in _problems(values)}


def s3_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `places.keys` that those of S3 mean."""
    found = {
        "store.endpoint": values["store.url"],
        "store.region": values["s3.region"] if not values["store.region"] else None,
        "store.path.style": None if values["s3.path.style.access.enabled"] else False,
        "store.proxy": proxy_url(values, "s3"),
        "store.access.key.id": values["aws.access.key.id"] or values[f"{_ROLE}aws.access.key.id"],
        "store.secret.access.key": plain(values["aws.secret.access.key"]) or plain(values[f"{_ROLE}aws.secret.key"]),
        "store.role.arn": values[f"{_ROLE}role.arn"] if _assumes_role(values) else None,
        "store.role.external.id": values[f"{_ROLE}role.external.id"] if _assumes_role(values) else None,
        UPLOAD: _upload(values),
    }
    return {key: value for key, value in found.items() if value or value is False}


def _upload(values: Mapping[str, Any]) -> dict[str, str]:
    """Arguments of S3's API."""
    found = {
        "ServerSideEncryption": values["s3.ssea.name"],
        "SSEKMSKeyId": values["s3.sse.kms.key.id"],
        "ACL": values["s3.acl.canned"],
    }
    return {name: value for name, value in found.items() if value}


def _assumes_role(values: Mapping[str, Any]) -> bool:
    return str(values[_PROVIDER]).rpartition(".")[2] == _ROLE_PROVIDER


def _problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    provider = values[_PROVIDER]
    if _assumes_role(values):
        if not values[f"{_ROLE}role.arn"]:
            yield f"{_ROLE}role.arn", f"is missing: {_ROLE_PROVIDER} needs the role"
    elif provider.rpartition(".")[2] not in _STANDARD_PROVIDERS:
        text = (
            "a Java class, which is not loaded here: let AWS's profile or role of the machine assume a role, or name a "
        )
        yield _PROVIDER, f"is {provider}, {text}connection of Airflow by `kconnect.store.conn_id`"
    key, secret = values["aws.access.key.id"], plain(values["aws.secret.access.key"])
    if key and not secret:
        yield "aws.secret.access.key", "is missing, and `aws.access.key.id` is set"
    elif secret and not key:
        yield "aws.access.key.id", "is missing, and `aws.secret.access.key` is set"
    if values["s3.sse.customer.key"] is not None:
        yield "s3.sse.customer.key", "is set, and keys of customers are not supported: use `s3.ssea.name`"
    if values["s3.object.tagging"]:
        yield "s3.object.tagging", "is true, and objects get no tags: their names and the report say what they hold"
    if values[_AFFIX] != "NONE":
        yield _AFFIX, f"is {values[_AFFIX]}, and the name of a schema is not put into paths: leave it out"
