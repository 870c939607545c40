"""Plug-ins that pyproject.toml has got since the package was installed: an editable install does not notice them."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

_PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def know_new_plugins() -> None:
    """Have this process, and those that it starts, find them, too."""
    groups: dict[str, dict[str, str]] = tomllib.loads(_PROJECT.read_text())["project"]["entry-points"]
    new = [
        f"[{group}]\n{name} = {target}\n"
        for group, named in groups.items()
        for name, target in named.items()
        if not entry_points(group=group, name=name)
    ]
    if new:
        folder = Path(tempfile.gettempdir(), f"kconnect-new-plugins-{os.getuid()}-{_PROJECT.parent.name}")
        metadata = folder / "kconnect_new_plugins-0.dist-info"
        metadata.mkdir(parents=True, exist_ok=True)
        _write(metadata / "METADATA", "Metadata-Version: 2.1\nName: kconnect-new-plugins\nVersion: 0\n")
        _write(metadata / "entry_points.txt", "".join(new))
        sys.path.append(str(folder))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(folder))))


def _write(path: Path, text: str) -> None:
    """Others may read it meanwhile."""
    if not path.exists() or path.read_text() != text:
        (half := path.with_name(f"{path.name}.{os.getpid()}")).write_text(text)
        half.rename(path)
