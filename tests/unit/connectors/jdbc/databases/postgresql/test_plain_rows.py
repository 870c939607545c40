"""Dates and times of parsed payloads: Connect's numbers, as JSON has them, or Arrow's own types."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from airflow_kconnect.connect.data import DATE, TIMESTAMP, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connectors.jdbc.databases.postgresql.plain_rows import plain_rows
from airflow_kconnect.connectors.jdbc.sink.config import confluent_keys, settings_of
from airflow_kconnect.converters.types import arrow_type

SCHEMA = struct(
    ("day", ConnectSchema(SchemaType.INT32, name=DATE, optional=True)),
    ("at", ConnectSchema(SchemaType.INT64, name=TIMESTAMP, optional=True)),
)
NUMBERS = pa.struct([("day", pa.int32()), ("at", pa.int64())])
AT = datetime(2023, 11, 14, 22, 13, 20, 1000, UTC)
MS = 1_700_000_000_001
DAYS = (date(2024, 2, 29) - date(1970, 1, 1)).days


def _rendered(payloads: pa.StructArray) -> pa.RecordBatch | None:
    config = {"connection.url": "jdbc:postgresql://host/db", "name": "s", "topics": "t", "table.name.format": "t"}
    renderer = plain_rows(settings_of("s", confluent_keys().parse(config)), (), (Shape(SCHEMA),))
    assert renderer is not None
    return renderer[0].render(pa.array(range(len(payloads))), None, (0, payloads))


@pytest.mark.parametrize(
    "payloads",
    [
        pa.array([{"day": DAYS, "at": MS}, {"day": None, "at": None}], NUMBERS),
        pa.array([{"day": date(2024, 2, 29), "at": AT}, {"day": None, "at": None}], arrow_type(SCHEMA)),
    ],
    ids=["numbers", "Arrow's types"],
)
def test_both_forms_give_the_same_cells(payloads: pa.StructArray) -> None:
    rows = _rendered(payloads)

    assert rows is not None
    assert rows.column("cell_0_0").to_pylist() == [date(2024, 2, 29), None]
    assert rows.column("cell_0_1").to_pylist() == [AT.replace(tzinfo=None), None]


@pytest.mark.parametrize("field", ["day", "at"])
def test_what_postgresql_cannot_store_is_left_to_catalyst_in_both_forms(field: str) -> None:
    early = {"day": -2_440_185, "at": -2_440_185 * 86_400_000}
    one = {"day": None, "at": None, field: early[field]}
    numbers = pa.array([one], NUMBERS)
    days = numbers.field("day").view(pa.date32())
    instants = pc.multiply(numbers.field("at"), 1000).view(pa.timestamp("us", "UTC"))
    typed = pa.StructArray.from_arrays([days, instants], fields=list(arrow_type(SCHEMA)))

    assert (_rendered(numbers), _rendered(typed)) == (None, None)
