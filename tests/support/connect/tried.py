"""The examples of the page about Java connectors that were tried: tests run them with addresses of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.support import unique
from tests.support.pages.markdown import REPOSITORY, blocks

PAGE = REPOSITORY / "docs" / "guides" / "java-connectors-tried.md"


def example(name: str, changed: Mapping[str, str], **more: str) -> dict[str, str]:
    """The configuration of a connector on the page, under a name of its own.

    :param name: of the connector there.
    :param changed: addresses, logins, tables, topics: keys of the example, with the test's values.
    :param more: what makes the test shorter or its servers smaller; `_` stands for `.`, `__` for `-`.
    """
    [config] = [one for one in examples() if one["name"] == name]
    assert changed.keys() <= config.keys(), f"not in the example: {changed.keys() - config.keys()}"
    added = {key.replace("__", "-").replace("_", "."): text for key, text in more.items()}
    return {**config, **changed, "name": unique(name), **added}


def examples() -> list[dict[str, str]]:
    """All configurations of the page."""
    return [json.loads(block.text) for block in blocks(PAGE) if block.info == "jsonc"]
