"""What commands print with: data of records and answers of servers cannot move the cursor, hide text or set a title."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console as _RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from airflow_kconnect.connect.printable import UNPRINTABLE, printable


class Console(_RichConsole):
    """A console that shows control characters as U+FFFD; only Rich's own codes reach the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See Rich."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))


def json_line(data: Any) -> str:
    """JSON in one line, readable in any language; what would act on a terminal is escaped, which JSON allows."""
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data, ensure_ascii=False))


def clean(text: str) -> str:
    """A text of several lines without what would act on a terminal."""
    return "\n".join(map(printable, text.split("\n")))
