"""Base class of converters whose messages all have the same schema, whatever their bytes are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.converters.base import (
    NO_HINTS,
    BatchParser,
    Converter,
    Decoded,
    Hints,
    Let,
    converter_config,
    decode_as_one_shape,
    in_place,
)

if TYPE_CHECKING:
    from pyspark.sql import Column


class OneShapeConverter(Converter):
    """Even null has the schema."""

    converts_headers = True

    shape: ClassVar[Shape]

    @classmethod
    def config(cls) -> ConfigDef:
        return converter_config()

    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        return [self.shape]

    def decode(self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, hints: Hints = NO_HINTS) -> Decoded:
        value, error = self.read(raw)
        decoded = decode_as_one_shape(value, self.shape, shapes)
        return decoded if error is None else decoded._replace(error=error)

    def plain_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        parser = self.parser()
        return {index: parser for index, shape in enumerate(shapes) if parser is not None and shape == self.shape}

    def parser(self) -> BatchParser | None:
        """Optional: makes Arrow columns of messages, with the same data as `read` makes."""
        return None

    @abstractmethod
    def read(self, raw: Column) -> tuple[Column, Column | None]:
        """The data of messages, and the texts of their errors (null if there is no error; None: none can fail)."""
