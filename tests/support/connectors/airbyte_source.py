"""A source for tests, run as a program: it does what its configuration says, in Airbyte's messages.

Each of its streams yields the numbers below `count`, `size` of them and then a STATE; `events` as those of `tap.py`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

STREAMS = ("numbers", "others")


def say(kind: str, **content: Any) -> None:
    sys.stdout.write(json.dumps({"type": kind, **content}) + "\n")
    sys.stdout.flush()


def option(name: str) -> Any:
    return json.loads(Path(sys.argv[sys.argv.index(name) + 1]).read_text()) if name in sys.argv else None


def catalog() -> dict[str, Any]:
    properties = {"n": {"type": "integer"}, "text": {"type": ["null", "string"]}}
    common = {
        "json_schema": {"type": "object", "properties": properties},
        "supported_sync_modes": ["full_refresh", "incremental"],
        "source_defined_cursor": True,
        "source_defined_primary_key": [["n"]],
    }
    return {"streams": [{"name": name, **common} for name in STREAMS]}


def happen(event: str, n: int, config: dict[str, Any]) -> None:
    once = Path(config["count_file"] + f".{event}-{n}")
    if once.exists():
        return
    once.touch()
    kind, _, failure = event.partition(":")
    match kind:
        case "trace":
            error = {"message": f"no access with {config.get('secret_word')}", "failure_type": failure}
            say("TRACE", trace={"type": "ERROR", "error": error})
            sys.exit(1)
        case "trace-and-end":
            say("TRACE", trace={"type": "ERROR", "error": {"message": "half of it", "failure_type": "system_error"}})
            sys.exit(0)
        case "exit":
            sys.exit(1)
        case "hang":
            time.sleep(3600)


def state_of(given: Any, stream: str, kind: str) -> int:
    """How far the stream was."""
    if not given:
        return 0
    if kind == "LEGACY":
        return int(given.get(stream, {}).get("next", 0))
    shared = [each["global"]["stream_states"] for each in given if each["type"] == "GLOBAL"]
    own = shared[0] if shared else [each["stream"] for each in given]
    found = [each["stream_state"]["next"] for each in own if each["stream_descriptor"]["name"] == stream]
    return found[0] if found else 0


def tell(kind: str, stream: str, reached: dict[str, int]) -> None:
    def of(name: str) -> dict[str, Any]:
        return {"stream_descriptor": {"name": name}, "stream_state": {"next": reached[name]}}

    if kind == "STREAM":
        say("STATE", state={"type": "STREAM", "stream": of(stream)})
    elif kind == "GLOBAL":
        say("STATE", state={"type": "GLOBAL", "global": {"stream_states": [of(name) for name in reached]}})
    else:
        say("STATE", state={"data": {name: {"next": n} for name, n in reached.items()}})


def main() -> None:
    command, config = sys.argv[1], option("--config")
    say("LOG", log={"level": "INFO", "message": f"this is {command}"})
    match command:
        case "spec":
            secret = {"type": "string", "airbyte_secret": True}
            properties = {"login": {"type": "object", "oneOf": [{"properties": {"secret_word": secret}}]}}
            say("SPEC", spec={"connectionSpecification": {"type": "object", "properties": properties}})
        case "check":
            ok = config.get("connects", True)
            status = {"status": "SUCCEEDED" if ok else "FAILED", "message": "no route"}
            say("CONNECTION_STATUS", connectionStatus=status)
        case "discover":
            say("CATALOG", catalog=catalog())
        case "read":
            read(config)


def read(config: dict[str, Any]) -> None:
    given, kind = option("--state"), config.get("states", "STREAM")
    selected = [each["stream"]["name"] for each in option("--catalog")["streams"]]
    seen = {"argv": sys.argv[1:], "catalog": option("--catalog"), "state": given}
    Path(config["count_file"] + ".seen").write_text(json.dumps(seen))
    reached = {name: state_of(given, name, kind) for name in selected}
    count, size, events = int(Path(config["count_file"]).read_text()), config.get("size", 5), config.get("events", {})
    # A record with a time of long ago would be removed by the broker.
    at = config.get("at") or int(time.time() * 1000)
    for n in range(min(reached.values()), count):
        if str(n) in events:
            happen(events[str(n)], n, config)
        for name in selected:  # at once, as sources read them that use threads
            if n >= reached[name]:
                record = {"stream": name, "data": {"n": n, "text": f"number {n}"}, "emitted_at": at}
                say("RECORD", record=record)
        for offset, name in enumerate(selected):
            if (n + 1 + offset) % size == 0 and n >= reached[name]:
                reached[name] = n + 1
                tell(kind, name, reached)
        time.sleep(config.get("pause_s", 0))
    for name in selected:
        reached[name] = max(count, reached[name])
        tell(kind, name, reached)


if __name__ == "__main__":
    main()
