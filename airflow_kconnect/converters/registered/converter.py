"""The base of converters whose schemas are in a registry: which schema, which subject, which id."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

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
    in_place,
)
from airflow_kconnect.converters.registered.desk import Desk
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.registered.messages import KnownMessages
from airflow_kconnect.registry.schema import RegisteredSchema

if TYPE_CHECKING:
    from pyspark.sql import Column

    from airflow_kconnect.converters.registered.writing import MessageWriter


class RegisteredConverter(Converter):
    """A converter of a format with a registry. The registry is asked by the driver only, for what a run meets."""

    form: ClassVar[type[Format]]
    """What is particular to its format."""
    writes_by_topic = True

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        super().__init__(config, is_key=is_key)
        self._role = "key" if is_key else "value"
        # It is pickled into tasks, which have no use for credentials of the registry.
        self._format = self.form({key: self.config_values[key] for key in self.form.config().keys})
        self._shapes: list[Shape] = []
        self._desk: Desk | None = None

    @abstractmethod
    def known_messages(self) -> KnownMessages:
        """How messages of a run are known: what may stand before payloads, and the registry that has the schemas."""

    @abstractmethod
    def assign(self, topic: str, schema: RegisteredSchema) -> tuple[bytes, RegisteredSchema]:
        """The schema with which a topic's records are written, and before it what stands before their payloads.

        :param schema: that of the data.
        :raises DataError: the registry rejects it, or does not have it. :raises RetriableError: it is unavailable.
        :raises ConfigError: it refuses the credentials.
        """

    @property
    def names_in_headers(self) -> bool:
        """Whether what stands before payloads is written into headers."""
        return False

    @cached_property
    def _known(self) -> KnownMessages:
        return self.known_messages()

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
        return encoded(writer, column, topic, in_header=self.names_in_headers)

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        return None if shape.schema is None or self.names_in_headers else self._writer(shape)

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

    def _assign(self, number: int, topic: str) -> tuple[bytes, RegisteredSchema]:
        return self.assign(topic, self._format.schema_of(self._shapes[number]))

    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        return self._known.learn(samples)

    def batch_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        from airflow_kconnect.converters.registered.reading import parsers

        return parsers(self._known, shapes)

    def decode(self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, hints: Hints = NO_HINTS) -> Decoded:
        from airflow_kconnect.converters.registered.reading import decode

        return decode(raw, shapes, self._known, let, hints)
