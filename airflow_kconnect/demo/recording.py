"""Saves what was shown on a terminal as an image for a documentation page."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def save_svg(console: Console, path: Path) -> None:
    """Save what a recording console has printed; the image uses the viewer's own monospaced font and downloads none."""
    svg = console.export_svg(title="kconnect demo", theme=MONOKAI, unique_id="demo")
    path.write_text(_FONT_FACE.sub("", svg).replace("Fira Code", "ui-monospace"), encoding="utf-8")
