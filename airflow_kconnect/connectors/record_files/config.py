"""The keys of FilesSource."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Type,
    ValidList,
    ValidString,
)
from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.record_files.types import TYPES, type_of
from airflow_kconnect.places.keys import address_validator, define_store_keys, store_problems
from airflow_kconnect.validation.connector_keys import KCONNECT

AUTO, NONE = "auto", "none"
CSV, JSON, AVRO, PARQUET, ORC, TEXT = "csv", "json", "avro", "parquet", "orc", "text"
LINED = frozenset({CSV, JSON, TEXT})
"""Formats that are text: they can be compressed as a whole, and cut at their line ends."""
BY_BYTES = LINED | {AVRO}
"""Formats whose positions are bytes."""
_EXTENSIONS = {
    "csv": CSV, "tsv": CSV, "json": JSON, "jsonl": JSON, "ndjson": JSON, "avro": AVRO, "parquet": PARQUET, "orc": ORC,
    "txt": TEXT, "log": TEXT,
}  # fmt: skip
_COMPRESSIONS = {"gz": "gzip", "zst": "zstd", "bz2": "bz2"}
SKIP, READ = "skip", "read"
ORDERS = {
    "NameAsc": ("name", False), "NameDesc": ("name", True), "LengthAsc": ("size", False), "LengthDesc": ("size", True),
    "LastModifiedAsc": ("changed_ms", False), "LastModifiedDesc": ("changed_ms", True),
}  # fmt: skip
"""Name -> attribute of a file, and whether it is sorted downwards."""
FAIL, RESTART, IGNORE = "fail", "restart", "ignore"
NO_POLICY, DELETE, MOVE, BY_DATE = "NONE", "DELETE", "MOVE", "MOVEBYDATE"
MOVES = (MOVE, BY_DATE)
SAMPLE, STRINGS = "sample", "strings"
_CHARS = {"csv.separator.char": ",", "csv.quote.char": '"', "csv.escape.char": ""}
GIVEN, AS_TEXT = "given", "text"
"""JSON, for connectors with other keys: members that have no given type are left out; an object is a string."""
_BOUND = "kconnect.max.records"


@dataclass(frozen=True)
class Dialect:
    """How CSV is written.

    :param null: the text, without quotes, that stands for null; None: no text does. :param quoted_null: in quotes, too.
    :param names: of columns without header; empty: they are numbered. :param skipped: lines before all others.
    :param spaced_quotes: whether a value may begin with spaces and a quote, which is then an ordinary character.
    :param tabs_in_tsv: whether a comma is a tab in files named ``.tsv``.
    """

    separator: str = ","
    quote: str | None = '"'
    escape: str | None = None
    header: bool = True
    null: str | None = ""
    multiline: bool = True
    quoted_null: bool = False
    names: tuple[str, ...] = ()
    skipped: int = 0
    spaced_quotes: bool = True
    tabs_in_tsv: bool = True


@dataclass(frozen=True)
class Shaping:
    """What records are made of rows of files.

    :param value: the schema of values: other columns are left out, and those that a file lacks are null. None: that of
        the file's columns.
    :param name: of that schema.
    :param key: schema of keys, whose columns are some of the value's; None: there are no keys.
    :param timestamp: the column with the time of the record. :param file_time: whether it is that of the file.
    """

    value: ConnectSchema | None = None
    name: str | None = None
    key: ConnectSchema | None = None
    timestamp: str | None = None
    file_time: bool = False


@dataclass(frozen=True)
class FileSettings:
    """How files are read; pickled.

    :param charset_key: how the configuration calls the encoding.
    :param types: of columns, by their names; what is not there is found out, see `inference`.
    :param tolerant: whether bad rows and files are skipped.
    """

    format: str = AUTO
    compression: str = AUTO
    charset: str = "UTF-8"
    charset_key: str = "file.charset"
    dialect: Dialect = Dialect()
    types: tuple[tuple[str, str], ...] = ()
    inference: str = SAMPLE
    split_bytes: int = 64 * 1024 * 1024
    enhanced_avro: bool = False
    tolerant: bool = False
    shaping: Shaping = Shaping()

    def format_of(self, name: str) -> str | None:
        """The format of a file; None if its name does not say it."""
        return _EXTENSIONS.get(_extensions(name)[0]) if self.format == AUTO else self.format

    def separator_of(self, name: str) -> str:
        """What is between the values of a CSV file: in ``.tsv`` a tab, unless something else is set."""
        separator, is_default = self.dialect.separator, self.dialect.separator == "," and self.dialect.tabs_in_tsv
        return "\t" if is_default and _extensions(name)[0] == "tsv" else separator

    def compression_of(self, name: str) -> str:
        """The compression of a text file."""
        return (_extensions(name)[1] or NONE) if self.compression == AUTO else self.compression


def _extensions(name: str) -> tuple[str, str | None]:
    """What a name says about format and compression."""
    stem, _, last = name.lower().rpartition(".")
    compression = _COMPRESSIONS.get(last)
    return (stem.rpartition(".")[2], compression) if compression else (last, None)


def files_config() -> ConfigDef:
    """All keys of the connector itself."""
    config = ConfigDef()
    _define_files(config)
    _define_tidying(config)
    _define_records(config)
    _define_csv(config)
    return define_store_keys(config)


def _define_files(config: ConfigDef) -> None:
    high, medium = Importance.HIGH, Importance.MEDIUM
    (
        config.define("directory", Type.STRING, importance=high, validator=address_validator(),
                      documentation="Absolute path of the folder with the files, which the driver and all executors "
                      "see; or an address in a store. Folders below it belong to it.", example="s3://bucket/in")
        .define("input.file.pattern", Type.STRING, ".*", high, "Regular expression that the whole name of a file must "
                "match, without its folders. Names that begin with a dot or with `_` are left out in any case, "
                "and what is in folders with such names.",
                validator=LambdaValidator(_pattern_problem), example=r"orders-\d+\.csv")
        .define("topic", Type.STRING, importance=high, validator=NonEmptyString(),
                documentation="Topic of the records.", example="orders")
        .define("format", Type.STRING, AUTO, high, "What the files are: csv, json (a line for each record), "
                "avro, parquet, orc, text (a line for each record). auto: what their names end with.",
                validator=ValidString.in_(AUTO, CSV, JSON, AVRO, PARQUET, ORC, TEXT))
        .define("compression", Type.STRING, AUTO, medium, "Of csv, json and text: none, gzip, zstd or bz2. auto: what "
                "their names end with: `.gz`, `.zst`, `.bz2`.",
                validator=ValidString.in_(AUTO, NONE, "gzip", "zstd", "bz2"))
        .define("on.changed", Type.STRING, FAIL, medium, "What happens to a file that is another one than when it was "
                "read. fail: the run fails and names it. restart: it is read from its beginning, which doubles what "
                "it still has. ignore: it is left out.", validator=ValidString.in_(FAIL, RESTART, IGNORE))
        .define("on.renamed", Type.STRING, AUTO, Importance.LOW, "What happens to a file that was read under another "
                "name, which it no longer has. skip: it is not read again. read: it is a new file. auto: skip in a "
                "folder, where inode, time and size show it; read in a store, where only the same content does.",
                validator=ValidString.in_(AUTO, SKIP, READ), group=KCONNECT)
        .define("file.minimum.age.ms", Type.LONG, 0, medium, "A file is not read before its last change is so long "
                "ago: one that is still written under its own name may be half there.",
                validator=Range.at_least(0))
        .define("files.sort.attributes", Type.LIST, "NameAsc", Importance.LOW, "In which order files are begun: "
                f"{', '.join(ORDERS)}; several decide one after the other. Files are read in parallel.",
                validator=ValidList.in_(*ORDERS))
        .define("split.bytes", Type.LONG, 64 * 1024 * 1024, Importance.LOW, "Parts of about this size are read in "
                "parallel, where a file can be cut: between blocks of Avro, row groups of Parquet, stripes of "
                "ORC, lines that are not compressed.", validator=Range.at_least(1), group=KCONNECT)
    )  # fmt: skip


def _define_tidying(config: ConfigDef) -> None:
    medium = Importance.MEDIUM
    (
        config.define("cleanup.policy", Type.STRING, NO_POLICY, medium, "What happens to a file that was read, after "
                "its offset was committed. NONE: it stays. DELETE: it is removed. MOVE: it is moved to "
                "`finished.path`, with the folder that it is in. MOVEBYDATE: the same, into a folder of the day when "
                "it was last changed, such as `2026-11-26` (UTC).",
                validator=ValidString.in_(NO_POLICY, DELETE, MOVE, BY_DATE))
        .define("finished.path", Type.STRING, None, medium, "Folder, or prefix in the same store, for files that were "
                "read. It is made where it is missing, and may be below `directory`: what is there is not read.",
                validator=address_validator(), example="s3://bucket/done")
        .define("error.path", Type.STRING, None, medium, "The same for files with bad records, whatever "
                "`cleanup.policy` is; see `errors.tolerance`. Not set: they are treated as the others, but never "
                "removed.",
                validator=address_validator(), example="s3://bucket/bad")
    )  # fmt: skip


def _define_records(config: ConfigDef) -> None:
    medium = Importance.MEDIUM
    (
        config.define("schema.types", Type.LIST, "", medium, "Types of columns (csv) or members (json), as "
                      f"`name:type`. Types: {', '.join(TYPES)}; a decimal has its scale: `decimal(2)`.",
                      validator=LambdaValidator(_types_problem), example="id:int64,price:decimal(2)", group=KCONNECT)
        .define("schema.inference", Type.STRING, SAMPLE, medium, "Types of what `schema.types` does not name. sample: "
                "as the first mebibyte of the first file that has it suggests; later files keep it. strings: strings "
                "(csv). none: records have no schema (json).",
                validator=ValidString.in_(SAMPLE, STRINGS, NONE), group=KCONNECT)
        .define("enhanced.avro.schema.support", Type.BOOLEAN, False, Importance.LOW, "avro: whether members of unions "
                "have the full names of their types, as in the Avro converter.")
        .define("file.charset", Type.STRING, "UTF-8", Importance.LOW, "Encoding of csv, json and text.",
                validator=LambdaValidator(_charset_problem))
    )  # fmt: skip


def _define_csv(config: ConfigDef) -> None:
    low, medium, char = Importance.LOW, Importance.MEDIUM, LambdaValidator(_char_problem)
    (
        config.define("csv.separator.char", Type.STRING, ",", medium, "What is between the values. A character, or its "
                      "number, as connect-spooldir has it: 9 is a tab, which files named `.tsv` have anyway.",
                      validator=char)
        .define("csv.quote.char", Type.STRING, '"', low, "What is around values with separators or line ends; doubled "
                "within them. Empty: nothing is quoted.", validator=char)
        .define("csv.escape.char", Type.STRING, "", low, "What makes the next character an ordinary one.",
                validator=char)
        .define("csv.first.row.as.header", Type.BOOLEAN, True, medium, "Whether the first row of each file has the "
                "names of its columns. If not, they are `column01`, `column02` and so on.")
        .define("csv.null.value", Type.STRING, "", low, "What stands for null, without quotes.", group=KCONNECT)
        .define("csv.multiline", Type.BOOLEAN, True, low, "Whether values in quotes may have line ends. If not, large "
                "files are cut at line ends and read in parallel.", group=KCONNECT)
    )  # fmt: skip


def problems(props: Mapping[str, str]) -> dict[str, list[str]]:
    """What keys say together that they do not say alone: key -> messages."""
    errors = store_problems(props, "directory")
    inference, format_ = props.get("schema.inference", SAMPLE), props.get("format", AUTO)
    if inference == NONE and format_ == CSV:
        errors["schema.inference"] = ["is none, and a row of csv is a struct: set it to sample or strings"]
    if inference == STRINGS and format_ == JSON:
        errors["schema.inference"] = ["is strings, and members in json have types: set it to sample or none"]
    texts = {key: props.get(key, default).strip() for key, default in _CHARS.items()}
    chars = [char_of(text) for key, text in texts.items() if text and _char_problem(key, text) is None]
    if len(set(chars)) < len(chars):
        errors["csv.separator.char"] = [
            "is also `csv.quote.char` or `csv.escape.char`, or these are the same: set others"
        ]
    if _BOUND in props:
        errors[_BOUND] = ["has no effect: files are read as a whole; `kconnect.max.duration.ms` ends a run early"]
    return errors


def is_tolerant(props: Mapping[str, str]) -> bool:
    """Whether bad rows and files are skipped."""
    return props.get("errors.tolerance", "none") == "all"


def settings_of(values: Mapping[str, Any], *, tolerant: bool) -> FileSettings:
    """The settings for the typed values of a valid configuration."""
    dialect = Dialect(
        separator=char_of(values["csv.separator.char"]) or ",",
        quote=char_of(values["csv.quote.char"]),
        escape=char_of(values["csv.escape.char"]),
        header=values["csv.first.row.as.header"],
        null=values["csv.null.value"],
        multiline=values["csv.multiline"],
    )
    return FileSettings(
        format=values["format"],
        compression=values["compression"],
        charset=values["file.charset"],
        dialect=dialect,
        types=tuple(_named_type(text) for text in values["schema.types"]),
        inference=values["schema.inference"],
        split_bytes=values["split.bytes"],
        enhanced_avro=values["enhanced.avro.schema.support"],
        tolerant=tolerant,
    )


def char_of(text: str) -> str | None:
    """A character, or the one that has this number; None: there is none."""
    if not text:
        return None
    return chr(int(text)) if len(text) > 1 or text == "9" else text


def _named_type(text: str) -> tuple[str, str]:
    name, _, type_ = text.rpartition(":")
    return name.strip(), type_.strip().lower()


def _types_problem(name: str, value: Any) -> str | None:
    for text in value or ():
        column, type_ = _named_type(text)
        if not column or type_of(type_) is None:
            return f"has {text!r}, expected `name:type`; types are {', '.join(TYPES)}"
    return None


def _char_problem(name: str, value: Any) -> str | None:
    text = str(value or "")
    if len(text) > 1 and not (text.isdecimal() and int(text) < 128):
        return f"is {text!r}, expected one character, or its number below 128"
    if text and len((char_of(text) or "").encode()) > 1:
        return f"is {text!r}, expected an ASCII character"
    if text and char_of(text) in ("\r", "\n"):
        return f"is {text!r}, the character that ends a line"
    return None


def _pattern_problem(name: str, value: Any) -> str | None:
    try:
        re.compile(value or "")  # a missing one has an error of its own
    except re.error as error:
        return f"is not a regular expression: {error}"
    return None


def _charset_problem(name: str, value: Any) -> str | None:
    try:
        "".encode(value)  # Python also has encodings of bytes, such as base64
    except LookupError:
        return f"is {value!r}, which Python does not know as an encoding: try UTF-8, ISO-8859-1 or windows-1252"
    return None
