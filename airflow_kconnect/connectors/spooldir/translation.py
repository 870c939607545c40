"""What a configuration of connect-spooldir means for the files source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.data import OPTIONAL_STRING_SCHEMA, TIMESTAMP, ConnectSchema, struct
from airflow_kconnect.connectors.record_files.config import CSV, GIVEN, MOVES, STRINGS, Dialect, FileSettings, Shaping
from airflow_kconnect.connectors.spooldir.keys import BOTH, FIELD, FILE_TIME, ISO_FORMATS, NEITHER, QUOTES
from airflow_kconnect.connectors.spooldir.schemas import schema_in, types_of

GENERATED, FORMATS = "schema.generation.enabled", "parser.timestamp.date.formats"
VALUE, KEY, KEY_FIELDS = "value.schema", "key.schema", "schema.generation.key.fields"
_NAMES = {"directory": "input.path"}
"""Keys of the files source, and those that say the same."""
_OTHERWISE = ("cleanup.policy", "finished.path", "schema.types", "schema.inference")
_UTC = ("UTC", "GMT", "Z", "Etc/UTC")
_HOSTED = "or set `kconnect.hosted=true` to run the Java class"


def files_props(values: Mapping[str, Any], props: Mapping[str, str], format_: str) -> dict[str, str]:
    """The configuration of a files source that reads the same files. How their rows are read is added to its settings.

    :param values: typed ones, of a valid configuration or of one whose keys are valid each by itself.
    :param props: the same as texts, from which what both connectors have is taken.
    """
    moves = values["cleanup.policy"] in MOVES
    same = {name: text for name, text in props.items() if not name.startswith("csv.") and name not in _OTHERWISE}
    return same | {
        "directory": values["input.path"],
        "format": format_,
        "cleanup.policy": values["cleanup.policy"],
        **({"finished.path": values["finished.path"]} if moves and values["finished.path"] else {}),
        "file.charset": values.get("csv.file.charset") or values.get("file.charset") or "UTF-8",
    }


def told(errors: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Errors of the files source with the names that its keys have here."""
    return {_NAMES.get(key, key): [_renamed(text) for text in texts] for key, texts in errors.items()}


def _renamed(text: str) -> str:
    for name, here in _NAMES.items():
        text = text.replace(f"`{name}`", f"`{here}`")
    return text


def are_made(values: Mapping[str, Any]) -> bool:
    """Whether schemas are made of files: only if they are not both given."""
    return bool(values[GENERATED]) and not (values[VALUE] and values[KEY])


def schema_problems(values: Mapping[str, Any], format_: str) -> Iterator[tuple[str, str]]:
    """Key and message: what is wrong with schemas and times."""
    found: dict[str, ConnectSchema] = {}
    for key in (VALUE, KEY) if not are_made(values) else ():
        try:
            if values[key]:
                found[key] = schema_in(values[key])
            else:
                yield key, f"is not set: it is needed without `{GENERATED}`"
        except ValueError as error:
            yield key, str(error)
    if are_made(values) and format_ != CSV:
        text = "is true, and only for CSV schemas are made: give `value.schema` and `key.schema`, or let "
        yield GENERATED, f"{text}FilesSource find out the types, {_HOSTED}"
    if VALUE in found:
        yield from _value_problems(found[VALUE])
        if KEY in found:
            yield from _key_problems(found[KEY], found[VALUE])
    yield from _time_problems(values, found.get(VALUE))


def _value_problems(value: ConnectSchema) -> Iterator[tuple[str, str]]:
    if not value.fields:
        yield VALUE, "has no fields: nothing would be read"


def _key_problems(key: ConnectSchema, value: ConnectSchema) -> Iterator[tuple[str, str]]:
    for field in key.fields:
        of_value = value.field(field.name)
        if of_value is None:
            yield KEY, f"has `{field.name}`, which is not in `{VALUE}`: add it there, {_HOSTED}"
        elif types_of(struct((field.name, field.schema))) != types_of(struct((field.name, of_value.schema))):
            yield KEY, f"has `{field.name}` of another type than `{VALUE}`: give it the same one"
        elif of_value.schema.optional and not field.schema.optional:
            yield KEY, f"requires `{field.name}`, which may be null in `{VALUE}`: make both required, or both optional"


def _time_problems(values: Mapping[str, Any], value: ConnectSchema | None) -> Iterator[tuple[str, str]]:
    if values["timestamp.mode"] == FIELD and (are_made(values) or value is not None):
        field = value.field(values["timestamp.field"]) if value is not None else None
        if field is None or field.schema.optional or field.schema.name != TIMESTAMP:
            yield "timestamp.field", f"must be a Timestamp in `{VALUE}` that is not optional"
    if values["parser.timestamp.timezone"] not in _UTC:
        text = f"is {values['parser.timestamp.timezone']}, and times without a zone are in UTC: "
        yield "parser.timestamp.timezone", f"{text}leave it out, and convert them in a transformation, {_HOSTED}"
    if others := [each for each in values[FORMATS] if each not in ISO_FORMATS]:
        text = f"has {others[0]!r}, and only times of ISO 8601 are read: make the field a STRING and use the "
        yield FORMATS, f"{text}transformation TimestampConverter, {_HOSTED}"


def csv_problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and message: what is wrong with keys of CSV."""
    if values["csv.null.field.indicator"] == QUOTES:
        yield "csv.null.field.indicator", f"is {QUOTES}, which is not supported: set another one, {_HOSTED}"


def shaping_of(values: Mapping[str, Any]) -> Shaping:
    """What records are made of rows with a schema."""
    if are_made(values):
        names = values[KEY_FIELDS]
        fields = [(name, OPTIONAL_STRING_SCHEMA) for name in names]
        key = struct(*fields, name=values["schema.generation.key.name"]) if names else None
        return timed(Shaping(name=values["schema.generation.value.name"], key=key), values)
    key = schema_in(values[KEY])
    return timed(Shaping(schema_in(values[VALUE]), key=key if key.fields else None), values)


def timed(shaping: Shaping, values: Mapping[str, Any]) -> Shaping:
    """The same, with the times of records."""
    mode = values["timestamp.mode"]
    return replace(shaping, timestamp=values["timestamp.field"] if mode == FIELD else None, file_time=mode == FILE_TIME)


def with_schemas(settings: FileSettings, values: Mapping[str, Any]) -> FileSettings:
    """Settings of a files source with the schemas that are configured."""
    shaping = shaping_of(values)
    types = types_of(shaping.value) if shaping.value is not None else ()
    return replace(settings, shaping=shaping, types=types, inference=STRINGS if settings.format == CSV else GIVEN)


def dialect_of(values: Mapping[str, Any], names: tuple[str, ...]) -> Dialect:
    """How CSV is written.

    :param names: of columns, if files have no header.
    """
    header, null = values["csv.first.row.as.header"], values["csv.null.field.indicator"]
    escape = 0 if values["csv.rfc.4180.parser.enabled"] else values["csv.escape.char"]
    return Dialect(
        separator=chr(values["csv.separator.char"]),
        quote=chr(values["csv.quote.char"]) if values["csv.quote.char"] else None,
        escape=chr(escape) if escape else None,
        header=header,
        null=None if null == NEITHER else "",
        multiline=values["csv.multiline"],
        quoted_null=null == BOTH,
        names=() if header else names,
        skipped=values["csv.skip.lines"],
        spaced_quotes=not values["csv.ignore.leading.whitespace"],
        tabs_in_tsv=False,
    )
