"""What of Kafka Connect's recorded answers must be equal in ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Answer = Mapping[str, Any]


def differences(ours: Answer, theirs: Answer) -> list[str]:
    """What differs, one text each: `status 500 400` (theirs first), `location`, `allow`, `body: key: member`."""
    if ours["status"] != theirs["status"]:
        return [f"status {theirs['status']} {ours['status']}"]
    headers = [name for name in ("location", "allow") if _header(ours, name) != _header(theirs, name)]
    return headers + [f"body{text}" for text in _of_bodies(ours["body"], theirs["body"])]


def _header(answer: Answer, name: str) -> Any:
    value = answer.get(name)
    if value is None or (name == "allow" and answer["status"] != 200):
        return None
    return re.sub(r"https?://[^/]*", "", value) if name == "location" else sorted(re.split(r",\s*", value))


def _of_bodies(ours: Any, theirs: Any) -> list[str]:
    if _is_error(theirs):
        return [] if _is_error(ours) and ours["message"] == theirs["message"] else [": message"]
    if isinstance(theirs, dict) and "error_count" in theirs and isinstance(ours, dict):
        return _of_infos(ours, theirs)
    if _are_keys(theirs) and isinstance(ours, list):
        return _of_keys({key["name"]: key for key in ours}, {key["name"]: key for key in theirs})
    if isinstance(theirs, str) and isinstance(ours, str):  # the methods of a path
        return [] if sorted(ours.split(", ")) == sorted(theirs.split(", ")) else [""]
    return [] if _plain(ours) == _plain(theirs) else [""]


def _is_error(body: Any) -> bool:
    return isinstance(body, dict) and "error_code" in body


def _are_keys(body: Any) -> bool:
    return (
        isinstance(body, list) and bool(body) and all(isinstance(each, dict) and "importance" in each for each in body)
    )


def _of_keys(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Keys of our own are not compared; all of Connect's must be there, with the same members."""
    found = []
    for name, key in theirs.items():
        if name not in ours:
            found.append(f": {name}: missing")
        else:
            found += [f": {name}: {member}" for member in key if ours[name].get(member) != key[member]]
    return found


def _of_infos(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    found = [": name"] if ours["name"] != theirs["name"] else []
    found += [f": group {group}" for group in theirs["groups"] if group not in ours["groups"]]
    mine = {_name(entry): entry for entry in ours["configs"]}
    for entry in theirs["configs"]:
        name = _name(entry)
        if name not in mine:
            found.append(f": {name}: missing")
            continue
        for part in ("definition", "value"):
            a, b = mine[name][part], entry[part]
            if (a is None) != (b is None):
                found.append(f": {name}: {part}")
            elif b is not None:
                found += [f": {name}: {part} {member}" for member in b if _differ(member, a.get(member), b[member])]
    known = {_name(entry) for entry in theirs["configs"]}
    more = [name for name, entry in mine.items() if name not in known and entry["value"] and entry["value"]["errors"]]
    return found + [f": {name}: more errors" for name in more]


def _differ(member: str, ours: Any, theirs: Any) -> bool:
    """Texts of errors are our own."""
    return bool(ours) != bool(theirs) if member == "errors" else bool(ours != theirs)


def _name(entry: Mapping[str, Any]) -> str:
    return str((entry["definition"] or entry["value"])["name"])


def _plain(body: Any) -> Any:
    """Without what differs from run to run: the worker, folders, versions."""
    if isinstance(body, list):
        return [_plain(each) for each in body]
    if isinstance(body, dict):
        return {key: "w" if key == "worker_id" else _plain(value) for key, value in body.items()}
    return re.sub(r"[^\s\"]*/(in|out)\.txt", r"/data/\1.txt", body) if isinstance(body, str) else body
