"""Patterns of ``path.format``: Joda-Time's, for moments in a zone. Pure rules."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([A-Za-z])\3*)|(?P<other>[^A-Za-z']+)", re.DOTALL)
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d?)(:?(?P<minutes>\d\d))?(:?(?P<seconds>\d\d))?")
_EPOCH = datetime.datetime(1970, 1, 1)

Moment = datetime.datetime
"""Local time, with its zone."""
Text = Callable[[Moment], str]


@dataclass(frozen=True)
class PathFormat:
    """A pattern, parsed; pickled as its text.

    :raises ValueError: it is none; the text follows the name of a configuration key.
    """

    pattern: str
    zone: str
    locale: str = "en"

    def __post_init__(self) -> None:
        parse(self.pattern, self.locale)
        time_zone(self.zone)

    def texts(self) -> Callable[[int], str]:
        """The text of a local time: milliseconds since the epoch, as if they were UTC.

        One that clocks skip is moved by what they skip, as Joda-Time does.
        """
        parts, zone = parse(self.pattern, self.locale), time_zone(self.zone)

        def text(local_ms: int) -> str:
            moment = (_EPOCH + datetime.timedelta(milliseconds=local_ms)).replace(tzinfo=zone)
            existing = moment.astimezone(datetime.UTC).astimezone(zone)
            return "".join(part(existing) for part in parts)

        return text


def time_zone(name: str) -> datetime.tzinfo:
    """A zone by its name, or by its distance from UTC.

    :raises ValueError: there is none.
    """
    if match := _OFFSET.fullmatch(name):
        parts = {unit: int(match[unit] or 0) for unit in ("hours", "minutes", "seconds")}
        distance = datetime.timedelta(**parts)
        return datetime.timezone(-distance if match["sign"] == "-" else distance, name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"is {name}, which is not a time zone: expected one like UTC or Europe/Berlin") from error


def parse(pattern: str, locale: str) -> list[Text]:
    """What makes the texts of the parts of a pattern.

    :raises ValueError: it is none.
    """
    parts: list[Text] = []
    at = 0
    for match in _TOKEN.finditer(pattern):
        if match.start() != at:
            break
        at = match.end()
        if letters := match["letters"]:
            parts.append(_part(letters, locale))
        else:
            quoted = match["quoted"]
            parts.append(_literal("'" if quoted == "" else (quoted or "").replace("''", "'") or match["other"]))
    if at != len(pattern):
        raise ValueError(f"is {pattern}: the quote at character {at + 1} has no end")
    return parts


def _part(letters: str, locale: str) -> Text:
    letter, count = letters[0], len(letters)
    if letter in _NUMBERS and not (letter == "M" and count >= 3):
        number = _NUMBERS[letter]
        if letter in "yYx" and count == 2:
            return lambda moment: f"{number(moment) % 100:02d}"
        return lambda moment: str(number(moment)).zfill(count)
    if letter == "S":
        return lambda moment: f"{moment.microsecond:06d}".ljust(count, "0")[:count]
    if letter == "Z":
        return _offset if count == 1 else _offset_with_colon if count == 2 else _zone
    if letter in _WORDS:
        if letter == "z" and count >= 4:
            raise ValueError(f"has `{letters}`: long names of zones are not supported, use ZZZ")
        if locale.replace("_", "-").split("-")[0].lower() not in ("en", "us", "uk", "english"):
            raise ValueError(f"has `{letters}`, whose words are known in English only: use numbers, or `locale` en")
        word = _WORDS[letter]
        return lambda moment: word(moment, count >= 4)
    raise ValueError(f"has `{letters}`, which Joda-Time's patterns do not have: put texts into single quotes")


def _literal(text: str) -> Text:
    return lambda moment: text


def _iso(index: int) -> Callable[[Moment], int]:
    return lambda moment: moment.isocalendar()[index]


_NUMBERS: dict[str, Callable[[Moment], int]] = {
    "C": lambda moment: moment.year // 100,
    "Y": lambda moment: moment.year,
    "y": lambda moment: moment.year,
    "x": _iso(0),
    "w": _iso(1),
    "e": _iso(2),
    "D": lambda moment: moment.timetuple().tm_yday,
    "M": lambda moment: moment.month,
    "d": lambda moment: moment.day,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: moment.hour % 12 or 12,
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
}
_WORDS: dict[str, Callable[[Moment, bool], str]] = {
    "M": lambda moment, full: _MONTHS[moment.month - 1][: None if full else 3],
    "E": lambda moment, full: _DAYS[moment.weekday()][: None if full else 3],
    "a": lambda moment, _: "AM" if moment.hour < 12 else "PM",
    "G": lambda _moment, _: "AD",
    "z": lambda moment, _: str(moment.tzname()),
}


def _offset(moment: Moment) -> str:
    return moment.strftime("%z")


def _offset_with_colon(moment: Moment) -> str:
    text = _offset(moment)
    return f"{text[:3]}:{text[3:]}"


def _zone(moment: Moment) -> str:
    return str(moment.tzinfo)
