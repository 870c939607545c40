"""The keys of connect-spooldir, with its names and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.config import (
    NO_DEFAULT,
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Type,
    ValidString,
)
from airflow_kconnect.connectors.record_files.config import BY_DATE, DELETE, MOVE, NO_POLICY, files_config
from airflow_kconnect.places.keys import address_validator, define_store_keys

FIELD, FILE_TIME, PROCESS_TIME = "FIELD", "FILE_TIME", "PROCESS_TIME"
NEITHER, SEPARATORS, QUOTES, BOTH = "NEITHER", "EMPTY_SEPARATORS", "EMPTY_QUOTES", "BOTH"
ISO_FORMATS = (
    "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd' 'HH:mm:ss", "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm",
    "yyyy-MM-dd'T'HH:mm:ss.SSS", "yyyy-MM-dd HH:mm:ss.SSS", "yyyy-MM-dd'T'HH:mm:ss'Z'", "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
    "yyyy-MM-dd'T'HH:mm:ssXXX", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
)  # fmt: skip
"""Patterns of times that are read in any case; the first two are the default."""
_SAME = ("input.file.pattern", "topic", "file.minimum.age.ms", "files.sort.attributes")
"""Keys that the files source has with the same meaning."""
_OWN = ("compression", "on.changed", "on.renamed", "split.bytes")
"""Keys of the files source that connect-spooldir does not have."""
_HIGH, _MEDIUM, _LOW = Importance
_BATCH = "a run is a batch: it reads what is there and ends"
_SPLITS = "files are read in parallel, as Spark has room for them"
_IGNORED: Sequence[tuple[str, Type, Any, str]] = (
    ("batch.size", Type.INT, 1000, "records travel in Arrow batches"),
    ("empty.poll.wait.ms", Type.LONG, 500, _BATCH),
    ("processing.file.extension", Type.STRING, ".PROCESSING", "offsets say which files were read"),
    ("file.buffer.size.bytes", Type.INT, 131_072, "files are read in blocks of some megabytes"),
    ("task.index", Type.INT, 0, _SPLITS),
    ("task.count", Type.INT, 1, _SPLITS),
    ("task.partitioner", Type.STRING, "ByName", _SPLITS),
    ("cleanup.policy.maintain.relative.path", Type.BOOLEAN, False, "files are moved with the folders that they are in"),
)
_IGNORED_CSV: Sequence[tuple[str, Type, Any, str]] = (
    ("csv.verify.reader", Type.BOOLEAN, True, "a file that cannot be read is an error in any case"),
    ("csv.case.sensitive.field.names", Type.BOOLEAN, False, "names in headers are case-sensitive, as they are there"),
)


def line_config() -> ConfigDef:
    """Of the sources of lines, and of JSON without schema."""
    config = _common_config()
    return _with_files_keys(_charset(config, "file.charset"))


def avro_config() -> ConfigDef:
    """Of the source of Avro files."""
    return _with_files_keys(_common_config(), "enhanced.avro.schema.support")


def json_config() -> ConfigDef:
    """Of the source of JSON with a schema."""
    return _with_files_keys(_charset(_define_schemas(_common_config()), "file.charset"))


def csv_config() -> ConfigDef:
    """Of the source of CSV."""
    config = _define_csv(_define_schemas(_common_config()))
    return _with_files_keys(_charset(config, "csv.file.charset"), "csv.multiline")


def _with_files_keys(config: ConfigDef, *names: str) -> ConfigDef:
    known = files_config().keys
    config.keys.update({name: known[name] for name in (*_OWN, *names)})
    return define_store_keys(config)


def _common_config() -> ConfigDef:
    config, place = ConfigDef(), address_validator()
    (
        config.define("input.path", Type.STRING, importance=_HIGH, validator=place, example="/data/in",
                      documentation="Absolute path of the folder with the files, which the driver and all executors "
                      "see; or an address in a store.")
        .define("finished.path", Type.STRING, "", _HIGH, "Folder for files that were read, with `cleanup.policy` MOVE "
                "and MOVEBYDATE. It is made where it is missing.", validator=LambdaValidator(_place_problem),
                example="/data/done")
        .define("error.path", Type.STRING, importance=_HIGH, validator=place, example="/data/bad",
                documentation="Folder for files with bad records; see `halt.on.error`. It is made where it is missing.")
        .define("cleanup.policy", Type.STRING, MOVE, _MEDIUM, "What happens to a file that was read, after its offset "
                "was committed. NONE: it stays, and is not read again. DELETE: it is removed. MOVE: it is moved to "
                "`finished.path`. MOVEBYDATE: the same, into a folder of the day when it was last changed (UTC).",
                validator=ValidString.in_(NO_POLICY, DELETE, MOVE, BY_DATE))
        .define("input.path.walk.recursively", Type.BOOLEAN, False, _LOW, "Whether files in folders below `input.path` "
                "are read.")
        .define("halt.on.error", Type.BOOLEAN, True, _HIGH, "Whether a bad row or file ends the run. false needs "
                "`errors.tolerance=all`: then bad rows are skipped and counted, the others of the file are read, and "
                "the file is moved to `error.path`.")
        .define("timestamp.mode", Type.STRING, PROCESS_TIME, _MEDIUM, "The time of a record. PROCESS_TIME: when it is "
                "read. FILE_TIME: when its file was last changed. FIELD: that in `timestamp.field`, with a schema.",
                validator=ValidString.in_(FIELD, FILE_TIME, PROCESS_TIME))
    )  # fmt: skip
    known = files_config().keys
    config.keys.update({name: known[name] for name in _SAME})
    config.keys["input.file.pattern"] = replace(known["input.file.pattern"], default=NO_DEFAULT)
    return _ignored(config, _IGNORED)


def _define_schemas(config: ConfigDef) -> ConfigDef:
    return (
        config.define("value.schema", Type.STRING, "", _HIGH, "Schema of values, as JSON in connect-spooldir's form. "
                      "Columns that are not in it are left out.", example='{"name": "shop.Order", "type": "STRUCT", '
                      '"isOptional": false, "fieldSchemas": {"id": {"type": "INT64", "isOptional": false}}}')
        .define("key.schema", Type.STRING, "", _HIGH, "The same of keys, whose fields are some of those of values. "
                "Without fields: keys are null.")
        .define("schema.generation.enabled", Type.BOOLEAN, False, _MEDIUM, "Whether schemas that are not given are "
                "made of each file: all its columns, as strings that may be null. Only for CSV.")
        .define("schema.generation.key.fields", Type.LIST, "", _MEDIUM, "Columns for keys, with "
                "`schema.generation.enabled`. None: keys are null.", validator=LambdaValidator(_repeated))
        .define("schema.generation.key.name", Type.STRING, "com.github.jcustenborder.kafka.connect.model.Key", _MEDIUM,
                "Name of the schema that is made for keys.", validator=NonEmptyString())
        .define("schema.generation.value.name", Type.STRING, "com.github.jcustenborder.kafka.connect.model.Value",
                _MEDIUM, "Name of the schema that is made for values.", validator=NonEmptyString())
        .define("timestamp.field", Type.STRING, "", _MEDIUM, "The field with the time of the record, with "
                "`timestamp.mode=FIELD`: a Timestamp of `value.schema` that is required.")
        .define("parser.timestamp.timezone", Type.STRING, "UTC", _LOW, "Zone of times without one: UTC.")
        .define("parser.timestamp.date.formats", Type.LIST, ",".join(ISO_FORMATS[:2]), _LOW, "How times are written. "
                "Those of ISO 8601 are read, whatever is set; other patterns are not supported.")
    )  # fmt: skip


def _define_csv(config: ConfigDef) -> ConfigDef:
    (
        config.define("csv.first.row.as.header", Type.BOOLEAN, False, _MEDIUM, "Whether the first row of each file has "
                      "the names of its columns. If not, they are the fields of `value.schema`, in their order.")
        .define("csv.skip.lines", Type.INT, 0, _LOW, "How many lines at the beginning of each file are left out.",
                validator=Range.at_least(0))
        .define("csv.separator.char", Type.INT, 44, _LOW, "What is between the values: the number of a character.",
                validator=Range.between(1, 127))
        .define("csv.quote.char", Type.INT, 34, _LOW, "What is around values with separators or line ends. 0: nothing.",
                validator=Range.between(0, 127))
        .define("csv.escape.char", Type.INT, 92, _LOW, "What makes the next character an ordinary one. 0: nothing.",
                validator=Range.between(0, 127))
        .define("csv.rfc.4180.parser.enabled", Type.BOOLEAN, False, _LOW, "Whether nothing is escaped, as in RFC 4180.")
        .define("csv.null.field.indicator", Type.STRING, NEITHER, _LOW, "Which empty values of strings are null. "
                "EMPTY_SEPARATORS: those without quotes. BOTH: all. NEITHER: none. EMPTY_QUOTES is not supported.",
                validator=ValidString.in_(NEITHER, SEPARATORS, QUOTES, BOTH))
        .define("csv.ignore.leading.whitespace", Type.BOOLEAN, True, _LOW, "Whether spaces before a quote are not "
                "meant. If so, a value that begins with spaces and a quote makes a bad row; if not, both are part of "
                "the value.")
        .define("csv.strict.quotes", Type.BOOLEAN, False, _LOW, "true is not supported.",
                validator=LambdaValidator(_only_false))
        .define("csv.ignore.quotations", Type.BOOLEAN, False, _LOW, "true is not supported.",
                validator=LambdaValidator(_only_false))
        .define("csv.keep.carriage.return", Type.BOOLEAN, False, _LOW, "true is not supported.",
                validator=LambdaValidator(_only_false))
    )  # fmt: skip
    return _ignored(config, _IGNORED_CSV)


def _charset(config: ConfigDef, name: str) -> ConfigDef:
    validator = files_config().keys["file.charset"].validator
    return config.define(name, Type.STRING, "UTF-8", _LOW, "Encoding of the files.", validator=validator)


def _ignored(config: ConfigDef, keys: Sequence[tuple[str, Type, Any, str]]) -> ConfigDef:
    for name, type_, default, why in keys:
        config.define(name, type_, default, _LOW, without_effect=why)
    return config


def _place_problem(name: str, value: Any) -> str | None:
    if value:
        address_validator()(name, value)
    return None


def _repeated(name: str, value: Any) -> str | None:
    twice = next((each for each in value if value.count(each) > 1), None)
    return f"has {twice} twice" if twice else None


def _only_false(name: str, value: Any) -> str | None:
    text = "is true, which is not supported: leave it out, or set `kconnect.hosted=true` to run the Java class"
    return text if value else None
