"""The sources of connect-spooldir: files sources with other keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.record_files.config import (
    AS_TEXT,
    AVRO,
    CSV,
    JSON,
    TEXT,
    FileSettings,
    Shaping,
    files_config,
    is_tolerant,
)
from airflow_kconnect.connectors.record_files.selection import Rules
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.connectors.spooldir.keys import FIELD, avro_config, csv_config, json_config, line_config
from airflow_kconnect.connectors.spooldir.translation import (
    csv_problems,
    dialect_of,
    files_props,
    schema_problems,
    timed,
    told,
    with_schemas,
)


class SpoolDirSourceConnector(FilesSourceConnector):
    """Subclasses say what the files are. The files source works with its own keys, which are made of those here."""

    first_keys: ClassVar[tuple[str, ...]] = ("input.path", "input.file.pattern", "finished.path", "error.path", "topic")
    format: ClassVar[str]

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self.values = self.config_values
        self.config_values = files_config().parse(files_props(self.values, props, self.format))

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef: ...

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        try:
            values = cls.config().parse(props)
        except ConfigError:
            return {}  # these keys are named already
        own: dict[str, list[str]] = {}
        for key, text in cls.problems(values, props):
            own.setdefault(key, []).append(text)
        return told(super().validate(files_props(values, props, cls.format))) | own

    @classmethod
    def problems(cls, values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Key and message: what is wrong with its own keys."""
        if not values["halt.on.error"] and not is_tolerant(props):
            text = "is false, and bad rows are skipped only with `errors.tolerance=all`: set it"
            yield "halt.on.error", text
        if values["timestamp.mode"] == FIELD and "timestamp.field" not in values:
            yield "timestamp.mode", "is FIELD, and these records have no fields: set it to FILE_TIME or PROCESS_TIME"

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        try:
            values = cls.config().parse(props)
        except ConfigError:
            return []  # these keys are named already
        if values["halt.on.error"] and is_tolerant(props) and "halt.on.error" in props:
            return ["`halt.on.error` is true, but `errors.tolerance` is all: bad rows are skipped"]
        return []

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        return super().datasets({**props, "directory": props["input.path"]}, report)

    def check(self) -> None:
        with _told():
            super().check()

    def check_folder(self) -> None:
        with _told():
            super().check_folder()

    def rules(self) -> Rules:
        return replace(super().rules(), below=self.values["input.path.walk.recursively"])

    def settings(self) -> FileSettings:
        return replace(super().settings(), shaping=timed(Shaping(), self.values))


@contextmanager
def _told() -> Iterator[None]:
    """A block whose errors have the names that keys have here."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(told(error.errors), error.connector) from error


class _WithSchemas(SpoolDirSourceConnector):
    """Values are structs."""

    @classmethod
    def problems(cls, values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        yield from super().problems(values, props)
        yield from schema_problems(values, cls.format)

    def settings(self) -> FileSettings:
        return with_schemas(super().settings(), self.values)


class SpoolDirCsvSourceConnector(_WithSchemas):
    """``com.github.jcustenborder.kafka.connect.spooldir.SpoolDirCsvSourceConnector``."""

    summary = "Reads CSV files of a folder, each once, with the keys of connect-spooldir."
    format = CSV

    @classmethod
    def config(cls) -> ConfigDef:
        return csv_config()

    @classmethod
    def problems(cls, values: Mapping[str, Any], props: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        yield from super().problems(values, props)
        yield from csv_problems(values)

    def settings(self) -> FileSettings:
        settings = super().settings()
        value = settings.shaping.value
        names = tuple(field.name for field in value.fields) if value is not None else ()
        return replace(settings, dialect=dialect_of(self.values, names), charset_key="csv.file.charset")


class SpoolDirJsonSourceConnector(_WithSchemas):
    """``com.github.jcustenborder.kafka.connect.spooldir.SpoolDirJsonSourceConnector``."""

    summary = "Reads lines of JSON in files of a folder, each once, with the keys of connect-spooldir."
    format = JSON

    @classmethod
    def config(cls) -> ConfigDef:
        return json_config()


class SpoolDirSchemaLessJsonSourceConnector(SpoolDirSourceConnector):
    """``com.github.jcustenborder.kafka.connect.spooldir.SpoolDirSchemaLessJsonSourceConnector``."""

    summary = "Reads lines of JSON as strings from files of a folder, each once, with the keys of connect-spooldir."
    format = JSON

    @classmethod
    def config(cls) -> ConfigDef:
        return line_config()

    def settings(self) -> FileSettings:
        return replace(super().settings(), inference=AS_TEXT)


class SpoolDirLineDelimitedSourceConnector(SpoolDirSourceConnector):
    """``com.github.jcustenborder.kafka.connect.spooldir.SpoolDirLineDelimitedSourceConnector``."""

    summary = "Reads lines from files of a folder, each once, with the keys of connect-spooldir."
    format = TEXT

    @classmethod
    def config(cls) -> ConfigDef:
        return line_config()


class SpoolDirAvroSourceConnector(SpoolDirSourceConnector):
    """``com.github.jcustenborder.kafka.connect.spooldir.SpoolDirAvroSourceConnector``."""

    summary = "Reads Avro files of a folder, each once, with the keys of connect-spooldir."
    format = AVRO

    @classmethod
    def config(cls) -> ConfigDef:
        return avro_config()
