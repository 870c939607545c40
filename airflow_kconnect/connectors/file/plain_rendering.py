"""What renderers of payloads by Arrow alone have in common: they know some shapes, and leave the others to Catalyst."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.sink import BatchRenderer, ParsedPart
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connectors.file.pieces import NeedsCatalystError

if TYPE_CHECKING:
    import pyarrow as pa

Schemas = Mapping[int, ConnectSchema | None]
"""By the number of their shape."""


class PlainRenderer(BatchRenderer):
    """Pickled into the tasks.

    :param schemas: of the shapes that it knows.
    """

    takes_nulls = True

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def render(self, offsets: pa.Array, key: ParsedPart | None, value: ParsedPart) -> pa.RecordBatch | None:
        import pyarrow as pa

        if value[0] not in self._schemas:
            return None
        try:
            rows = self.columns(self._schemas[value[0]], value[1])
        except NeedsCatalystError:
            return None
        return pa.record_batch({**rows, "kafka_offset": offsets, "error": pa.nulls(len(offsets), pa.string())})

    @abstractmethod
    def columns(self, schema: ConnectSchema | None, column: pa.Array) -> dict[str, pa.Array]:
        """What the writer gets of the payloads. :raises NeedsCatalystError: they are left to Catalyst."""


def plain_schemas(shapes: Sequence[Shape], is_plain: Callable[[ConnectSchema], bool]) -> Schemas:
    """Those that can be rendered by Arrow: of schemaless shapes, and of those that are plain."""
    return {n: shape.schema for n, shape in enumerate(shapes) if shape.schema is None or is_plain(shape.schema)}
