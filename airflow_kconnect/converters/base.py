"""The contract of converters: Connect data <-> bytes, as Catalyst expressions over whole columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.plugins.registry import CONVERTERS, registry

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from airflow_kconnect.connect.frame import ExpectedObjects, RecordFrame, Union

Role = Literal["key", "value", "header"]

UNKNOWN_SHAPE = -1
"""Tag of a row whose shape is not among the requested ones."""


Let = Callable[[Mapping[str, "Column"]], "list[Column]"]
"""``let({name: expression, ...})`` returns columns with the expressions' values, in their order.

An expression that is referenced twice may be evaluated twice by Catalyst. Only a projection of its own keeps an
expensive result; code that decodes a DataFrame adds one (measured: 1.0 instead of 5.4 CPU seconds for 1 M strings).
The expressions of one call share a projection: Spark analyses the whole plan again for each.
"""


def in_place(expressions: Mapping[str, Column]) -> list[Column]:
    """The `Let` that keeps nothing."""
    return list(expressions.values())


class BatchParser(Protocol):
    """Parses the messages of a batch where they are read; pickled."""

    @property
    def type(self) -> pa.DataType:
        """Type of the results."""

    def parse(self, messages: pa.Array) -> pa.Array:
        """What `decode` needs for each of the messages (BINARY); null for those that it must parse itself."""


Written = tuple["pa.Array", "pa.Array"]
"""Messages (BINARY) and errors (STRING)."""


class BatchEncoder(Protocol):
    """Encodes the data of a batch where they are written; pickled."""

    def messages(self, data: pa.Array, topics: pa.Array | str) -> tuple[pa.Array, pa.Array]:
        """The messages (BINARY) and errors (STRING) of a batch; null data are tombstones.

        :param topics: of each record, or of all.
        :raises RetriableError: the run cannot continue.
        """


class Hints(NamedTuple):
    """What is known about messages before they are decoded.

    :param parsed: results of `Converter.batch_parsers`, by the index of the shape.
    :param complete: all messages are null or were parsed, see `Converter.decodes_parsed`.
    """

    parsed: Mapping[int, Column] = MappingProxyType({})
    complete: bool = False


NO_HINTS = Hints()


class Encoded(NamedTuple):
    """The result of encoding.

    :param bytes: BINARY column; null is a null key or value (a tombstone). Meaningless in rows with an error.
    :param error: STRING column, null if there is no error; None if no row can fail.
    :param id: BINARY column: the value of the header that names the row's schema, null if there is none.
    """

    bytes: Column
    error: Column | None
    id: Column | None = None


class Decoded(NamedTuple):
    """The result of decoding.

    :param tag: INT column: index of the row's shape; null for "no schema and no value"; `UNKNOWN_SHAPE`. The tag of a
        row with an error is meaningless.
    :param columns: one column per shape, null in rows of other shapes.
    :param error: STRING column, null if there is no error.
    """

    tag: Column
    columns: tuple[Column, ...]
    error: Column


class Converter(ABC):
    """Created once per run and record part, in the job's driver. Class methods are also called where there is no Spark.

    Its expressions never throw: a record that cannot be converted has a text in the error column.

    :param config: the converter's own keys, without their prefix.
    :param is_key: whether it converts keys.
    """

    for_headers_only: ClassVar[bool] = False
    converts_headers: ClassVar[bool] = False
    """Whether it may be a `header.converter`, too: it has a `header_codec`."""
    reads_anything: ClassVar[bool] = False
    """Whether no bytes are an error: then it does not run where its result is not used."""
    decodes_parsed: ClassVar[bool] = False
    """Whether `decode` does not look at messages if all of them were parsed (`Hints.complete`)."""
    writes_by_topic: ClassVar[bool] = False
    """Whether the bytes depend on the record's topic: such a converter writes by `encode_for` only."""

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        self.is_key = is_key
        self.config_values = self.config().parse({"converter.type": "key" if is_key else "value", **config})

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef:
        """The converter's keys, without prefix. Called at validation."""

    @classmethod
    def java_name(cls) -> str:
        """The class name that configurations and errors use."""
        return registry().name_of(CONVERTERS, cls)

    def check(self, shape: Shape) -> None:
        """Called before a run for shapes that are already known.

        :raises DataError: no data of that shape can ever be encoded.
        """

    def serving(self, host: str) -> AbstractContextManager[None]:
        """Entered in the driver before `encode_for` and left when the tasks have ended, for what tasks need from it.

        :param host: the driver's address, as tasks reach it.
        """
        return nullcontext()

    @abstractmethod
    def encode(self, shape: Shape, column: Column) -> Encoded:
        """Encode Connect data of one shape, in a column of its `spark_type`."""

    def encode_for(self, shape: Shape, column: Column, topic: Column | str) -> Encoded:
        """Encode data of one shape for their topics: a column, or the one topic of all records."""
        return self.encode(shape, column)

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        """Called in place of `encode_for` where the messages need not pass through Spark's JVM; None if they must."""
        return None

    def value_encoder(self, shape: Shape) -> BatchEncoder | None:
        """The same where there is no Spark: it may also encode value by value. Schemaless data are JSON texts.

        None: a run with such records starts Spark.
        """
        return None if shape.schemaless else self.batch_encoder(shape)

    @abstractmethod
    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        """The distinct shapes of these messages. Bad messages are skipped.

        The converter remembers what it saw, so that `decode` recognises such messages quickly, and reports those whose
        schema is wrong. Pass it the messages that came out as `UNKNOWN_SHAPE`, then decode again; a message that is
        still unknown then is an error.
        """

    def batch_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        """Parsers of whole batches, by the index of the shape whose messages they parse; `decode` uses the results."""
        return {}

    def plain_parsers(self, shapes: Sequence[Shape]) -> Mapping[int, BatchParser]:
        """Parsers of batches that do not reach `decode`: their results are the data, see `ParsedPart`."""
        return self.batch_parsers(shapes)

    def expecting(self, objects: ExpectedObjects) -> Converter | None:
        """A converter to these structs from messages without schemas, all of which its parser has parsed; None: they
        have schemas, or there is no parser.
        """
        return None

    @abstractmethod
    def decode(self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, hints: Hints = NO_HINTS) -> Decoded:
        """Decode bytes to Connect data of the given shapes.

        :param let: turns intermediate results into columns of their own, to which the rest then refers.
        :param hints: what the reader of whole batches has already determined.
        """


