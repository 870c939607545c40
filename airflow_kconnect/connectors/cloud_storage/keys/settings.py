"""What a configuration of the three sinks means, and what is wrong with it. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.cloud_storage.keys.classes import (
    FORMATS,
    PARTITIONERS,
    Format,
    Partitioner,
    unknown,
)
from airflow_kconnect.connectors.cloud_storage.keys.common import BUFFER, OPEN_FILES
from airflow_kconnect.connectors.cloud_storage.rules.layout import Layout, Part
from airflow_kconnect.connectors.cloud_storage.rules.partitions import (
    DAY_MS,
    HOUR_MS,
    ByFields,
    ByKafka,
    ByTime,
    Extractor,
    Partitioning,
)
from airflow_kconnect.connectors.cloud_storage.rules.path_format import PathFormat, time_zone
from airflow_kconnect.connectors.cloud_storage.rules.rotation import Bounds
from airflow_kconnect.places.base import is_hidden

FAIL, IGNORE, WRITE = "fail", "ignore", "write"
_HIDDEN = "and names that begin with a dot are hidden: from readers, and from the run that looks for what others left"
_PARQUET = {"none": "", "snappy": ".snappy", "gzip": ".gz", "lz4": ".lz4", "brotli": ".br", "zstd": ".zstd"}
_PART_KEYS = {Part.VALUES: "format.class", Part.KEYS: "keys.format.class", Part.HEADERS: "headers.format.class"}


@dataclass(frozen=True)
class FileKind:
    """How the files of a part are written.

    :param extension: with its dot. :param codec: compression, and its level. :param schema: of Avro files.
    """

    format: Format
    extension: str
    codec: str = ""
    level: int = -1
    schema: ConnectSchema | None = None


@dataclass(frozen=True)
class Settings:
    """Of a run; pickled into the tasks.

    :param kinds: the parts of records that are stored. :param part_bytes: how much is sent at once.
    """

    layout: Layout
    partitioning: Partitioning
    bounds: Bounds
    kinds: Mapping[Part, FileKind]
    nulls: str
    tombstones: str
    separator: str
    numeric_decimals: bool
    open_files: int
    buffer_bytes: int
    part_bytes: int = field(default=8 * 1024 * 1024)

    @property
    def needs(self) -> frozenset[str]:
        """Which parts of records are used, besides values."""
        by_record = isinstance(self.partitioning, ByTime) and self.partitioning.extractor is Extractor.RECORD
        wanted = {"key": Part.KEYS in self.kinds, "headers": Part.HEADERS in self.kinds, "timestamp": by_record}
        return frozenset(name for name, is_wanted in wanted.items() if is_wanted)


def settings_of(values: Mapping[str, Any], *, part_bytes: int, compression: tuple[str, int] = ("none", -1)) -> Settings:
    """Of valid values.

    :param compression: of JSON and byte files, and its level.
    """
    partitioning = _partitioning(values)
    interval = values["rotate.interval.ms"]
    by_time = isinstance(partitioning, ByTime) and partitioning.extractor is not Extractor.WALLCLOCK
    separator = values["format.bytearray.separator"]
    return Settings(
        Layout(
            values["topics.dir"] or "",
            values["directory.delim"],
            values["file.delim"],
            values["filename.offset.zero.pad.width"],
        ),
        partitioning,
        Bounds(values["flush.size"], interval if by_time and interval > 0 else None),
        {part: _kind(values, part, compression) for part in _parts(values)},
        values["behavior.on.null.values"].lower(),
        values["tombstone.encoded.partition"],
        "\n" if separator is None else separator,
        values["json.decimal.format"].upper() == "NUMERIC",
        values[OPEN_FILES],
        values[BUFFER],
        part_bytes,
    )


def problems(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Key -> messages, all at once."""
    found: dict[str, list[str]] = {}
    for key, text in (
        *_format_problems(values),
        *_partition_problems(values),
        *_null_problems(values),
        *_hidden_problems(values),
    ):
        found.setdefault(key, []).append(text)
    return found


def warnings(values: Mapping[str, Any]) -> list[str]:
    """What does not do what a user may expect."""
    partitioner = PARTITIONERS.get(values["partitioner.class"])
    extractor = _extractor(values)
    found = []
    if values["rotate.interval.ms"] > 0 and (
        partitioner is None or not partitioner.by_time or extractor is Extractor.WALLCLOCK
    ):
        found.append(
            "`rotate.interval.ms` has no effect: moments of records are needed, by a partitioner by time with "
            "`timestamp.extractor` Record or RecordField"
        )
    return found


def _parts(values: Mapping[str, Any]) -> list[Part]:
    wanted = {Part.VALUES: True, Part.KEYS: values["store.kafka.keys"], Part.HEADERS: values["store.kafka.headers"]}
    return [part for part, is_wanted in wanted.items() if is_wanted]


