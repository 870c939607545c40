"""Health check of a container: `healthy.py URL [KEY=VALUE...]`.

Exit code 0 if the page answers in JSON and has each value; a key such as `scheduler.status` leads into objects.
"""

from __future__ import annotations

import json
import sys
import urllib.request


def main(url: str, *wanted: str) -> str | None:
    """What is wrong; None if nothing is."""
    with urllib.request.urlopen(url, timeout=5) as answer:
        page = json.load(answer)
    for item in wanted:
        path, _, value = item.partition("=")
        found = page
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        if str(found) != value:
            return f"{path} is {found}, not {value}"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
