"""Gets uv for CI: `uv.py FOLDER` makes the program FOLDER/uv, which uses the package index that pip is set up for.

pip needs 36 CPU seconds for an environment that it has installed before, uv 6. The exit code is 1 where uv cannot be
had, or would miss a setting of pip's: then pip installs.
"""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path

from pip._internal.models.index import PyPI  # pip names its default nowhere else

# Settings of pip's that do not say where packages come from.
NO_MATTER = {
    *("cache-dir", "cert", "compile", "default-timeout", "disable-pip-version-check", "no-color", "no-compile"),
    *("no-input", "progress-bar", "retries", "root-user-action", "timeout"),
}


def main(folder: Path) -> int:
    """Make the program. :param folder: an empty one."""
    pip = [sys.executable, "-m", "pip"]
    listed = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=True).stdout
    settings = {key.rpartition(".")[2]: ast.literal_eval(value) for key, value in map(_parted, listed.splitlines())}
    known = {"index-url", "extra-index-url", "find-links", *NO_MATTER}
    if unknown := sorted(set(settings) - known):
        print(f"pip installs, since uv does not have its settings {', '.join(unknown)}")
        return 1
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", str(folder / "package"), "uv"], check=True)
    config, program = folder / "uv.toml", folder / "uv"
    config.write_text(_config(settings))
    variables = {"UV_CONFIG_FILE": str(config), "UV_CACHE_DIR": os.environ["UV_CACHE_DIR"], "UV_LINK_MODE": "copy"}
    variables |= {"SSL_CERT_FILE": settings["cert"]} if "cert" in settings else {}
    words = [*(f"{key}={value}" for key, value in variables.items()), str(folder / "package" / "bin" / "uv")]
    program.write_text(f'#!/bin/sh\nexec env {shlex.join(words)} "$@"\n')
    program.chmod(0o755)
    subprocess.run([program, "--version"], check=True)
    return 0


def _parted(line: str) -> tuple[str, str]:
    key, _, value = line.partition("=")
    return key, value


def _config(settings: dict[str, str]) -> str:
    """What an index has under a name never changes: without `cache-control`, PySpark would be built each time."""
    lines = [f"find-links = {settings.get('find-links', '').split()}", 'index-strategy = "unsafe-best-match"']
    urls = [*settings.get("extra-index-url", "").split(), settings.get("index-url", PyPI.simple_url)]
    for url in urls:
        lines += ["[[index]]", f"url = {url!r}", 'cache-control = { files = "max-age=365000000, immutable" }']
    return "\n".join([*lines, "default = true", ""])


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except (OSError, subprocess.CalledProcessError, KeyError, SyntaxError) as error:
        print(f"pip installs, since uv cannot be had: {error}")
        sys.exit(1)
