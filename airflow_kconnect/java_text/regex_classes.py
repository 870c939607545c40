r"""Single-character syntax in Java's regular expressions: ``[a-z&&[^b]]``, ``\p{Alpha}``, ``\d``, ``\x41``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

Test = Callable[[str], bool]
"""Whether a character belongs to the class."""

_ESCAPE = re.compile(
    r"""\\(?:
    (?P<property>[pP])(?:\{(?P<long>[^}]*)\}|(?P<short>[A-Z]))
    | (?P<group>[dDsSwWhHvV])
    | 0(?P<octal>[0-3]?[0-7]{1,2})
    | (?:x(?P<hex>[0-9a-fA-F]{2})|u(?P<unit>[0-9a-fA-F]{4})|x\{(?P<point>[0-9a-fA-F]{1,6})\})
    | (?P<control>[tnrfae])
    | (?P<itself>[^a-zA-Z0-9])
    )""",
    re.VERBOSE | re.DOTALL,
)
_CONTROLS = dict(zip("tnrfae", "\t\n\r\f\a\x1b", strict=True))
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_DEPTH_MAX = 20


def is_(char: str) -> Test:
    """Exactly this character."""
    return lambda other: other == char


def any_(char: str) -> bool:
    """Every character."""
    return True


def any_in_line(char: str) -> bool:
    """Every character except line terminators."""
    return char not in "\n\r\u0085\u2028\u2029"


def ignoring_case(test: Test) -> Test:
    """The same test, ignoring case."""
    return lambda char: test(char) or test(char.lower()) or test(char.upper())


def class_of(pattern: str, start: int, *, ignore_case: bool) -> tuple[Test, int]:
    """The class that starts there with ``[`` or a backslash, and the position after it.

    :param ignore_case: applies to what the class lists; what it excludes is then excluded in both cases.
    :raises re.error: it is invalid, or uses unsupported syntax.
    """
    if pattern[start] == "[":
        return _brackets(pattern, start, 1, ignore_case)
    test, _, end = _escaped(pattern, start)
    return (ignoring_case(test) if ignore_case else test), end


def _brackets(pattern: str, start: int, depth: int, ignore_case: bool) -> tuple[Test, int]:
    if depth > _DEPTH_MAX:
        raise re.error("character classes are nested too deeply", pattern, start)
    negated = pattern.startswith("^", start + 1)
    first = at = start + 1 + negated
    parts: list[list[Test]] = [[]]
    while at < len(pattern):
        if pattern[at] == "]" and at > first:
            intersection = _intersection(parts)
            return (_not(intersection) if negated else intersection), at + 1
        if pattern.startswith("&&", at):
            parts.append([])
            at += 2
            continue
        if pattern[at] == "[":
            test, at = _brackets(pattern, at, depth + 1, ignore_case)
        else:
            test, at = _range(pattern, at)
            test = ignoring_case(test) if ignore_case else test
        parts[-1].append(test)
    raise re.error("unterminated character set", pattern, start)


def _range(pattern: str, start: int) -> tuple[Test, int]:
    """A character, a group of them, or ``a-z``."""
    test, first, at = _one(pattern, start)
    follows = pattern[at + 1 : at + 2]
    if first is None or pattern[at : at + 1] != "-" or follows in ("]", "[", ""):
        return test, at
    _, last, end = _one(pattern, at + 1)
    if last is None or last < first:
        raise re.error(f"bad character range {pattern[start:end]}", pattern, start)
    return lambda char: first <= char <= last, end


def _one(pattern: str, at: int) -> tuple[Test, str | None, int]:
    if pattern[at] == "\\":
        return _escaped(pattern, at)
    return is_(pattern[at]), pattern[at], at + 1


def _escaped(pattern: str, start: int) -> tuple[Test, str | None, int]:
    """What a backslash introduces: the test, the character if it is a single one, and the position after it."""
    escape = _ESCAPE.match(pattern, start)
    if escape is None:
        raise re.error(f"bad escape {pattern[start : start + 2]}", pattern, start)
    if escape["property"]:
        test = _property(escape["long"] or escape["short"] or "", pattern, start)
        return (_not(test) if escape["property"] == "P" else test), None, escape.end()
    if escape["group"]:
        test = _GROUPS[escape["group"].lower()]
        return (_not(test) if escape["group"].isupper() else test), None, escape.end()
    char = _character(escape, pattern)
    return is_(char), char, escape.end()


def _character(escape: re.Match[str], pattern: str) -> str:
    if escape["itself"]:
        return escape["itself"]
    if escape["control"]:
        return _CONTROLS[escape["control"]]
    code = int(escape["octal"], 8) if escape["octal"] else int(escape["hex"] or escape["unit"] or escape["point"], 16)
    if code > 0x10FFFF:
        raise re.error(f"{escape[0]} is not a character", pattern, escape.start())
    return chr(code)


def _property(name: str, pattern: str, at: int) -> Test:
    if test := _PROPERTIES.get(name):
        return test
    category = name.removeprefix("Is")
    if category in _CATEGORIES:
        return lambda char: unicodedata.category(char).startswith(category)
    raise re.error(f"the property {name} is not understood", pattern, at)


def _intersection(parts: list[list[Test]]) -> Test:
    """The intersection of all non-empty parts, each part being the union of its tests."""
    meant = [part for part in parts if part]
    return lambda char: all(any(test(char) for test in part) for part in meant)


def _not(test: Test) -> Test:
    return lambda char: not test(char)


def _ascii(test: Test) -> Test:
    return lambda char: char.isascii() and test(char)


_GROUPS: Mapping[str, Test] = {
    "d": _ascii(str.isdigit),
    "s": lambda char: char in " \t\n\x0b\f\r",
    "w": _ascii(lambda char: char.isalnum() or char == "_"),
    "h": lambda char: char in "\t\u00a0\u1680\u180e\u202f\u205f\u3000 " or "\u2000" <= char <= "\u200a",
    "v": lambda char: char in "\n\x0b\f\r\u0085\u2028\u2029",
}
_PROPERTIES: Mapping[str, Test] = {
    "Lower": _ascii(str.islower),
    "Upper": _ascii(str.isupper),
    "ASCII": str.isascii,
    "Alpha": _ascii(str.isalpha),
    "Digit": _ascii(str.isdigit),
    "Alnum": _ascii(str.isalnum),
    "Punct": lambda char: char in _PUNCTUATION,
    "Graph": lambda char: "!" <= char <= "~",
    "Print": lambda char: " " <= char <= "~",
    "Blank": lambda char: char in " \t",
    "Cntrl": lambda char: char < " " or char == "\x7f",
    "XDigit": lambda char: char in "0123456789abcdefABCDEF",
    "Space": _GROUPS["s"],
    "IsAlphabetic": str.isalpha,
    "IsDigit": lambda char: unicodedata.category(char) == "Nd",
    "IsLowercase": str.islower,
    "IsUppercase": str.isupper,
}
_CATEGORIES = frozenset(
    {"L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No"}
    | {"P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp"}
)
