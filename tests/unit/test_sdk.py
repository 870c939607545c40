"""The one import of authors of connectors and transformations: whole, without anything else, and light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from airflow_kconnect import sdk
from tests.support.pages.markdown import REPOSITORY, Block, blocks

_PAGES = ("writing-connectors.md", "connector-classes.md", "guides/own-transformations.md")
GUIDES = [REPOSITORY / "docs" / name for name in _PAGES]
PUBLIC = {"airflow_kconnect", "airflow_kconnect.sdk", "airflow_kconnect.testing"}
HEAVY = ("airflow", "pyspark", "confluent_kafka", "pyarrow", "pandas")
BLOCKS = [block for guide in GUIDES for block in blocks(guide) if block.info == "python"]


def _own_imports(block: Block) -> Iterator[tuple[str, str]]:
    """Module and name of each import of something of this package."""
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom):
            imported = [(str(node.module), alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            imported = [(alias.name, "") for alias in node.names]
        else:
            continue
        yield from (pair for pair in imported if pair[0].partition(".")[0] == "airflow_kconnect")


@pytest.mark.parametrize("name", sdk.__all__)
def test_every_name_exists(name: str) -> None:
    assert hasattr(sdk, name)


def test_nothing_else_is_public() -> None:
    assert {name for name in vars(sdk) if not name.startswith("_")} == set(sdk.__all__)


def test_no_name_is_listed_twice() -> None:
    assert len(set(sdk.__all__)) == len(sdk.__all__)


def test_importing_it_imports_neither_airflow_nor_spark() -> None:
    code = f"import sys, airflow_kconnect.sdk\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_all_guides_have_code() -> None:
    assert {block.page for block in BLOCKS} == set(GUIDES)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_the_guides_import_public_names_only(block: Block) -> None:
    imported = list(_own_imports(block))
    assert {module for module, _ in imported} <= PUBLIC
    assert {name for module, name in imported if module == "airflow_kconnect.sdk"} <= set(sdk.__all__)