def converter_config() -> ConfigDef:
    """A definition with ``converter.type``, which the runtime sets for every converter."""
    return ConfigDef().define(
        "converter.type",
        Type.STRING,
        importance=Importance.LOW,
        documentation="How this converter will be used; runs set it.",
        validator=ValidString.in_("key", "value", "header"),
    )


def encode_union(frame: RecordFrame, union: Union, converter: Converter) -> Encoded:
    """Encode a record part: each row by the shape that its tag selects; a null tag gives null bytes."""
    from pyspark.sql import functions as F

    if union.absent:
        return Encoded(F.lit(None).cast("binary"), None)
    topic = frame.constant_topic or "" if frame.topic is None else frame.df[frame.topic]
    columns = [frame.df[column] for column in union.columns]
    if converter.writes_by_topic and "error" in frame.carried:  # no schema is registered for dropped or bad records
        columns = [F.when(frame.df["error"].isNull(), column) for column in columns]
    parts = [converter.encode_for(shape, column, topic) for shape, column in zip(union.shapes, columns, strict=True)]
    if union.tag is None:
        return parts[0]
    tag = frame.df[union.tag]
    errors = {index: part.error for index, part in enumerate(parts) if part.error is not None}
    ids = {index: part.id for index, part in enumerate(parts) if part.id is not None}
    by_tag = choose(tag, dict(enumerate(part.bytes for part in parts)))
    return Encoded(by_tag, choose(tag, errors) if errors else None, choose(tag, ids) if ids else None)


def choose(tag: Column, options: Mapping[int, Column]) -> Column:
    """The option whose index is the tag; null if there is none."""
    from pyspark.sql import functions as F

    first, *others = options.items()
    start = F.when(tag == first[0], first[1])
    return reduce(lambda chosen, option: chosen.when(tag == option[0], option[1]), others, start)


def new_converter(
    class_name: str | None, props: Mapping[str, str], worker_props: Mapping[str, str], role: Role = "value"
) -> Converter:
    """The converter of a connector's keys or values, selected by Connect's rule.

    A connector's ``value.converter.*`` is used only if the connector names the class itself; else class and keys
    are the worker's.

    :param class_name: the connector's own ``value.converter`` (or ``key.converter``); None uses the worker's.
    :raises ConfigError: keyed by the full configuration key.
    """
    key = f"{role}.converter"
    name = class_name or worker_props.get(key)
    if name is None:
        raise ConfigError({key: [f'Missing required configuration "{key}" which has no default value.']})
    converter_class: type[Converter] = registry().converter(name, key=key)
    prefix = f"{key}."
    given = props if class_name else worker_props
    config = {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
    try:
        return converter_class(config | {"converter.type": role}, is_key=role == "key")
    except ConfigError as error:
        raise ConfigError({prefix + k: messages for k, messages in error.errors.items()}) from error


def decode_as_one_shape(column: Column, shape: Shape, shapes: Sequence[Shape]) -> Decoded:
    """The result for converters where every message, even null, has the same shape and none can be wrong."""
    from pyspark.sql import functions as F

    tag = shapes.index(shape) if shape in shapes else UNKNOWN_SHAPE
    columns = tuple(
        column if index == tag else F.lit(None).cast(spark_type(other.schema)) for index, other in enumerate(shapes)
    )
    return Decoded(F.lit(tag), columns, F.lit(None).cast("string"))
