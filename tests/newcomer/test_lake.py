"""The guide on lake tables, typed on a machine that has nothing of this project: Spark, Iceberg, and DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages.markdown import REPOSITORY, blocks
from tests.support.pages.newcomer import install_settings
from tests.support.pages.reader import Reader

GUIDE = REPOSITORY / "docs" / "guides" / "lake-tables.md"


@pytest.mark.exhaustive  # installs an Airflow and a Spark of its own
def test_the_demo_ends_well(wheel: Path, tmp_path: Path) -> None:
    (block,) = [block for block in blocks(GUIDE) if "kconnect demo --lake" in block.text]
    # pip has to choose the PySpark.
    reader = Reader([GUIDE], tmp_path, install_settings(wheel, but="pyspark=="))
    reader.type(block.text)
    assert "none that was cancelled. Spark and DuckDB agree." in " ".join(reader.printed.split())
