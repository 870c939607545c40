"""The base of converters whose schemas are in a registry: which schema, which subject, which id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError, InternalError, RetriableError
from airflow_kconnect.converters.base import (
    NO_HINTS,
    BatchEncoder,
    BatchParser,
    Converter,
    Decoded,
    Encoded,
    Hints,
    Let,
    converter_config,
    in_place,
)
from airflow_kconnect.converters.id_header import IdHeader, SchemaHeaders
from airflow_kconnect.converters.registered.desk import Desk
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.registered.messages import KnownMessages
from airflow_kconnect.registry.authentication import check_authentication
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import latest_metadata, reads_headers, registry_config, writes_headers
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.registry.subjects import strategy

if TYPE_CHECKING:
    from pyspark.sql import Column

    from airflow_kconnect.converters.registered.writing import MessageWriter


class RegisteredConverter(Converter, SchemaHeaders):
    """A converter of one of Confluent's formats. The registry is asked by the driver only, for what a run meets."""

    form: ClassVar[type[Format]]
    """What is particular to its format."""
    writes_by_topic = True

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        super().__init__(config, is_key=is_key)
        check_authentication(self.config_values)
        self._role = "key" if is_key else "value"
        # It is pickled into tasks, which have no use for credentials of the registry.
        self._format = self.form({key: self.config_values[key] for key in self.form.config().keys})
        self._shapes: list[Shape] = []
        self._desk: Desk | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return registry_config(converter_config()).extend(cls.form.config())

    @cached_property
    def _registry(self) -> SchemaRegistry:
        return SchemaRegistry(self.config_values, f"{self._role}.converter.")

    @cached_property
    def _known(self) -> KnownMessages:
        return KnownMessages(self._format, self._registry)

    @property
    def id_header(self) -> IdHeader | None:
        if not reads_headers(self.config_values, self._role):
            return None
        return IdHeader(self._header_name, self.form.selects)

    @property
    def id_header_written(self) -> str | None:
        return self._header_name if writes_headers(self.config_values, self._role) else None

    @property
    def _header_name(self) -> str:
        return f"__{self._role}_schema_id"

    def expect_ids(self) -> None:
        self._known.guids = True

    def check(self, shape: Shape) -> None:
        self._format.schema_of(shape)

    @contextmanager
    def serving(self, host: str) -> Iterator[None]:
        """While tasks run, they can ask for ids. What has failed here is the error of the run."""
        self._desk = Desk(host, self._assign)
        try:
            yield
        except (RetriableError, InternalError) as error:  # how a failed Spark job ends; other errors have other causes
            if self._desk.failure is not None:
                raise self._desk.failure from error
            raise
        finally:
            self._desk.close()

    def encode(self, shape: Shape, column: Column) -> Encoded:
        raise InternalError(f"{self.java_name()} cannot write records without knowing their topic")

    def encode_for(self, shape: Shape, column: Column, topic: Column | str) -> Encoded:
        from airflow_kconnect.converters.registered.writing import encoded, refused

        try:
            writer = self._writer(shape)
        except DataError as error:
            if shape.schema is not None:
                raise
            # Any record of a Python source may lack a schema, but usually none does.
            return refused(column, str(error))
        return encoded(writer, column, topic, in_header=self.id_header_written is not None)

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        return None if shape.schema is None or self.id_header_written is not None else self._writer(shape)

    def value_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import Refusal

        if not shape.schemaless:
            return self.batch_encoder(shape)
        try:
            self._format.schema_of(shape)
        except DataError as error:
            return Refusal(str(error))
        return None

    def _writer(self, shape: Shape) -> MessageWriter:
        from airflow_kconnect.converters.registered.writing import MessageWriter

        if self._desk is None:
            raise InternalError(f"{self.java_name()} cannot write records: no run is in progress")
        schema = self._format.schema_of(shape)
        if shape not in self._shapes:
            self._shapes.append(shape)
        own = schema, self._format.encoder(schema, shape)
        return MessageWriter(self._desk.address, self._shapes.index(shape), shape, self._format, own)

    def _assign(self, number: int, topic: str) -> tuple[int, RegisteredSchema]:
        """Id and schema with which a topic's records of a shape are written, with its GUID if that is written."""
        schema_id, schema = self._chosen(number, topic)
        if self.id_header_written is not None:
            schema = replace(schema, guid=self._registry.guid(schema_id))
        return schema_id, schema

    def _chosen(self, number: int, topic: str) -> tuple[int, RegisteredSchema]:
        """Id and schema with which a topic's records of a shape are written (``AbstractKafkaSchemaSerDe``)."""
        values, schema = self.config_values, self._format.schema_of(self._shapes[number])
        name = strategy(values[f"{self._role}.subject.name.strategy"])
        subject = name(topic, self.is_key, self._format.record_name(schema))
        if values["auto.register.schemas"]:
            return self._registry.register(subject, schema), schema
        if values["use.schema.id"] >= 0:
            return values["use.schema.id"], self._registry.schema_by_id(values["use.schema.id"])
        if metadata := latest_metadata(values):
            return self._registry.latest_with(subject, metadata)
        if values["use.latest.version"]:
            return self._registry.latest(subject)
        return self._registry.lookup(subject, schema), schema

    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        return self._known.learn(samples)

    def batch_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        from airflow_kconnect.converters.registered.reading import parsers

        return parsers(self._known, shapes)

    def decode(self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, hints: Hints = NO_HINTS) -> Decoded:
        from airflow_kconnect.converters.registered.reading import decode

        return decode(raw, shapes, self._known, let, hints)
