"""A sink for MongoDB: a document for each key, deleted by a tombstone. An example of a sink that is a class.

`kconnect run --plugin mongodb_sink.py mongodb-orders.json`, after `pip install pymongo`.

A record that is put again replaces the same document with the same content, so at least once is enough: `_id` is the
record's key, or its place in Kafka. A replay of an interval would set documents back to what they were then, so it is
not allowed.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pymongo
from bson import encode
from bson.codec_options import CodecOptions, TypeRegistry
from bson.decimal128 import Decimal128
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo.errors import BulkWriteError, ConnectionFailure, OperationFailure, PyMongoError

from airflow_kconnect.sdk import (
    ConfigDef,
    ConfigError,
    DataError,
    Importance,
    NonEmptyString,
    PollSinkConnector,
    RefusedError,
    RetriableError,
    SinkRecord,
    SinkTask,
    TopicPartition,
    Type,
)

URI, DATABASE, COLLECTION = "connection.uri", "database", "collection"
DOCUMENT_MAX_BYTES = 16 << 20
TRANSIENT = {6, 7, 50, 89, 91, 112, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}
"""Codes of MongoDB's errors that are not about what is written: a primary that steps down, a time limit, a conflict."""


class MongoSinkConnector(PollSinkConnector):
    """Its keys have the names of MongoDB's own connector."""

    summary = "Writes a document of MongoDB for each key."

    @classmethod
    def config(cls) -> ConfigDef:
        high = Importance.HIGH
        return (
            ConfigDef()
            .define(URI, Type.PASSWORD, importance=high, documentation="mongodb://user:password@host")
            .define(DATABASE, Type.STRING, importance=high, documentation="Its name.", validator=NonEmptyString())
            .define(COLLECTION, Type.STRING, "", high, "Its name; default: that of the topic.")
        )

    def check(self) -> None:
        """Log in, before anything is read."""
        with connected(self.config_values) as client, named_errors():
            client[self.config_values[DATABASE]].command("ping")

    def task_class(self) -> Callable[[], SinkTask]:
        return MongoSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.props]


class MongoSinkTask(SinkTask):
    """Each `put` has written what it was given when it returns, so there is nothing to flush."""

    def start(self, props: Mapping[str, str]) -> None:
        self._values = MongoSinkConnector.config().parse(props)
        self._client = connected(self._values)

    def put(self, records: Sequence[SinkRecord]) -> None:
        for topic in dict.fromkeys(record.topic for record in records):
            collection = self._client[self._values[DATABASE]][self._values[COLLECTION] or topic]
            self._write(collection, [record for record in records if record.topic == topic])

    def _write(self, collection: Any, records: Sequence[SinkRecord]) -> None:
        """In order, since the last record of a key counts. What is refused is reported, and the rest is written."""
        writes = [(record, write) for record in records if (write := self._write_of(record)) is not None]
        while writes:
            try:
                with named_errors():
                    collection.bulk_write([write for _, write in writes], ordered=True)
                return
            except BulkWriteError as error:
                if error.details["writeConcernErrors"] or not error.details["writeErrors"]:
                    raise RetriableError(f"MongoDB has not confirmed all writes: {error.details}") from error
                failed = error.details["writeErrors"][0]
                if failed["code"] in TRANSIENT:
                    raise RetriableError(f"MongoDB is unavailable: {failed['errmsg']}") from error
                self.context.report(writes[failed["index"]][0], RefusedError(failed["errmsg"]))
                writes = writes[failed["index"] + 1 :]

    def _write_of(self, record: SinkRecord) -> Any:
        """None: there is none, and it was reported."""
        try:
            return write_of(record)
        except DataError as error:
            return self.context.report(record, error)

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Nothing is left to write."""

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()


def write_of(record: SinkRecord) -> Any:
    """What to do with a record. :raises DataError: nothing can be done."""
    place = f"{record.read_topic}-{record.partition}-{record.kafka_offset}"
    id_ = place if record.key is None else record.key
    if record.value is None and record.key is None:
        raise DataError("a tombstone without a key says of nothing that it is deleted")
    if isinstance(id_, dict) and any(str(name).startswith("$") for name in id_):
        raise DataError("its key has a field that begins with $, which would be an operator of MongoDB")
    if record.value is None:
        return pymongo.DeleteOne(encoded({"_id": id_}))
    if not isinstance(record.value, dict):
        raise DataError(f"a document is an object, and the value is of type {type(record.value).__name__}")
    document = encoded({**record.value, "_id": id_})
    if len(document.raw) > DOCUMENT_MAX_BYTES:
        raise DataError(f"has {len(document.raw):,} bytes, and a document at most {DOCUMENT_MAX_BYTES:,}")
    return pymongo.ReplaceOne(encoded({"_id": id_}), document, upsert=True)


def encoded(document: dict[str, Any]) -> RawBSONDocument:
    """A document as it is sent: encoded here, so that an error has its record. :raises DataError: it cannot be."""
    try:
        return RawBSONDocument(encode(document, codec_options=CODEC))
    except (BSONError, ArithmeticError) as error:  # numbers that are too long for MongoDB
        raise DataError(f"cannot be written as BSON: {type(error).__name__}: {error}") from error


def bson_value(value: Any) -> Any:
    """A value of which BSON has no type, as one of those that it has."""
    if isinstance(value, decimal.Decimal):
        return Decimal128(value)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.UTC)
    raise BSONError(f"there is no BSON for {type(value).__name__}")


CODEC: CodecOptions[dict[str, Any]] = CodecOptions(type_registry=TypeRegistry(fallback_encoder=bson_value))


def connected(values: Mapping[str, Any]) -> pymongo.MongoClient[dict[str, Any]]:
    """A client, which connects when it is used. :raises ConfigError: the address is none."""
    try:
        return pymongo.MongoClient(values[URI].value, appname="kconnect")
    except (PyMongoError, ValueError) as error:
        raise ConfigError({URI: [f"is not an address of MongoDB: {error}"]}) from error


class named_errors:
    """Errors of MongoDB as what they mean for the run."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ConnectionFailure) or getattr(error, "code", None) in TRANSIENT:
            raise RetriableError(f"MongoDB is unavailable: {error}") from error
        if isinstance(error, OperationFailure) and not isinstance(error, BulkWriteError):
            raise ConfigError({URI: [f"MongoDB refuses: {error}"]}) from error
