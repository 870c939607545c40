"""Operators that ask a real broker; spark-submit is a script, or a service or a cluster has the jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import unique
from tests.support.airflow.home import use_own_airflow_home
from tests.support.stores import Store, moto_store

if TYPE_CHECKING:
    from tests.support.spark.service_tasks import Lines

use_own_airflow_home()


@pytest.fixture(scope="module")
def bucket() -> Iterator[Store]:
    """With the staging folder of a service."""
    with moto_store(unique("staging")) as store:
        yield store


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    def make(**more: str) -> dict[str, Any]:
        name = unique("lines")
        (file := tmp_path / name).write_text("a\nb\n")
        text = "org.apache.kafka.connect.storage.StringConverter"
        config = {"connector.class": "FileStreamSource", "file": str(file), "topic": name, "value.converter": text}
        return {"name": name, **config, **more}

    return make
