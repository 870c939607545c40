"""A file of gigabytes, through one upload: the memory of its writer does not grow with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from airflow_kconnect.places.registry import open_place
from tests.support.stores import Store, azure_store, s3_store

_SIZE = 2 * 1024**3
_MOST = 96 * 1024**2
"""What it may take beyond what one of a part has taken: some parts that are on their way."""

_WRITE = """
import json, resource, sys
from airflow_kconnect.places.registry import open_place

address, settings, size = json.loads(sys.stdin.read())
block = bytes(range(256)) * 4096

def written(name, size):
    with open_place(address, settings) as place:
        staging = place.stage(name)
        for _ in range(size // len(block)):
            staging.write(block)
        place.publish(staging.finish())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

print(json.dumps([written("small", len(block) * 9), written("large", size)]))
"""


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start", [s3_store, azure_store])
def test_memory_is_flat(start: Callable[[Path], AbstractContextManager[Store]], tmp_path: Path) -> None:
    with start(tmp_path) as store:
        given = json.dumps([store.address, store.settings, _SIZE])
        done = subprocess.run([sys.executable, "-c", _WRITE], input=given, capture_output=True, text=True, check=True)
        small, large = json.loads(done.stdout)
        print(f"peak: {small / 2**20:.0f} MiB with a file of 9 MiB, {large / 2**20:.0f} MiB with a large one")
        found = open_place(store.address, store.settings).find("large")
    assert found is not None
    assert found.size == _SIZE
    assert large - small < _MOST
