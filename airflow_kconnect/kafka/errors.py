"""What a Kafka error means for a run: fenced, wrong configuration, bad data, or try again later."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError

_FENCED = {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
_AUTHENTICATION = {KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED}
_AUTHORIZATION = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
_TOO_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}
_BAD_RECORD = {KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP}
_REFUSED = {
    KafkaError.TOPIC_EXCEPTION,
    KafkaError.POLICY_VIOLATION,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError._UNKNOWN_PARTITION,
}
_BAD_VALUE = {KafkaError._INVALID_ARG, KafkaError.INVALID_CONFIG, KafkaError.INVALID_TRANSACTION_TIMEOUT}


def error_of(exception: KafkaException) -> KafkaError:
    """The `KafkaError` in a `KafkaException`."""
    error: KafkaError = exception.args[0]
    return error


def translate(error: KafkaError, doing: str) -> ConnectError:
    """The error of airflow_kconnect for a Kafka error.

    :param doing: what was attempted, e.g. ``reading connect-offsets``; begins the text.
    """
    code = error.code()
    text = f"{doing}: {error.str() or error.name()}"
    if code in _FENCED:
        return FencedError(f"{doing}: fenced by a newer run or by a Connect worker with the same transactional id")
    if code in _AUTHENTICATION:
        return ConfigError({"sasl.password": [f"{text}: authentication failed; check user, password and mechanism"]})
    if code in _AUTHORIZATION:
        return ConfigError({"sasl.username": [f"{text}: this principal lacks the permission (ACL)"]})
    if code in _TOO_LARGE:
        return DataError(
            f"{text}: raise `producer.override.max.request.size` and the topic's `max.message.bytes`, or make the"
            " record smaller"
        )
    if code in _BAD_RECORD:
        return DataError(
            f"{text}: the topic does not accept the record. Its timestamp may be too old or too far in the future (see"
            " the topic's `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms`), or a compacted topic"
            " needs a key"
        )
    if code in _BAD_VALUE:
        return ConfigError({"producer.override.*": [text]})
    if code in _REFUSED:
        return ConfigError({_key_of(code): [f"{text}; trying again does not help"]})
    return RetriableError(text)


def _key_of(code: int) -> str:
    return "sasl.mechanism" if code == KafkaError.UNSUPPORTED_SASL_MECHANISM else "topic"


def translated(exception: KafkaException, doing: str) -> ConnectError:
    """`translate` for a caught exception."""
    return translate(error_of(exception), doing)
