"""Runs a program, and ends it, with all that it has started and its private folder, when its reader is gone.

A script of the standard library alone: `python leash.py FOLDER COMMAND...`. Its standard input is a pipe to
which no one writes, and that ends with the process which reads the program's output, however that ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading


def main(folder: str, command: list[str]) -> int:
    """:returns: the exit code of the program; as of a shell, if a signal has ended it."""
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=folder)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        shutil.rmtree(folder, ignore_errors=True)
        return 127
    threading.Thread(target=_end_with_reader, args=(folder,), daemon=True).start()
    # Its output must end when the program's does.
    os.close(1)
    code = program.wait()
    shutil.rmtree(folder, ignore_errors=True)
    return code if code >= 0 else 128 - code


def _end_with_reader(folder: str) -> None:
    os.read(0, 1)
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
