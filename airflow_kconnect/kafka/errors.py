"""What a Kafka error means for a run: fenced, wrong configuration, bad data, or retry later."""

from __future__ import annotations

import re

from confluent_kafka import KafkaError, KafkaException

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.kafka.logins.callback import last_failure

_FENCED = {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
_AUTHENTICATION = {KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED}
_TLS = {KafkaError._SSL}
_UNSUPPORTED = {KafkaError.UNSUPPORTED_VERSION, KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT}
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
# Not every broker knows a topic created a moment ago, or which of them leads it; and a new broker creates its group
# topic on the first request.
_NOT_YET = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    # The leader does not know yet how far its replicas are.
    KafkaError.OFFSET_NOT_AVAILABLE,
    # The client already knows a leader's epoch that this broker is about to learn, or the reverse.
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.NOT_CONTROLLER,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.NOT_COORDINATOR,
    # A transaction that has ended has not reached the group yet.
    KafkaError.UNSTABLE_OFFSET_COMMIT,
    # The client's own: it has asked which brokers lead the partitions, and none does ("No leaders found").
    KafkaError._NOENT,
    # The client's own: the coordinator is being looked up.
    KafkaError._WAIT_COORD,
}

# If librdkafka gets no token, it either says why or shows the server's answer, which may contain a secret.
_TOKEN = re.compile(r"(Failed to acquire SASL OAUTHBEARER token: )(.*)", re.DOTALL)
_WHY = re.compile(r"(Failed to connect|Could not (resolve|connect)|Expected JSON|(Connection|Operation) timed)[^\n]*")
# What confluent-kafka says if a provider of tokens gave none, and what brokers say of tokens.
_NO_TOKEN = "OAuth token not set"
_REFUSED_TOKEN = re.compile(r"invalid_token|Access denied")  # of Kafka itself, of MSK
# What a broker says if it could not reach its own password server (Kafka's PlainSaslServer): no login was rejected.
_NOBODY_REFUSED = "could not be verified"
# A broker that is stopping or starting breaks off handshakes, too.
_BROKEN_OFF = re.compile(r"Disconnected|reset by peer|timed? ?out|Broken pipe", re.IGNORECASE)


def error_of(exception: KafkaException) -> KafkaError:
    """The `KafkaError` in a `KafkaException`."""
    error: KafkaError = exception.args[0]
    return error


def text_of(error: KafkaError) -> str:
    """The client's text for an error, without what a token server has answered."""
    return _TOKEN.sub(_without_answer, error.str() or error.name())


def _without_answer(match: re.Match[str]) -> str:
    why = _WHY.match(match[2])
    return match[1] + (why[0] if why else "the token server has refused (its answer is not shown)")


def is_not_yet(error: KafkaError) -> bool:
    """Whether an admin request had this answer because the cluster has not settled: it should be asked again."""
    return error.code() in _NOT_YET


def will_not_pass(error: KafkaError) -> bool:
    """Whether a client that reports this error while connecting would report it again and again."""
    return isinstance(_of_connection(error, ""), ConfigError)


def _of_connection(error: KafkaError, text: str) -> ConnectError | None:
    """The error for a failed connection: login rejected, or protocol mismatch; None if it is another kind of error."""
    code, description = error.code(), error.str() or ""
    if code in _AUTHENTICATION:
        if _TOKEN.search(description):
            keys = "`sasl.oauthbearer.token.endpoint.url`, client id and secret"
            return RetriableError(f"{text}; check that the token server runs, and {keys}")
        if _NO_TOKEN in description:
            return last_failure() or RetriableError(f"{text}; the next run tries again")
        if _REFUSED_TOKEN.search(description):
            what = "the broker refuses the token; check whose it is, its rights, and this machine's clock"
            return ConfigError({"sasl.mechanism": [f"{text}: {what}"]})
        if _NOBODY_REFUSED in description:
            return RetriableError(f"{text}: the broker could not verify user and password")
        return ConfigError({"sasl.password": [f"{text}: authentication failed; check user, password and mechanism"]})
    if code in _TLS and not _BROKEN_OFF.search(description):
        return ConfigError({"security.protocol": [f"{text}: check the protocol, the certificates and `ssl.*`"]})
    if code in _UNSUPPORTED:
        return ConfigError({"bootstrap.servers": [f"{text}: the brokers are too old for this request; upgrade them"]})
    return None


def translate(error: KafkaError, doing: str) -> ConnectError:
    """The airflow_kconnect error for a Kafka error.

    :param doing: what was attempted, e.g. ``reading connect-offsets``; the text starts with it.
    """
    code = error.code()
    text = f"{doing}: {text_of(error)}"
    if code in _FENCED:
        return FencedError(f"{doing}: fenced by a newer run or by a Connect worker with the same transactional id")
    if (connection_error := _of_connection(error, text)) is not None:
        return connection_error
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
