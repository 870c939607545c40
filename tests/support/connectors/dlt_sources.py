"""Sources of dlt that tests read: numbers in pages, with the cursors and states that dlt's users write."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import dlt
from dlt.sources import DltResource

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def _rows(count_file: str, step: int = 1) -> list[dict[str, Any]]:
    """As many rows as the file says, of which several have the same moment."""
    count = int(Path(count_file).read_text())
    return [{"n": n, "at": _FIRST + timedelta(minutes=n // 7)} for n in range(0, count, step)]


def _pages(rows: list[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


@dlt.resource(primary_key="n")
def ordered(
    count_file: str,
    size: int = 10,
    at: dlt.sources.incremental[datetime] = dlt.sources.incremental("at", row_order="asc"),  # noqa: B008
) -> Iterator[list[dict[str, Any]]]:
    """Rows by ascending moment."""
    yield from _pages([row for row in _rows(count_file) if at.start_value is None or row["at"] >= at.start_value], size)


@dlt.resource(primary_key="n")
def newest_first(
    count_file: str,
    size: int = 10,
    at: dlt.sources.incremental[datetime] = dlt.sources.incremental("at"),  # noqa: B008
) -> Iterator[list[dict[str, Any]]]:
    """Rows by descending moment, as most APIs return them."""
    yield from _pages(_rows(count_file)[::-1], size)


@dlt.resource
def with_own_state(count_file: str, size: int = 10) -> Iterator[list[dict[str, Any]]]:
    """Keeps where it is, and notes that before it has yielded all of it."""
    state = dlt.current.resource_state()
    first = state.get("next", 0)
    rows = _rows(count_file)[first:]
    state["next"], state["on"], state["sum"] = first + len(rows), date(2026, 1, 1), Decimal("1.50")
    for page in _pages(rows, size):
        yield [{"n": row["n"]} for row in page]


@dlt.resource(write_disposition="replace")
def whole(count_file: str, size: int = 10) -> Iterator[list[dict[str, Any]]]:
    """All rows each time."""
    dlt.current.resource_state()["seen"] = dlt.current.resource_state().get("seen", 0) + 1
    yield from _pages([{"n": row["n"]} for row in _rows(count_file)], size)


@dlt.resource(columns={"gone": {"hard_delete": True, "data_type": "bool"}}, primary_key=["a", "b"])
def with_deletes() -> Iterator[dict[str, Any]]:
    yield {"a": 1, "b": "x", "gone": None}
    yield {"a": 1, "b": "y", "gone": True}
    yield {"a": 2, "b": "x", "gone": False}


@dlt.resource(table_name=lambda row: f"of_{row['kind']}")
def by_kind() -> Iterator[dict[str, Any]]:
    yield {"kind": "order", "n": 1}
    yield {"kind": "refund", "n": 2}


@dlt.resource
def values() -> Iterator[Any]:
    yield {"amount": Decimal("1.50"), "at": _FIRST, "on": date(2026, 1, 1), "raw": b"\x01", "none": float("nan")}
    yield 7


@dlt.resource(
    columns={
        "id": {"data_type": "bigint", "nullable": False},
        "amount": {"data_type": "decimal", "precision": 10, "scale": 2},
        "at": {"data_type": "timestamp"},
        "opens": {"data_type": "time"},
        "tags": {"data_type": "json"},
    },
    primary_key="id",
)
def typed(more: str = "") -> Iterator[dict[str, Any]]:
    yield {"id": "1", "amount": 1.5, "at": "2026-01-01T00:00:00Z", "opens": time(8, 30), "tags": ["a"]}
    yield {"id": 2, "at": "yesterday"} if more == "unfit" else {"id": 2, **({more: 1} if more else {})}


@dlt.resource(
    columns={"n": {"data_type": "bigint"}, "at": {"data_type": "timestamp"}, "name": {"data_type": "text"}},
)
def frame(as_rows: bool = False) -> Iterator[Any]:
    """A frame of pandas, in whose second row nothing is known."""
    import pandas as pd  # type: ignore[import-untyped]

    at = pd.to_datetime(["2026-01-01T00:00:00Z", None])
    found = pd.DataFrame({"n": [1.0, None], "at": at, "name": pd.Series(["a", float("nan")], dtype="object")})
    yield found.astype(object).to_dict("records") if as_rows else found


@dlt.resource
def failing() -> Iterator[dict[str, Any]]:
    yield {"n": 1}
    raise RuntimeError("the service is unavailable")


@dlt.resource
def forgetful() -> Iterator[dict[str, Any]]:
    """Keeps in its state what is not data."""
    dlt.current.resource_state()["seen"] = forgetful
    yield {"n": 1}


@dlt.source
def shop(count_file: str, size: int = 10, api_key: str = dlt.secrets.value) -> tuple[DltResource, ...]:
    """Orders, and the items of each, which are read from the orders."""

    @dlt.transformer(data_from=newest_first(count_file, size), primary_key=["n", "item"])
    def items(page: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in page:
            yield from ({"n": row["n"], "item": item} for item in range(2))

    return ordered(count_file, size), items


@dlt.resource(primary_key="n")
def unsteady(
    count_file: str,
    size: int = 10,
    fails_at: int = 20,
    at: dlt.sources.incremental[datetime] = dlt.sources.incremental("at", row_order="asc"),  # noqa: B008
) -> Iterator[list[dict[str, Any]]]:
    """The service breaks off once, before a row."""
    for page in _pages(
        [row for row in _rows(count_file) if at.start_value is None or row["at"] >= at.start_value], size
    ):
        broke_off = Path(f"{count_file}.broke-off")
        if page[-1]["n"] >= fails_at and not broke_off.exists():
            broke_off.touch()
            raise ConnectionResetError(104, "Connection reset by peer")
        yield page


@dlt.resource(primary_key="n", parallelized=True)
def in_threads(
    count_file: str,
    at: dlt.sources.incremental[datetime] = dlt.sources.incremental("at", row_order="asc"),  # noqa: B008
) -> Iterator[Any]:
    """Rows that are made in threads: which is first is not known."""

    @dlt.defer
    def made(row: dict[str, Any]) -> dict[str, Any]:
        return row

    yield from (made(row) for row in _rows(count_file))


def nothing_of_dlt() -> int:
    return 1
