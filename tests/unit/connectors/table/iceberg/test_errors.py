"""What exceptions of Java mean for a run."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError
from airflow_kconnect.connectors.table.formats.iceberg.errors import Chain, meaning_of, text_of

ICEBERG = "org.apache.iceberg.exceptions."
AMAZON = "software.amazon.awssdk.services."
ABORTED = ("org.apache.spark.SparkException", "Writing job aborted")


@pytest.mark.parametrize(
    "chain, kind, word",
    [
        ([(ICEBERG + "ServiceUnavailableException", "503")], RetriableError, "unavailable"),
        ([(ICEBERG + "RESTException", "Error"), ("java.net.ConnectException", "")], RetriableError, "unavailable"),
        (
            [
                ("org.apache.iceberg.jdbc.UncheckedSQLException", "Failed"),
                ("org.postgresql.util.PSQLException 08001", "no"),
            ],
            RetriableError,
            "unavailable",
        ),
        ([(ICEBERG + "CommitStateUnknownException", "?"), (ICEBERG + "RESTException", "")], RetriableError, "unknown"),
        ([ABORTED, (ICEBERG + "CommitFailedException", "stale")], RetriableError, "faster"),
        ([(ICEBERG + "ForbiddenException", "no")], ConfigError, "access is refused"),
        ([(ICEBERG + "NotAuthorizedException", "401")], ConfigError, "access is refused"),
        (
            [(ICEBERG + "RuntimeIOException", ""), ("org.apache.hadoop.security.AccessControlException", "no")],
            ConfigError,
            "access is refused",
        ),
        (
            [
                ("org.apache.iceberg.jdbc.UncheckedSQLException", ""),
                ("org.postgresql.util.PSQLException 28P01", "password"),
            ],
            ConfigError,
            "28P01",
        ),
        ([("java.lang.ClassNotFoundException", "org.example.Catalog")], ConfigError, "cannot be used"),
        ([(ICEBERG + "NoSuchTableException", "Table does not exist: a.b")], DataError, "does not exist any more"),
        ([ABORTED, (ICEBERG + "NotFoundException", "s3://lake/f.parquet")], DataError, "is missing"),
        ([(ICEBERG + "NotAuthorizedException", "the token expired")], RetriableError, "the login has expired"),
        ([ABORTED, (AMAZON + "s3.model.S3Exception 403 AccessDenied", "no")], ConfigError, "access is refused"),
        ([(AMAZON + "glue.model.GlueException 400 UnrecognizedClientException", "")], ConfigError, "access is refused"),
        ([(AMAZON + "glue.model.GlueException 400 ThrottlingException", "")], RetriableError, "unavailable"),
        ([(AMAZON + "s3.model.S3Exception 503 SlowDown", "")], RetriableError, "unavailable"),
        ([(AMAZON + "s3.model.S3Exception 400 ExpiredToken", "")], RetriableError, "the login has expired"),
        ([(ICEBERG + "ValidationException", "Cannot")], DataError, "refused by Iceberg"),
    ],
)
def test_each_class_of_exception_says_whether_to_retry(chain: Chain, kind: type[ConnectError], word: str) -> None:
    error = meaning_of("table lake.a.b", chain)
    assert type(error) is kind
    assert word in str(error) and "table lake.a.b" in str(error)


def test_the_text_has_one_line() -> None:
    error = meaning_of("table t", [(ICEBERG + "RESTException", "first\nsecond\n\tat java.lang.Thread")])
    assert "\n" not in str(error) and "first" in str(error)


def test_the_text_has_the_innermost_cause() -> None:
    chain = [("java.io.UncheckedIOException", "Failed to close"), ("java.io.IOException", "No route"), ("x.Y", "")]
    assert str(meaning_of("table t", chain)).endswith("(UncheckedIOException: Failed to close; No route)")


def test_what_is_not_known_is_left_as_it_is() -> None:
    assert meaning_of("table t", [("java.lang.NullPointerException", "")]) is None


@pytest.mark.parametrize(
    "text, shown",
    [
        ("Failed: jdbc:postgresql://db:5432/c?user=a&password=hunter2&ssl=on", "?user=a&password=***&ssl=on"),
        ("Failed: https://me:hunter2@catalog/v1", "https://me:***@catalog/v1"),
        ("Failed: s3://b/k?X-Amz-Signature=hunter2 twice", "?X-Amz-Signature=*** twice"),
        ("Failed: http://catalog:8181/v1", "http://catalog:8181/v1"),
    ],
)
def test_secrets_in_addresses_are_not_shown(text: str, shown: str) -> None:
    error = str(meaning_of("table t", [(ICEBERG + "RESTException", text)]))
    assert shown in error and "hunter2" not in error
    assert shown in text_of(Exception(text)) and "hunter2" not in text_of(Exception(text))
