"""Offsets of files: what of each was read, and which file that was. Pure rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.connector.source import Offset, ResumePoint, Split
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.places.base import PlacedFile

END = -1
"""The end of a split, whose rows are counted while they are read."""
_CURE = "Set `on.changed` to restart or ignore, or reset the connector's offset of this file"


def partition_of(name: str) -> dict[str, Any]:
    """The source partition of a file, named below its place."""
    return {"file": name}


def with_bad(offset: Offset, count: int) -> Offset:
    """An offset, after further bad records."""
    bad = int(offset.get("bad", 0)) + count
    return {**offset, "bad": bad} if bad else offset


def begins(offset: Mapping[str, Any]) -> tuple[int, int] | None:
    """Where reading resumes: a position, and how many rows after it were read; None: all were."""
    return None if offset.get("done") else (int(offset["begin"]), int(offset["rows"]))


def reached(offset: Mapping[str, Any]) -> tuple[float, int]:
    """How far a file was read, to be compared with another offset of the same file."""
    return begins(offset) or (math.inf, 0)


def is_of(file: PlacedFile, offset: Mapping[str, Any]) -> bool:
    """Whether an offset is one of this very file, and not of one that had its name."""
    return bool(offset.get("version") == file.version)


def changed(name: str) -> DataError:
    """The error for a file that is another one than was read."""
    return DataError(f"file {name} was changed or replaced after it was read. {_CURE}")


def changed_meanwhile(name: str, *, gone: bool) -> DataError:
    """The same, for one that was not read to its end."""
    what = "is gone" if gone else "was changed or replaced"
    return DataError(
        f"file {name} {what} while a run that reads it was unfinished: put the old one back, or set `on.changed` to"
        f" restart to {'leave it out' if gone else 'read the new one from its beginning'}"
    )


def offset_after(split: Split, resume_point: ResumePoint) -> Offset:
    """The offset of a file when a part of it was read up to a row."""
    detail = split.detail
    version = with_bad({"version": detail["version"]}, int(detail.get("bad", 0)))
    if resume_point != END:
        return {**version, "begin": detail["begin"], "rows": int(resume_point)}
    return {**version, "begin": detail["end"], "rows": 0} if detail["more"] else {**version, "done": True}


def offset_problems(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset that is to be committed."""
    subject = f"{dict(offset)} of {dict(partition)}"
    problems = []
    if set(partition) != {"file"} or not isinstance(partition["file"], str):
        problems.append(f'{subject}: expected a partition {{"file": <name below the folder>}}')
    if not isinstance(offset.get("version"), str):
        problems.append(f'{subject}: expected "version", the text that tells the file from another one of its name')
    numbers = [offset.get(name) for name in ("begin", "rows")]
    if offset.get("done") is not True and not all(type(n) is int and n >= 0 for n in numbers):
        problems.append(f'{subject}: expected "done": true, or "begin" and "rows", whole numbers from 0 on')
    return problems
