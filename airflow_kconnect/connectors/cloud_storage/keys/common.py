"""The keys that the three sinks share, with Confluent's names and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Range, Type, ValidString
from airflow_kconnect.places.keys import define_store_keys
from airflow_kconnect.validation.connector_keys import KCONNECT

OPEN_FILES = "kconnect.open.files.max"
BUFFER = "kconnect.buffer.bytes"
_HIGH, _MEDIUM, _LOW = Importance

_TASK = "a run is a batch, which is retried as a whole: see `retries` of its Airflow task"
_SHAPES = "schemas are kept by the converter"
_AVRO = "a file's schema is made from the columns of its records"
IGNORED: Sequence[tuple[str, Type, Any, str]] = (
    ("rotate.schedule.interval.ms", Type.LONG, -1, "a run is a batch, and ends all its files: the schedule of the DAG "
     "is that of the files"),
    ("retry.backoff.ms", Type.LONG, 5000, _TASK),
    ("shutdown.timeout.ms", Type.LONG, 3000, _TASK),
    ("schema.cache.size", Type.INT, 1000, _SHAPES),
    ("enhanced.avro.schema.support", Type.BOOLEAN, None, _AVRO),
    ("connect.meta.data", Type.BOOLEAN, None, _AVRO),
    ("allow.optional.map.keys", Type.BOOLEAN, None, _AVRO),
)  # fmt: skip


def define_common_keys(config: ConfigDef, ignored: Sequence[tuple[str, Type, Any, str]]) -> ConfigDef:
    """Add them, after those that only one of the sinks has.

    :param ignored: keys of that sink without effect: name, type, default, and why.
    """
    _define_files(config)
    _define_partitioners(config)
    _define_parts(config)
    for name, type_, default, why in (*IGNORED, *ignored):
        config.define(name, type_, default, _LOW, without_effect=why)
    return define_store_keys(config)


def _define_files(config: ConfigDef) -> None:
    (
        config.define("format.class", Type.STRING, importance=_HIGH, example="JsonFormat",
                      documentation="What values are written as: JsonFormat (a line per record), AvroFormat, "
                      "ParquetFormat or ByteArrayFormat, by full or simple name.")
        .define("storage.class", Type.STRING, None, _LOW, "Accepted: the connector's class says which store it is.")
        .define("flush.size", Type.INT, importance=_HIGH, validator=Range.at_least(1), example="100000",
                documentation="Most records per file.")
        .define("rotate.interval.ms", Type.LONG, -1, _HIGH, "With a partitioner by time: a file takes no records this "
                "many milliseconds or more after its first one, by their moments. Older ones it takes. -1: any.")
        .define("topics.dir", Type.STRING, "topics", _HIGH, "Folder in the bucket, with a folder for each topic.")
        .define("directory.delim", Type.STRING, "/", _MEDIUM, "Between the names of folders.")
        .define("file.delim", Type.STRING, "+", _MEDIUM, "Between topic, partition and offset in the name of a file.")
        .define("filename.offset.zero.pad.width", Type.INT, 10, _LOW, "Digits of the offset in the name of a file.",
                validator=Range.at_least(0))
        .define("schema.compatibility", Type.STRING, "NONE", _MEDIUM, "Accepted, and never ends a file: a file has the "
                "columns of all shapes of records, null where a record lacks one.",
                validator=ValidString.in_case_insensitive("NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE",
                                                          "FORWARD_TRANSITIVE", "FULL_TRANSITIVE"))
        .define("avro.codec", Type.STRING, "null", _LOW, "Compression of Avro files: null, deflate, snappy, bzip2, "
                "zstandard or xz.", validator=ValidString.in_("null", "deflate", "snappy", "bzip2", "zstandard", "xz"))
        .define("parquet.codec", Type.STRING, "snappy", _LOW, "Compression of Parquet files; it is in their names.",
                validator=ValidString.in_("none", "snappy", "gzip", "lz4", "brotli", "zstd"))
        .define("json.decimal.format", Type.STRING, "BASE64", _LOW, "Decimals in JSON: BASE64 or NUMERIC.",
                validator=ValidString.in_case_insensitive("BASE64", "NUMERIC"))
        .define("format.bytearray.extension", Type.STRING, ".bin", _LOW, "Ending of the names of byte files.")
        .define("format.bytearray.separator", Type.STRING, None, _LOW, "Between values in byte files; as a rule a line "
                "feed.")
        .define(OPEN_FILES, Type.INT, 1000, _LOW, "Most files that a task keeps open; the one that was not written to "
                "for the longest time ends first.", validator=Range.at_least(1), group=KCONNECT)
        .define(BUFFER, Type.LONG, 134_217_728, _LOW, "Most bytes of records that a task keeps for open files; the "
                "largest is written to the disk first.", validator=Range.at_least(1_048_576), group=KCONNECT)
    )  # fmt: skip


def _define_partitioners(config: ConfigDef) -> None:
    (
        config.define("partitioner.class", Type.STRING, "DefaultPartitioner", _HIGH, "DefaultPartitioner, "
                      "FieldPartitioner, TimeBasedPartitioner, DailyPartitioner or HourlyPartitioner, by full or "
                      "simple name.")
        .define("partition.field.name", Type.LIST, "", _MEDIUM, "FieldPartitioner: the fields of values that make the "
                "path; dots lead to fields within others.")
        .define("partition.field.format.path", Type.BOOLEAN, True, _LOW, "FieldPartitioner: whether the names of "
                "fields are in the path, not only their values.")
        .define("partition.duration.ms", Type.LONG, -1, _MEDIUM, "TimeBasedPartitioner: moments are rounded down to "
                "multiples of these milliseconds.")
        .define("path.format", Type.STRING, "", _MEDIUM, "TimeBasedPartitioner: pattern of the path, as in Joda-Time.",
                example="'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH")
        .define("locale", Type.STRING, "", _MEDIUM, "Partitioners by time: language of words in paths.",
                example="en-US")
        .define("timezone", Type.STRING, "", _MEDIUM, "Partitioners by time: the zone of local time.", example="UTC")
        .define("timestamp.extractor", Type.STRING, "Wallclock", _MEDIUM, "Partitioners by time: the moment of a "
                "record. Wallclock: when the run began. Record: its timestamp in Kafka. RecordField: a field of its "
                "value.")
        .define("timestamp.field", Type.STRING, "timestamp", _MEDIUM, "That field: a timestamp, milliseconds "
                "since 1970 (a text of digits too), or an ISO text (UTC unless it says otherwise).")
    )  # fmt: skip


def _define_parts(config: ConfigDef) -> None:
    (
        config.define("behavior.on.null.values", Type.STRING, "fail", _LOW, "Records without value. fail: they are "
                      "bad records. ignore: they are left out. write: their keys are stored, in a folder of their own.",
                      validator=ValidString.in_case_insensitive("fail", "ignore", "write"))
        .define("tombstone.encoded.partition", Type.STRING, "tombstone", _LOW, "That folder.")
        .define("store.kafka.keys", Type.BOOLEAN, False, _LOW, "Whether keys are stored, in a file of the same name "
                "with `.keys` before its ending.")
        .define("store.kafka.headers", Type.BOOLEAN, False, _LOW, "Whether headers are stored, in a file of the same "
                "name with `.headers` before its ending.")
        .define("keys.format.class", Type.STRING, "AvroFormat", _LOW, "What keys are written as; see `format.class`.")
        .define("headers.format.class", Type.STRING, "AvroFormat", _LOW, "What headers are written as; see "
                "`format.class`.")
    )  # fmt: skip
