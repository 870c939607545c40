"""Configurations of the S3 sink: what is wrong with them, and what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connectors.cloud_storage.keys.classes import Format
from airflow_kconnect.connectors.cloud_storage.keys.settings import Settings
from airflow_kconnect.connectors.cloud_storage.rules.layout import Part
from airflow_kconnect.connectors.cloud_storage.rules.partitions import DAY_MS, HOUR_MS, ByFields, ByKafka, ByTime
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector

LEAST = {"s3.bucket.name": "lake", "format.class": "JsonFormat", "flush.size": "1000"}
CLASSES = "io.confluent.connect.storage.partitioner."
HOURLY = {"partitioner.class": f"{CLASSES}HourlyPartitioner", "locale": "en", "timezone": "UTC"}


def problems(**props: str) -> dict[str, list[str]]:
    return S3SinkConnector.validate(config(**props))


def config(**props: str) -> dict[str, str]:
    return LEAST | {name.replace("__", "."): value for name, value in props.items()}


def settings(props: dict[str, str]) -> Settings:
    return S3SinkConnector.settings(S3SinkConnector.config().parse({**LEAST, **props}))


def test_least_configuration() -> None:
    assert problems() == {}


def test_all_errors_are_named_at_once_by_their_keys() -> None:
    found = problems(
        format__class="com.example.CsvFormat",
        partitioner__class="TimeBasedPartitioner",
        timestamp__extractor="Custom",
        timezone="Mars",
        behavior__on__null__values="write",
        aws__access__key__id="AKIA",
        s3__credentials__provider__class="com.example.Provider",
        s3__object__tagging="true",
        s3__schema__partition__affix__type="PREFIX",
    )
    assert sorted(found) == [
        "aws.secret.access.key", "behavior.on.null.values", "format.class", "locale", "partition.duration.ms",
        "path.format", "s3.credentials.provider.class", "s3.object.tagging",
        "s3.schema.partition.affix.type", "timestamp.extractor", "timezone",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"), [("topics.dir", "a/.b"), ("path.format", "'.'yyyy"), ("tombstone.encoded.partition", ".none")]
)
def test_folders_that_are_hidden_are_refused(key: str, value: str) -> None:
    by_time = HOURLY | {"partitioner.class": "TimeBasedPartitioner", "partition.duration.ms": "600000"}
    found = S3SinkConnector.validate({**LEAST, **by_time, "path.format": "yyyy.MM", key: value})
    assert [*found] == [key]
    assert "begin with a dot are hidden" in found[key][0]


def test_the_folder_of_tombstones_is_none_of_a_partition() -> None:
    props = {**LEAST, "behavior.on.null.values": "write", "store.kafka.keys": "true"}
    assert S3SinkConnector.validate(props) == {}
    assert [*S3SinkConnector.validate({**props, "tombstone.encoded.partition": "partition=0"})] == [
        "tombstone.encoded.partition"
    ]


def test_required_keys_are_named_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        S3SinkConnector.config().parse({})
    assert sorted(raised.value.errors) == ["flush.size", "format.class", "s3.bucket.name"]


@pytest.mark.parametrize("key", ["format.class", "partitioner.class"])
def test_other_java_classes_run_within_the_java_connector(key: str) -> None:
    (text,) = S3SinkConnector.validate({**LEAST, key: "com.example.Mine"})[key]
    assert text.startswith("is com.example.Mine, ")
    assert "`kconnect.hosted=true`" in text


@pytest.mark.parametrize(
    ("props", "partitioning"),
    [
        ({}, ByKafka()),
        ({"partitioner.class": "FieldPartitioner", "partition.field.name": "a,b.c"}, ByFields(("a", "b.c"))),
    ],
)
def test_partitioners_without_time(props: dict[str, str], partitioning: Any) -> None:
    assert settings(props).partitioning == partitioning


@pytest.mark.parametrize(
    ("props", "pattern", "duration_ms"),
    [
        (HOURLY, "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH", HOUR_MS),
        ({**HOURLY, "partitioner.class": "DailyPartitioner"}, "'year'=YYYY/'month'=MM/'day'=dd", DAY_MS),
        (
            {
                **HOURLY,
                "partitioner.class": f"{CLASSES}TimeBasedPartitioner",
                "path.format": "yyyyMMdd",
                "partition.duration.ms": "600000",
            },
            "yyyyMMdd",
            600_000,
        ),
    ],
)
def test_partitioners_by_time(props: dict[str, str], pattern: str, duration_ms: int) -> None:
    found = settings(props).partitioning
    assert isinstance(found, ByTime)
    assert (found.format.pattern, found.duration_ms) == (pattern, duration_ms)


@pytest.mark.parametrize(
    ("path_format", "pattern"), [("yyyy/MM/", "yyyy/MM"), ("yyyy/MM//", "yyyy/MM/"), ("/yyyy", "/yyyy")]
)
def test_a_delimiter_at_the_end_of_a_pattern_is_left_out(path_format: str, pattern: str) -> None:
    props = {**HOURLY, "partitioner.class": "TimeBasedPartitioner", "partition.duration.ms": "600000"}
    found = settings({**props, "path.format": path_format}).partitioning
    assert isinstance(found, ByTime)
    assert found.format.pattern == pattern


@pytest.mark.parametrize(
    ("props", "extension"),
    [
        ({}, ".json"),
        ({"s3.compression.type": "gzip"}, ".json.gz"),
        ({"format.class": "io.confluent.connect.s3.format.bytearray.ByteArrayFormat"}, ".bin"),
        ({"format.class": "ByteArrayFormat", "format.bytearray.extension": ".txt"}, ".txt"),
        ({"format.class": "io.confluent.connect.s3.format.avro.AvroFormat"}, ".avro"),
        ({"format.class": "io.confluent.connect.s3.format.parquet.ParquetFormat"}, ".snappy.parquet"),
        ({"format.class": "ParquetFormat", "parquet.codec": "none"}, ".parquet"),
        ({"format.class": "ParquetFormat", "parquet.codec": "gzip"}, ".gz.parquet"),
    ],
)
def test_endings_of_names(props: dict[str, str], extension: str) -> None:
    assert settings(props).kinds[Part.VALUES].extension == extension


def test_keys_and_headers_have_formats_of_their_own() -> None:
    found = settings(
        {
            "store.kafka.keys": "true",
            "store.kafka.headers": "true",
            "keys.format.class": "ByteArrayFormat",
            "headers.format.class": "JsonFormat",
        }
    )
    assert {part: kind.format for part, kind in found.kinds.items()} == {
        Part.VALUES: Format.JSON,
        Part.KEYS: Format.BYTES,
        Part.HEADERS: Format.JSON,
    }
    assert found.needs == {"key", "headers"}


@pytest.mark.parametrize(
    ("extractor", "interval_ms", "needs"),
    [("Wallclock", None, set()), ("Record", 60_000, {"timestamp"}), ("RecordField", 60_000, set())],
)
def test_moments_of_records_end_files(extractor: str, interval_ms: int | None, needs: set[str]) -> None:
    found = settings({**HOURLY, "timestamp.extractor": extractor, "rotate.interval.ms": "60000"})
    assert (found.bounds.interval_ms, set(found.needs)) == (interval_ms, needs)


@pytest.mark.parametrize(
    ("extractor", "is_known"),
    [
        ("RecordField", True),
        (f"{CLASSES}TimeBasedPartitioner$RecordFieldTimestampExtractor", True),
        ("com.example.RecordFieldTimestampExtractor", False),
        ("com.example.Own$RecordFieldTimestampExtractor", False),
    ],
)
def test_extractors_of_others_are_not_taken_for_confluents(extractor: str, is_known: bool) -> None:
    found = S3SinkConnector.validate({**LEAST, **HOURLY, "timestamp.extractor": extractor})
    if is_known:
        assert found == {}
    else:
        assert "`kconnect.hosted=true`" in found["timestamp.extractor"][0]


@pytest.mark.parametrize("extractor", ["Wallclock", None])
def test_a_rotation_without_moments_has_no_effect_and_says_so(extractor: str | None) -> None:
    props = config(rotate__interval__ms="60000") | (HOURLY | {"timestamp.extractor": extractor} if extractor else {})
    (warning,) = S3SinkConnector.warnings(props)
    assert warning.startswith("`rotate.interval.ms` has no effect")


def test_how_the_store_is_reached() -> None:
    props = config(
        store__url="http://minio:9000",
        aws__access__key__id="AKIA",
        aws__secret__access__key="hidden",
        s3__proxy__url="http://proxy:3128",
        s3__proxy__user="me",
        s3__proxy__password="p@ss",
    )
    assert S3SinkConnector.store_values(S3SinkConnector.config().parse(props)) == {
        "store.endpoint": "http://minio:9000",
        "store.region": "us-west-2",
        "store.proxy": "http://me:p%40ss@proxy:3128",
        "store.access.key.id": "AKIA",
        "store.secret.access.key": "hidden",
    }


def test_the_login_of_a_proxy_that_is_a_host_and_a_port() -> None:
    props = config(s3__proxy__url="proxy:3128", s3__proxy__user="me", s3__proxy__password="p@ss")
    values = S3SinkConnector.store_values(S3SinkConnector.config().parse(props))
    assert values["store.proxy"] == "http://me:p%40ss@proxy:3128"


def test_role_encryption_and_rights_of_objects() -> None:
    props = config(
        s3__credentials__provider__class="io.confluent.connect.s3.auth.AwsAssumeRoleCredentialsProvider",
        s3__ssea__name="aws:kms",
        s3__sse__kms__key__id="key-1",
        s3__acl__canned="bucket-owner-full-control",
    )
    assert [*S3SinkConnector.validate(props)] == ["s3.credentials.provider.sts.role.arn"]
    found = S3SinkConnector.store_values(
        S3SinkConnector.config().parse({**props, "s3.credentials.provider.sts.role.arn": "arn:aws:iam::1:role/lake"})
    )
    assert found == {
        "store.region": "us-west-2",
        "store.role.arn": "arn:aws:iam::1:role/lake",
        "s3.upload": {
            "ServerSideEncryption": "aws:kms",
            "SSEKMSKeyId": "key-1",
            "ACL": "bucket-owner-full-control",
        },
    }


@pytest.mark.parametrize(("enabled", "style"), [("true", None), ("false", False)])
def test_a_bucket_can_be_in_the_host_of_urls(enabled: str, style: bool | None) -> None:
    values = S3SinkConnector.config().parse(config(s3__path__style__access__enabled=enabled))
    assert S3SinkConnector.store_values(values).get("store.path.style") is style


def test_settings_of_a_connection_stay() -> None:
    values = S3SinkConnector.config().parse({**LEAST, "store.region": "eu-central-1"})
    assert S3SinkConnector.store_values(values) == {}


def test_a_replay_has_a_folder_of_its_own() -> None:
    connector = S3SinkConnector({**LEAST, "topics": "orders", "topics.dir": "raw"})
    connector.replay(Replay(0, 3_600_000, "k"))
    topic = connector._settings.layout.topic("orders")
    assert topic.startswith("raw/_replays/")
    assert topic.endswith("/orders/")


def test_datasets_are_the_folders_of_topics() -> None:
    (found,) = S3SinkConnector.datasets({**LEAST, "topics": "orders", "topics.dir": "raw"})
    assert (found.namespace, found.name) == ("s3://lake", "raw/orders")
