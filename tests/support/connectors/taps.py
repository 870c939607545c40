"""Configurations of connectors that run the programs of tests: the tap `tap.py`, the source `airbyte_source.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.connectors import airbyte_source, tap


class Numbers:
    """A program that is installed already.

    :ivar count_file: how many numbers it has.
    """

    name: str
    protocol: str
    script: str

    def __init__(self, folder: Path, count: int = 0) -> None:
        self.command = folder / self.name
        script = Path(self.script)
        run = f"import sys; sys.path.append({str(script.parent)!r}); from {script.stem} import main; main()"
        self.command.write_text(f"#!{sys.executable} -IS\n{run}\n")  # as few imports as possible: it starts often
        self.command.chmod(0o755)
        self.count_file = folder / "count"
        self.grow(count)

    def grow(self, to: int) -> None:
        """Have the numbers below `to`."""
        self.count_file.write_text(str(to))

    def props(self, **config: Any) -> dict[str, str]:
        """The keys that name it, and its configuration."""
        given = {"count_file": str(self.count_file), **config}
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
        return {
            f"{self.protocol}.command": str(self.command),
            f"{self.protocol}.streams": "numbers",
            **{f"{self.protocol}.config.{name}": text for name, text in texts.items()},
        }

    def seen(self) -> dict[str, Any]:
        """What its last run was given."""
        found: dict[str, Any] = json.loads(Path(f"{self.count_file}.seen").read_text())
        return found


class Tap(Numbers):
    name, protocol, script = "tap-numbers", "singer", tap.__file__


class Source(Numbers):
    name, protocol, script = "source-numbers", "airbyte", airbyte_source.__file__
