"""What a Kafka error means for a run."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.kafka.errors import error_of, translate, translated, will_not_pass

TABLE = [
    ("_FENCED", FencedError),
    ("PRODUCER_FENCED", FencedError),
    ("INVALID_PRODUCER_EPOCH", FencedError),
    ("_AUTHENTICATION", ConfigError),
    ("SASL_AUTHENTICATION_FAILED", ConfigError),
    ("_SSL", ConfigError),
    ("UNSUPPORTED_VERSION", ConfigError),
    ("UNSUPPORTED_FOR_MESSAGE_FORMAT", ConfigError),
    ("TOPIC_AUTHORIZATION_FAILED", ConfigError),
    ("GROUP_AUTHORIZATION_FAILED", ConfigError),
    ("CLUSTER_AUTHORIZATION_FAILED", ConfigError),
    ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", ConfigError),
    ("_INVALID_ARG", ConfigError),
    ("INVALID_CONFIG", ConfigError),
    ("INVALID_TRANSACTION_TIMEOUT", ConfigError),
    ("TOPIC_EXCEPTION", ConfigError),
    ("POLICY_VIOLATION", ConfigError),
    ("UNSUPPORTED_SASL_MECHANISM", ConfigError),
    ("_UNKNOWN_PARTITION", ConfigError),
    ("MSG_SIZE_TOO_LARGE", DataError),
    ("RECORD_LIST_TOO_LARGE", DataError),
    ("INVALID_RECORD", DataError),
    ("INVALID_TIMESTAMP", DataError),
    ("_TRANSPORT", RetriableError),
    ("_ALL_BROKERS_DOWN", RetriableError),
    ("_TIMED_OUT", RetriableError),
    ("_MSG_TIMED_OUT", RetriableError),
    ("_RESOLVE", RetriableError),
    ("_AUTO_OFFSET_RESET", RetriableError),
    ("REQUEST_TIMED_OUT", RetriableError),
    ("COORDINATOR_NOT_AVAILABLE", RetriableError),
    ("CONCURRENT_TRANSACTIONS", RetriableError),
    ("NOT_ENOUGH_REPLICAS", RetriableError),
    ("UNKNOWN_TOPIC_OR_PART", RetriableError),
    ("INVALID_TXN_STATE", RetriableError),
    ("UNKNOWN", RetriableError),
]


def kafka_error(name: str) -> KafkaError:
    return KafkaError(getattr(KafkaError, name))


@pytest.mark.parametrize(("name", "cls"), TABLE, ids=[name for name, _ in TABLE])
def test_class_and_a_text_of_one_line_that_says_what_was_attempted(name: str, cls: type[ConnectError]) -> None:
    error = translate(kafka_error(name), "reading t")
    assert (type(error), "reading t" in str(error), "\n" in str(error)) == (cls, True, False)


@pytest.mark.parametrize(
    "name", ["TOPIC_EXCEPTION", "UNSUPPORTED_SASL_MECHANISM", "POLICY_VIOLATION", "_UNKNOWN_PARTITION"]
)
def test_what_no_retry_can_cure_says_so(name: str) -> None:
    assert "trying again does not help" in str(translate(kafka_error(name), "creating topic t"))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("_AUTHENTICATION", "sasl.password"),
        ("TOPIC_AUTHORIZATION_FAILED", "sasl.username"),
        ("INVALID_CONFIG", "producer.override.*"),
        ("TOPIC_EXCEPTION", "topic"),
        ("UNSUPPORTED_SASL_MECHANISM", "sasl.mechanism"),
    ],
)
def test_a_configuration_error_names_the_key(name: str, key: str) -> None:
    error = translate(kafka_error(name), "reading t")
    assert isinstance(error, ConfigError)
    assert list(error.errors) == [key]


def test_a_record_that_is_too_large_names_both_settings() -> None:
    text = str(translate(kafka_error("MSG_SIZE_TOO_LARGE"), "writing to t"))
    assert [key in text for key in ("`producer.override.max.request.size`", "`max.message.bytes`")] == [True, True]


def test_the_error_in_an_exception_is_found() -> None:
    error = kafka_error("_TRANSPORT")
    assert error_of(KafkaException(error)) is error


def test_an_exception_is_translated_by_its_error() -> None:
    assert isinstance(translated(KafkaException(kafka_error("_FENCED")), "committing"), FencedError)


class TestConnectionsThatAreNotMade:
    """Texts of librdkafka 2.16 and of Kafka 4.3."""

    @pytest.mark.parametrize(
        ("name", "text", "passes"),
        [
            (
                "_AUTHENTICATION",
                "SASL authentication error: Authentication failed: Invalid username or password",
                False,
            ),
            ("_AUTHENTICATION", "Authentication failed: credentials for user could not be verified", True),
            ("_AUTHENTICATION", "Failed to acquire SASL OAUTHBEARER token: Could not resolve host: sso", True),
            ("_AUTHENTICATION", 'Failed to acquire SASL OAUTHBEARER token: {"error":"down"}', True),
            (
                "_SSL",
                "SSL handshake failed: certificate verify failed: broker certificate could not be verified",
                False,
            ),
            ("_SSL", "SSL handshake failed: wrong version number: connecting to a PLAINTEXT broker listener?", False),
            ("_SSL", "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?", True),
            ("_SSL", "SSL transport error: Connection reset by peer", True),
            ("_TRANSPORT", "Connect to ipv4#127.0.0.1:1 failed: Connection refused", True),
        ],
    )
    def test_pass_or_not(self, name: str, text: str, passes: bool) -> None:
        error = KafkaError(getattr(KafkaError, name), text)
        assert isinstance(translate(error, "connecting"), RetriableError) is passes
        assert will_not_pass(error) is not passes

    def test_the_answer_of_a_token_server_is_not_shown(self) -> None:
        text = 'Failed to acquire SASL OAUTHBEARER token: {\n"AccessKeyId": "canary-1"}'
        error = translate(KafkaError(KafkaError._AUTHENTICATION, text), "connecting to a:1")
        assert "canary-1" not in str(error)
        assert "the token server has refused (its answer is not shown)" in str(error)

    def test_why_no_token_server_answers_is_shown(self) -> None:
        text = "Failed to acquire SASL OAUTHBEARER token: Could not resolve host: sso.example.org"
        error = translate(KafkaError(KafkaError._AUTHENTICATION, text), "connecting to a:1")
        assert "Could not resolve host: sso.example.org; check that the token server runs" in str(error)
