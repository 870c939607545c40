"""What a place in a store of S3 takes: many files open at once, a large file, a long listing, files that are moved.

    PYTHONPATH=. .venv/bin/python -m benchmarks.places [open | large | list | move]

Prints CPU seconds of this process, and megabytes of it. The store is S3Proxy, in a process of its own. Files are also
moved in a folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from airflow_kconnect.places.base import Place
from airflow_kconnect.places.moving import Move, move_all
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.places.s3.place import S3Place
from tests.support.stores import s3_store

_MB = 1024 * 1024


def _resident_mb() -> int:
    return int(psutil.Process().memory_info().rss) // _MB


def _cpu_s() -> float:
    times = os.times()
    return times.user + times.system


def many_open(place: Place) -> None:
    """1,000 files of 300 kB, written in turn."""
    before = _resident_mb()
    files = [place.stage(f"p={number}/file") for number in range(1000)]
    block = os.urandom(50_000)
    for _ in range(6):
        for file in files:
            file.write(block)
    print(f"1,000 files open: {_resident_mb() - before} MB, {psutil.Process().num_fds()} descriptors")
    for staged in [file.finish() for file in files]:
        place.publish(staged)


def large(place: Place) -> None:
    """A file of 2 GiB."""
    before, peak, block = _resident_mb(), 0, os.urandom(_MB)
    file = place.stage("large")
    for number in range(2048):
        file.write(block)
        if number % 64 == 0:
            peak = max(peak, _resident_mb())
    place.publish(file.finish())
    found = place.find("large")
    assert found is not None
    print(f"{found.size // _MB} MiB in a file: {peak - before} MB at most")


def listing(place: Place) -> None:
    """10,000 objects."""
    assert isinstance(place, S3Place)
    store = place._s3

    def put(number: int) -> None:
        store.put_object(Bucket=place.at.root, Key=f"{place.at.path}/list/{number:06d}", Body=b"x")

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(put, range(10_000)))
    cpu, clock = _cpu_s(), time.monotonic()
    files = sum(1 for _ in place.files("list/"))
    print(f"{files} listed: {_cpu_s() - cpu:.2f} CPU s, {time.monotonic() - clock:.2f} s by the clock")


def moving(place: Place) -> None:
    """1,000 small files, as by `finished.path`; then the same in a folder."""
    assert isinstance(place, S3Place)
    requests: Counter[str] = Counter()
    for store in (place._s3, place._s3_once):
        store.meta.events.register("before-call.s3", lambda model, **_: requests.update([model.name]))
    with tempfile.TemporaryDirectory() as folder:
        for source in (place, open_place(folder, {})):
            for number in range(1000):
                staging = source.stage(f"in/{number:04d}.csv")
                staging.write(b"id\n1\n")
                source.publish(staging.finish())
            requests.clear()
            files = list(source.files("in/"))
            cpu, clock = _cpu_s(), time.monotonic()
            moved = move_all(source, [Move(file, source, f"done/{file.name}") for file in files])
            took = f"{_cpu_s() - cpu:.2f} CPU s, {time.monotonic() - clock:.2f} s by the clock"
            print(f"{len(moved.files):,} files of {source.at.scheme} moved: {took}, {dict(requests)}")


def main() -> None:
    """One of them, or all."""
    every = {"open": many_open, "large": large, "list": listing, "move": moving}
    with tempfile.TemporaryDirectory() as folder, s3_store(Path(folder)) as store:
        place = open_place(f"{store.address}/place", store.settings)
        for name in sys.argv[1:] or every:
            begin = _cpu_s()
            every[name](place)
            print(f"{name}: {_cpu_s() - begin:.1f} CPU s")


if __name__ == "__main__":
    main()
