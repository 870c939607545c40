"""Java .properties files: reads and writes the text format of java.util.Properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from airflow_kconnect.connect.errors import ConfigError

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {char: f"\\{letter}" for letter, char in _ESCAPES.items()} | {char: f"\\{char}" for char in "\\=:#!"}
# A key ends at the first separator that is not escaped; one `=` or `:` among blanks belongs to the separator.
_KEY_AND_VALUE = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def parse(text: str) -> dict[str, str]:
    """Keys and values of a .properties text; if a key is repeated, the last value wins, as in Java.

    :raises ConfigError: a `\\u` escape is malformed; the error names the line.
    """
    return dict(pairs(text))


def pairs(text: str) -> list[tuple[str, str]]:
    """Like `parse`, with repeated keys kept apart."""
    return [_pair(number, line) for number, line in _logical_lines(text)]


def dump(mapping: Mapping[str, str]) -> str:
    """The .properties text of a mapping: ASCII only, so that it reads the same as Latin-1 and as UTF-8."""
    lines = (f"{_escape(key, ' ')}={_escape(value)}\n" for key, value in mapping.items())
    return "".join(lines)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line that holds a pair, continuation lines joined."""
    pending, start = "", 0
    for number, natural in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = natural.lstrip(_BLANK)
        if not start and (not line or line[0] in "#!"):
            continue
        start = start or number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield start, pending + line
        pending, start = "", 0
    if pending:
        yield start, pending


def _pair(number: int, line: str) -> tuple[str, str]:
    match = _KEY_AND_VALUE.fullmatch(line)
    # The pattern matches any text in which every backslash is followed by a character, and joined lines are such texts.
    assert match is not None
    key, value = match.groups()
    return _unescape(number, key), _unescape(number, value)


def _unescape(number: int, text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] != "u":
            return _ESCAPES.get(escape, escape)
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        raise ConfigError({"properties": [f"line {number}: malformed \\uXXXX escape, 4 hex digits expected"]})

    unescaped = re.sub(r"\\(u[0-9A-Fa-f]{4}|.)", replacement, text, flags=re.DOTALL)
    # Java writes characters beyond 16 bits as two escapes, which form one character only together.
    return unescaped.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _escape(text: str, always: str = "") -> str:
    """Escape a text; otherwise leading blanks, and the characters in `always`, would be lost."""
    leading = len(text) - len(text.lstrip(" "))
    return "".join(
        f"\\{char}" if char in always or (char == " " and at < leading) else _escape_char(char)
        for at, char in enumerate(text)
    )


def _escape_char(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    if " " <= char <= "~":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
