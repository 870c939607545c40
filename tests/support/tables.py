"""Tables as another engine than Spark reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from pyiceberg.table import StaticTable


def rows_by_another_engine(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a table, in no order, as pyiceberg or delta-rs reads them.

    :param path: the folder of the table; for Iceberg that with `metadata` and `data`.
        pyiceberg reads no columns of VARIANT.
    """
    folder = Path(str(path).removeprefix("file:"))
    if (folder / "_delta_log").is_dir():
        found = QueryBuilder().register("t", DeltaTable(folder)).execute("SELECT * FROM t").read_all()
        return pa.table(found).to_pylist()  # type: ignore[no-any-return]
    metadata = str(_newest_metadata(folder))
    return StaticTable.from_metadata(metadata).scan().to_arrow().to_pylist()  # type: ignore[no-any-return]


def _newest_metadata(folder: Path) -> Path:
    """As a catalog that has only files: the version that the hint names, else the newest."""
    metadata = folder / "metadata"
    hint = metadata / "version-hint.text"
    if hint.is_file():
        return metadata / f"v{hint.read_text().strip()}.metadata.json"
    return max(metadata.glob("*.metadata.json"), key=lambda file: file.stat().st_mtime_ns)
