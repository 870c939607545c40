"""The connectors of docs/guides/avro.md, with the brokers and the registry of the tests."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.integration.runtime.conftest import Run
from tests.support import unique

PAGE = Path(__file__).parents[4] / "docs" / "guides" / "avro.md"
REGISTRY = "http://127.0.0.1:8081/apis/ccompat/v7"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_a_table_becomes_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_here: Run, registry_url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    [make] = [block for block in _blocks("bash") if "CREATE TABLE" in block]
    subprocess.run(["bash", "-c", make[: make.index("kconnect run")]], check=True, timeout=60)
    prefix = unique("shop")
    here = ((REGISTRY, registry_url), ("jdbc:sqlite:shop.db", f"jdbc:sqlite:{tmp_path}/shop.db"),
            ("/tmp/shop-orders", str(tmp_path / "files")), ('"shop-', f'"{prefix}-'))  # fmt: skip

    for block in _blocks("json"):
        for theirs, ours in here:
            block = block.replace(theirs, ours)
        connector = json.loads(block)
        run_here({**connector["config"], "name": f"{connector['name']}-{prefix}"})

    [file] = (tmp_path / "files").rglob("*.parquet")
    assert pq.read_table(file).select(["id", "item"]).to_pylist() == [
        {"id": 1, "item": "chair"},
        {"id": 2, "item": "table"},
    ]
