"""How Spark is installed into the cache where the environment has no pip, as those that uv makes have none."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.machine import spark_install


def test_uv_gets_the_python_after_the_subcommand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\nexit 1\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(RetriableError, match="Cannot install Spark"):
        spark_install.install_spark()

    # uv takes `--python` as an option of `pip install`, not of `pip`.
    assert (tmp_path / "arguments").read_text().split("\n")[:4] == ["pip", "install", "--python", sys.executable]
