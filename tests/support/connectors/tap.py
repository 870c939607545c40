"""A tap for tests, run as a program: it does what its configuration says, in Singer's messages.

It yields the numbers below `count`, `size` of them and then a STATE with how far it is. What is called `events` in its
configuration happens once it is at a number: `{"20": "exit"}`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def schema(more: bool = False) -> dict[str, Any]:
    properties = {"n": {"type": "integer"}, "text": {"type": ["null", "string"]}}
    if more:
        properties["more"] = {"type": ["null", "boolean"]}
    return {"type": "object", "properties": properties}


def name_of(config: dict[str, Any]) -> str:
    return str(config.get("stream", "numbers"))


def option(name: str) -> Any:
    return json.loads(Path(sys.argv[sys.argv.index(name) + 1]).read_text()) if name in sys.argv else {}


def happen(event: str, n: int, config: dict[str, Any]) -> None:
    """What a tap may do in the middle of its work."""
    once = Path(config["count_file"] + f".{event}-{n}")
    if once.exists():
        return
    if not event.endswith("always"):
        once.touch()
    match event.removesuffix("-always"):
        case "exit":
            sys.stderr.write(f"the service does not answer; password={config.get('password')}\n")
            sys.exit(1)
        case "hang":
            time.sleep(3600)
        case "leave-a-child":
            child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
            Path(config["count_file"] + ".child").write_text(str(child))
            sys.exit(0)
        case "junk":
            sys.stdout.write("this is no message\n")
        case "schema":
            say(type="SCHEMA", stream=name_of(config), schema=schema(more=True), key_properties=["n"])
        case "pause":
            time.sleep(0.5)
        case "killed" | "cut-off" as how:
            os.write(1, b'{"type": "RECORD", "stre' if how == "cut-off" else b"")
            os.kill(os.getpid(), 9)


def main() -> None:
    config = option("--config")
    if "--discover" in sys.argv:
        name = name_of(config)
        stream = {"stream": name, "tap_stream_id": name, "schema": schema(), "key_properties": ["n"]}
        other = {"stream": "other", "tap_stream_id": "other", "schema": schema(), "key_properties": []}
        json.dump({"streams": [stream, other]}, sys.stdout)
        return
    catalog, state = option("--catalog"), option("--state")
    modes = {path.name: f"{path.stat().st_mode & 0o777:o}" for path in Path().glob("*.json")}
    seen = {"argv": sys.argv[1:], "config": config, "catalog": catalog, "state": state, "modes": modes}
    Path(config["count_file"] + ".seen").write_text(json.dumps({**seen, "cwd": str(Path.cwd())}))
    say(type="SCHEMA", stream=name_of(config), schema=schema(), key_properties=["n"])
    size, events = config.get("size", 5), config.get("events", {})
    first, count = state.get("next", 0), int(Path(config["count_file"]).read_text())
    # A record with a time of long ago would be removed by the broker.
    at = config.get("at") or datetime.now(UTC).isoformat()
    for n in range(first, count):
        if str(n) in events:
            happen(events[str(n)], n, config)
        text = "x" * config["bytes"] if n == config.get("huge_at") else f"number {n}"
        say(type="RECORD", stream=name_of(config), record={"n": n, "text": text}, time_extracted=at)
        if size and (n + 1) % size == 0:
            note = {"progress_markers": {"at": n}} if config.get("progress_markers") else {}
            say(type="STATE", value={"bookmarks": {"n": {}}} if config.get("static_state") else {"next": n + 1, **note})
        time.sleep(config.get("pause_s", 0))
    if size and not config.get("static_state"):
        say(type="STATE", value={"next": max(first, count)})


if __name__ == "__main__":
    main()
