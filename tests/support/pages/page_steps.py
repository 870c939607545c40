"""What a page asks its reader to do, step by step, and which parts the newcomer tests leave to other tests."""

from __future__ import annotations

from pathlib import Path

from tests.support.pages.markdown import REPOSITORY, Block, blocks

README = REPOSITORY / "README.md"
QUICKSTART = REPOSITORY / "docs" / "quickstart.md"

# Blocks that are not typed with the others on their page, by their first line, and why.
OTHERWISE = {
    "git clone https://github.com/airflow-kconnect/airflow_kconnect": "test_clone.py types it, next to the pages",
    "make test": "it runs all the other tests",
}
# Servers, which run until Ctrl-C.
SERVERS = ("airflow standalone",)
# Kinds of blocks that a reader only looks at.
_PICTURES = ("mermaid",)


def steps(page: Path) -> list[Block]:
    """The blocks of a page that a reader types, saves or compares, in order.

    :raises ValueError: a block is none of these.
    """
    shown = [block for block in blocks(page) if block.info not in _PICTURES]
    unclear = [str(block) for block in shown if block.info not in ("bash", "text") and block.file is None]
    if unclear:
        raise ValueError(f"Neither a command (bash), nor output (text), nor a file to save: {', '.join(unclear)}")
    return shown


def first_line(block: Block) -> str:
    """The first line of a block."""
    return block.text.partition("\n")[0]
