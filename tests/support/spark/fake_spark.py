"""A `spark-submit` that is a small script: for testing what operator, hook and command line do around the real one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# Runs the script in place of the job, with the job's arguments; records its own command line.
_FAKE = """#!{python}
import json, os, pathlib, runpy, stat, sys
folder = pathlib.Path({folder!r})
(folder / "command.json").write_text(json.dumps(sys.argv[1:]))
run_file = pathlib.Path(sys.argv[sys.argv.index("--run") + 1])
if run_file.exists():
    facts = {{"mode": stat.S_IMODE(run_file.stat().st_mode), "spec": json.loads(run_file.read_text()),
             "path": str(run_file), "session": os.getsid(0)}}
    (folder / "run.json").write_text(json.dumps(facts))
sys.stdout.reconfigure(line_buffering=True)
token = json.loads((folder / "run.json").read_text())["spec"]["token"] if run_file.exists() else ""
def tell(*texts, **how):
    print(*(text.replace("KCONNECT {{", f"KCONNECT {{token}} {{{{") if token else text for text in texts), **how)
runpy.run_path(str(folder / "behaviour.py"), init_globals={{"print": tell}})
"""


class FakeSpark:
    """The fake and what it recorded.

    :param folder: put this folder first on PATH.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "spark-submit"
        program.write_text(_FAKE.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
        self.behave("")

    def behave(self, script: str) -> None:
        """Set what it does when it is run; it ends with exit code 0 unless the script exits otherwise."""
        (self.folder / "behaviour.py").write_text(script)

    @property
    def command(self) -> list[str]:
        """The arguments of its last run."""
        command: list[str] = json.loads((self.folder / "command.json").read_text())
        return command

    @property
    def run(self) -> dict[str, Any]:
        """The run file of its last run: `mode`, `spec`, `path`; and its `session`."""
        run: dict[str, Any] = json.loads((self.folder / "run.json").read_text())
        return run


def printing(*lines: str, exit_code: int = 0) -> str:
    """A behaviour: print the lines, then end. Events without a token are given the run's token."""
    text = "".join(f"print({line!r})\n" for line in lines)
    return f"{text}import sys\nsys.exit({exit_code})\n"
