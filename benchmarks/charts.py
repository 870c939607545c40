"""Charts as SVG files: bars of records per second, with a tick for the best pass; lines of what may grow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby

from benchmarks.measure import CONNECT, LIMIT, LOOP, OURS, Row, number

_WIDTH, _LABELS, _VALUES = 900, 320, 150
_BAR, _GAP, _TITLE, _MARGIN = 20, 6, 34, 16
# A limit may be many times what contenders reach: its bar is cut, or theirs would be too short to compare.
_ROOM_FOR_LIMITS = 1.25
_COLORS = {CONNECT: "#8a8f98", OURS: "#0f766e", LOOP: "#c2a05a", LIMIT: "#d4d7dc"}
_LINES = ("#0f766e", "#8a8f98", "#c2a05a", "#24292f")
_AXIS = 'stroke="#8a8f98" fill="none"'
_STYLE = "text{font:13px sans-serif;fill:#24292f}.title{font-weight:bold;font-size:15px}.value{font-size:12px}"


def bars(rows: Iterable[Row]) -> str:
    """An SVG file of records per second: bars end at the median, thin lines at the best pass."""
    parts: list[str] = []
    top = _MARGIN
    for path, found in groupby(rows, key=lambda row: row.path):
        panel = list(found)
        parts.append(_text(_MARGIN, top + 18, f"{path}, records/s", "title"))
        top += _TITLE
        most = max(row.best for row in panel if row.side != LIMIT) * _ROOM_FOR_LIMITS
        for row in panel:
            parts += _bar(row, top, most)
            top += _BAR + _GAP
        top += _MARGIN
    return _file(parts, top)


def _file(parts: list[str], height: int) -> str:
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    background = f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, f"<style>{_STYLE}</style>", background, *parts, "</svg>", ""])


def lines(title: str, what: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """An SVG file of lines that begin at zero: points by name.

    :param what: what the points are counted by.
    """
    height, left, right = 260, 60, _WIDTH - _LABELS + 60
    top, bottom = _MARGIN + _TITLE, height - 40
    most_x = max(x for points in series.values() for x, _ in points)
    most_y = max(y for points in series.values() for _, y in points)
    parts = [_text(_MARGIN, _MARGIN + 14, title, "title"), f'<path d="M{left} {top}V{bottom}H{right}" {_AXIS}/>']
    parts += [_text(left - 44, top + 4, number(most_y), "value"), _text(left - 14, bottom + 4, "0", "value")]
    parts += [_text(right - 60, bottom + 20, f"{number(most_x)} {what}", "value")]
    for color, (name, points) in zip(_LINES, series.items(), strict=False):
        places = [(left + (right - left) * x / most_x, bottom - (bottom - top) * y / most_y) for x, y in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        parts.append(f'<path d="M{path}" stroke="{color}" stroke-width="2" fill="none"/>')
        parts.append(_text(places[-1][0] + 8, places[-1][1] + 4, name, "value"))
    return _file(parts, height)


def _bar(row: Row, top: int, most: float) -> list[str]:
    room = _WIDTH - _LABELS - _VALUES - _MARGIN
    median, best = (round(room * min(rate / most, 1), 1) for rate in (row.median, row.best))
    middle = top + _BAR // 2
    cut = " (bar is cut)" if row.median > most else ""
    return [
        _text(_MARGIN, middle + 4, row.name),
        f'<rect x="{_LABELS}" y="{top}" width="{median}" height="{_BAR}" rx="2" fill="{_COLORS[row.side]}"/>',
        f'<path d="M{_LABELS + median} {middle}H{_LABELS + best}M{_LABELS + best} {top + 4}v{_BAR - 8}"'
        ' stroke="#24292f" fill="none"/>',
        _text(_LABELS + best + 8, middle + 4, number(row.median) + cut, "value"),
    ]


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{style}>{escape(text)}</text>'
