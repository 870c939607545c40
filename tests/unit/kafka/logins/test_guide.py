"""The guide's own provider of tokens."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from airflow_kconnect.worker_config.keys import worker_config_def
from airflow_kconnect.worker_config.oauth_keys import GROUP
from tests.support.pages.markdown import REPOSITORY, blocks

SHOWN = {block.info: block.text for block in blocks(REPOSITORY / "docs" / "guides" / "cloud-logins.md")}


def test_it_reads_the_token_of_its_option(tmp_path: Path) -> None:
    module: dict[str, Any] = {"__name__": "my_tokens"}
    exec(SHOWN["python"], module)  # noqa: S102 - our own documentation
    (tmp_path / "token").write_text("abc\n")
    assert module["FileTokens"]({"path": str(tmp_path / "token")}).token().value == "abc"


def test_its_entry_point_is_of_the_group_that_is_looked_up() -> None:
    assert tomllib.loads(SHOWN["toml"])["project"]["entry-points"] == {GROUP: {"file": "my_tokens:FileTokens"}}


def test_the_workers_keys_are_known() -> None:
    keys = [line.partition("=")[0] for line in SHOWN["text"].splitlines()]
    assert set(keys) - set(worker_config_def().keys) == {"kconnect.oauth.file.path"}