def _kind(values: Mapping[str, Any], part: Part, compression: tuple[str, int]) -> FileKind:
    codec, level = compression
    zipped = ".gz" if codec == "gzip" else ""
    match FORMATS[values[_PART_KEYS[part]]]:
        case Format.JSON:
            return FileKind(Format.JSON, f".json{zipped}", codec, level)
        case Format.BYTES:
            return FileKind(Format.BYTES, f"{values['format.bytearray.extension']}{zipped}", codec, level)
        case Format.AVRO:
            return FileKind(Format.AVRO, ".avro", values["avro.codec"])
    return FileKind(Format.PARQUET, f"{_PARQUET[values['parquet.codec']]}.parquet", values["parquet.codec"])


def _partitioning(values: Mapping[str, Any]) -> Partitioning:
    delim = values["directory.delim"]
    match PARTITIONERS[values["partitioner.class"]]:
        case Partitioner.DEFAULT:
            return ByKafka()
        case Partitioner.FIELD:
            return ByFields(tuple(values["partition.field.name"]), values["partition.field.format.path"], delim)
        case partitioner:
            pattern, duration = _pattern(values, partitioner)
            extractor = _extractor(values)
            assert extractor is not None
            format_ = PathFormat(pattern, values["timezone"], values["locale"])
            return ByTime(format_, duration, extractor, values["timestamp.field"])


def _pattern(values: Mapping[str, Any], partitioner: Partitioner) -> tuple[str, int]:
    if partitioner is Partitioner.TIME:
        return values["path.format"].removesuffix(values["directory.delim"]), values["partition.duration.ms"]
    parts = ["'year'=YYYY", "'month'=MM", "'day'=dd", *(["'hour'=HH"] if partitioner is Partitioner.HOURLY else [])]
    return values["directory.delim"].join(parts), HOUR_MS if partitioner is Partitioner.HOURLY else DAY_MS


def _extractor(values: Mapping[str, Any]) -> Extractor | None:
    outer, dollar, inner = str(values["timestamp.extractor"]).rpartition("$")
    if dollar and PARTITIONERS.get(outer) is not Partitioner.TIME:
        return None
    name = inner.removesuffix("TimestampExtractor").lower()
    return next((each for each in Extractor if each.lower() == name), None)


def _format_problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part in _parts(values):
        key = _PART_KEYS[part]
        if values[key] not in FORMATS:
            yield key, unknown(values[key], FORMATS)
        elif part is Part.HEADERS and FORMATS[values[key]] is Format.BYTES:
            yield key, "is ByteArrayFormat, and headers are not bytes: use JsonFormat, AvroFormat or ParquetFormat"
    for key in ("directory.delim", "file.delim"):
        if not values[key]:
            yield key, "is empty: names could not be told from each other"


def _partition_problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = values["partitioner.class"]
    if (partitioner := PARTITIONERS.get(name)) is None:
        yield "partitioner.class", unknown(name, PARTITIONERS)
        return
    if partitioner is Partitioner.FIELD and not [field for field in values["partition.field.name"] or () if field]:
        yield "partition.field.name", f"is missing: {partitioner} needs the fields that make the path"
    if not partitioner.by_time:
        return
    if _extractor(values) is None:
        yield "timestamp.extractor", unknown(values["timestamp.extractor"], {each: each for each in Extractor})
    for key in ("locale", "timezone"):
        if not values[key]:
            yield key, f"is missing: {partitioner} needs it"
    if partitioner is Partitioner.TIME:
        if values["partition.duration.ms"] <= 0:
            yield "partition.duration.ms", f"is missing: {partitioner} needs milliseconds, 3600000 for an hour"
        if not values["path.format"].strip(values["directory.delim"] or "/"):
            yield "path.format", f"is missing: {partitioner} needs a pattern like 'year'=YYYY/'month'=MM/'day'=dd"
    yield from _pattern_problems(values, _pattern(values, partitioner)[0])


def _pattern_problems(values: Mapping[str, Any], pattern: str) -> Iterator[tuple[str, str]]:
    try:
        if values["timezone"]:
            time_zone(values["timezone"])
    except ValueError as error:
        yield "timezone", str(error)
    try:
        text = PathFormat(pattern, "UTC", values["locale"] or "en").texts()(0)
    except ValueError as error:
        yield "path.format", str(error)
    else:
        if is_hidden(text):
            yield "path.format", f"makes folders like {text}, {_HIDDEN}"


def _null_problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if values["behavior.on.null.values"].lower() == WRITE:
        if not values["store.kafka.keys"]:
            yield "behavior.on.null.values", "is write, which stores keys: set `store.kafka.keys` to true"
        if not values["tombstone.encoded.partition"]:
            yield "tombstone.encoded.partition", "is empty: name the folder for records without value"
        if (values["tombstone.encoded.partition"] or "").startswith("partition="):
            yield "tombstone.encoded.partition", "begins with partition=, as folders of records with values do"


def _hidden_problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("topics.dir", "tombstone.encoded.partition"):
        if is_hidden(values[key] or ""):
            yield key, f"is {values[key]}, {_HIDDEN}"
