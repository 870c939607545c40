"""The guide's cells, typed in their order into one notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.spark import plugins
from airflow_kconnect.spark.plugins import Registered
from tests.support.pages.markdown import REPOSITORY, blocks

GUIDE = REPOSITORY / "docs" / "guides" / "spark-data-source.md"
AUTHORS = REPOSITORY / "docs" / "writing-connectors.md"


@pytest.fixture
def notebook(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Its names after all cells. `shop.py` is that of "Writing connectors"; all paths are below the test's folder."""
    monkeypatch.setattr(plugins, "_registered", Registered())
    for folder in ("opt/plugins", "data"):
        (tmp_path / folder).mkdir(parents=True)
    (shop,) = [block for block in blocks(AUTHORS) if block.info == "python" and "def prices(" in block.text]
    (tmp_path / "opt/plugins/shop.py").write_text(shop.text)
    (tmp_path / "data/prices.jsonl").write_text('{"sku": "a", "changed": 1}\n{"sku": "b", "changed": 2}\n')
    names: dict[str, Any] = {"__name__": "__main__", "spark": spark}
    for block in blocks(GUIDE):
        if block.info == "python":
            text = block.text.replace('"/opt/', f'"{tmp_path}/opt/').replace('"/data/', f'"{tmp_path}/data/')
            exec(text, names)  # noqa: S102 - our own documentation
    return names


def test_what_is_typed_does_what_the_guide_says(
    capsys: pytest.CaptureFixture[str], notebook: dict[str, Any], spark: SparkSession, tmp_path: Path
) -> None:
    assert "|  1|2026-01-01|  1.5|" in capsys.readouterr().out
    assert notebook["prices"].select("sku", "changed").collect() == [("a", 1), ("b", 2)]
    assert [row.id for row in notebook["first"].collect()] == [0, 1]
    assert spark.read.parquet(f"{tmp_path}/data/orders").columns == ["id", "day", "total"]
    assert notebook["offsets"] == [{"partition": {"source": "orders"}, "offset": {"id": 2}}]
    assert notebook["new"].count() == 0
