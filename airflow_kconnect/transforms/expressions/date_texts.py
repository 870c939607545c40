"""Formats and parses times by patterns of java.text.SimpleDateFormat, as Catalyst expressions that never throw.

As in Java, fields roll over when parsed (month 13), digits may be missing, and any text may follow. The zone is UTC;
names and weeks are those of the United States. Unlike in Java the calendar is Gregorian even before 1582, and zones are
parsed by number or by the names below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.transforms.expressions.date_patterns import DatePattern, Letters

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_ZONE_HOURS = {"GMT": 0, "UTC": 0, "CET": 1, "CEST": 2}
_ZONE_HOURS |= {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
_ZONE = (
    r"(?i:GMT[+-](?:[01]?\d|2[0-3]):[0-5]\d|(?!GMT[+-])(?:" + "|".join(_ZONE_HOURS) + "))"
    r"|[+-](?:[01]\d|2[0-3])[0-5]\d"
)
_ISO_ZONES = {1: "", 2: r"[0-5]\d", 3: r":[0-5]\d"}
# Spark's timestamps end here.
_LAST_YEAR = 290_000
# Java takes two digits for a year of the century that began this many years ago.
_YEARS_BACK = 80
# Letters that represent the same field of Java's Calendar.
_FIELDS = {"L": "M", "k": "H", "K": "h", "Z": "z", "X": "z", "u": "E"}

_FieldTexts = Mapping[str, tuple[Letters, Column]]
"""By field: the letters of the pattern, and the text at their position."""


def written(pattern: DatePattern, instant: Column) -> Column:
    """TIMESTAMPs as texts (``SimpleDateFormat.format``)."""
    return F.concat(F.lit(""), *(_part_text(part, instant) for part in pattern.parts))


def _part_text(part: str | Letters, instant: Column) -> Column:
    if isinstance(part, str):
        return F.lit(part)
    if not part.is_number:
        return _name(part, instant)
    number = _number(part.letter, instant)
    if part.letter in "yY" and part.count == 2:
        number = number % 100
    digits = number.cast("string")
    return F.lpad(digits, F.greatest(F.length(digits), F.lit(part.count)), F.lit("0"))


def _name(part: Letters, instant: Column) -> Column:
    is_long = part.count > 3
    match part.letter:
        case "G":
            return F.when(F.year(instant) > 0, "AD").otherwise("BC")
        case "E":
            return F.date_format(instant, "EEEE" if is_long else "EEE")
        case "a":
            return F.when(F.hour(instant) < 12, "AM").otherwise("PM")
        case "z":
            return F.lit("Coordinated Universal Time" if is_long else "UTC")
        case "Z":
            return F.lit("+0000")
        case "X":
            return F.lit("Z")
        case _:
            return F.date_format(instant, "MMMM" if is_long else "MMM")


def _number(letter: str, instant: Column) -> Column:
    match letter:
        case "y":
            return _year_of_era(instant)
        case "M" | "L":
            return F.month(instant)
        case "d":
            return F.dayofmonth(instant)
        case "D":
            return F.dayofyear(instant)
        case "u":
            return F.weekday(instant) + 1
        case "m":
            return F.minute(instant)
        case "s":
            return F.second(instant)
        case "S":
            return F.pmod(F.unix_millis(instant), F.lit(1000))
        case "Y" | "w" | "W" | "F":
            return _week_number(letter, instant)
        case _:
            return _hour(letter, F.hour(instant))


def _year_of_era(instant: Column) -> Column:
    year = F.year(instant)
    return F.when(year > 0, year).otherwise(1 - year)


def _hour(letter: str, hour: Column) -> Column:
    of_half = hour % 12
    match letter:
        case "k":
            return F.when(hour == 0, 24).otherwise(hour)
        case "K":
            return of_half
        case "h":
            return F.when(of_half == 0, 12).otherwise(of_half)
        case _:
            return hour


def _week_number(letter: str, instant: Column) -> Column:
    """Weeks end on Saturday, even the first one of a year or month, however short it is."""
    day, weekday = F.dayofmonth(instant), F.dayofweek(instant)
    saturday = F.date_add(instant, 7 - weekday)
    match letter:
        case "Y":
            return _year_of_era(saturday)
        case "w":
            return F.ceil(F.dayofyear(saturday) / 7)
        case "W":
            return F.ceil((day + F.pmod(weekday - day, F.lit(7))) / 7)
        case _:
            return F.ceil(day / 7)


def read(pattern: DatePattern, text: Column) -> Column:
    """STRINGs as LONG milliseconds (``SimpleDateFormat.parse``); null where the pattern does not match.

    :param pattern: one that is not `unreadable`.
    """
    regex = _regex(pattern)
    fields = [part for part in pattern.parts if isinstance(part, Letters)]
    # All at once, and then as a lambda's variable: an expression for each field would search the text each time.
    references = ",".join(f"${n + 1}" for n in range(len(fields)))
    texts = F.split(F.regexp_replace(text, f"{regex}.*", references), ",")

    def instant(row_texts: Column) -> Column:
        # If a field occurs twice, the last one wins.
        return _ms(
            {_FIELDS.get(part.letter, part.letter): (part, F.get(row_texts, F.lit(n))) for n, part in enumerate(fields)}
        )

    return F.when(text.rlike(regex), F.get(F.transform(F.array(texts), instant), F.lit(0)))


def _regex(pattern: DatePattern) -> str:
    """The pattern as a regular expression with a group for each field."""
    regex = r"(?s)\A"
    for part, following in zip(pattern.parts, (*pattern.parts[1:], ""), strict=True):
        if isinstance(part, str):
            regex += re.escape(part)
            continue
        joined = part.is_number and isinstance(following, Letters) and following.is_number
        # Java skips whitespace before numbers and zones.
        space = r"[ \t]*+" if not joined and (part.is_number or part.letter in "zZX") else ""
        # It never backtracks: neither does a group of the form (?>...).
        regex += f"{space}((?>{_joined_number(part.count) if joined else _field(part)}))"
    return regex


def _joined_number(count: int) -> str:
    """A number immediately followed by another: at most this many characters, including the whitespace before it."""
    numbers = (rf"[ \t]{{{count - n}}}(?:\d{{1,{n}}}|-\d{{0,{n - 1}}})" for n in range(1, count + 1))
    return f"(?=.{{{count}}})(?:{'|'.join(numbers)})"


def _field(part: Letters) -> str:
    match part.letter:
        case _ if part.is_number:
            return r"-?\d+"
        case "M" | "L":
            return _names(_MONTHS)
        case "E":
            return _names(_DAYS)
        case "a":
            return "(?i:AM|PM)"
        case "X":
            return rf"Z|[+-](?:[01]\d|2[0-3]){_ISO_ZONES[part.count]}"
        case _:
            return _ZONE


def _names(names: tuple[str, ...]) -> str:
    return f"(?i:{'|'.join((*names, *(name[:3] for name in names)))})"


def _ms(fields: _FieldTexts) -> Column:
    def number(field: str, default: int = 0) -> Column:
        return _int(fields[field][1]) if field in fields else F.lit(default)

    is_day_of_year = "D" in fields and "d" not in fields
    month = F.lit(1) if is_day_of_year else _month(fields)
    days = _days(_year(fields), month, number("D" if is_day_of_year else "d", 1))
    minutes = (days * 24 + _hours(fields)) * 60 + number("m") - _zone_minutes(fields)
    return (minutes * 60 + number("s")) * 1000 + number("S")


def _int(text: Column) -> Column:
    """LONG of a number that is an INT, so that calculations with it do not overflow."""
    return text.try_cast("int").cast("bigint")


def _year(fields: _FieldTexts) -> Column:
    if "y" not in fields:
        return F.lit(1970)
    part, text = fields["y"]
    year = _int(text)
    if part.count > 2:
        return year
    first = datetime.now(UTC).year - _YEARS_BACK
    return F.when(text.rlike(r"^\d\d$"), first + F.pmod(year - first, F.lit(100))).otherwise(year)


def _month(fields: _FieldTexts) -> Column:
    if "M" not in fields:
        return F.lit(1)
    part, text = fields["M"]
    if part.is_number:
        return _int(text)
    known = F.array(*(F.lit(name[:3].lower()) for name in _MONTHS))
    return F.array_position(known, F.lower(F.substring(text, 1, 3)))


def _days(year: Column, month: Column, day: Column) -> Column:
    """Days since the epoch; null far outside of Spark's range, where its functions would throw."""
    months = month - 1
    year = year + F.floor(months / 12)
    in_range = year.between(-_LAST_YEAR, _LAST_YEAR)
    first = F.make_date(year.cast("int"), (F.pmod(months, F.lit(12)) + 1).cast("int"), F.lit(1))
    return F.when(in_range, F.unix_date(first).cast("bigint")) + day - 1


def _hours(fields: _FieldTexts) -> Column:
    field = "H" if "H" in fields else "h"
    hour = F.lit(0)
    if field in fields:
        part, text = fields[field]
        hour = _int(text)
        # 1 to 24, or 1 to 12: the last one is midnight, or noon.
        last = {"k": 24, "h": 12}.get(part.letter)
        hour = F.when(hour == last, 0).otherwise(hour) if last else hour
    if field == "h" and "a" in fields:
        hour = hour + F.when(F.upper(fields["a"][1]) == "PM", 12).otherwise(0)
    return hour


def _zone_minutes(fields: _FieldTexts) -> Column:
    """How far the zone is ahead of UTC."""
    if "z" not in fields:
        return F.lit(0)
    text = fields["z"][1]
    hours, minutes = (F.regexp_extract(text, r"([+-]\d\d?):?(\d\d)?", group) for group in (1, 2))
    sign = F.when(hours.startswith("-"), -1).otherwise(1)
    numeric = hours.try_cast("int") * 60 + sign * F.coalesce(minutes.try_cast("int"), F.lit(0))
    hours_by_name = F.create_map(*(F.lit(entry) for pair in _ZONE_HOURS.items() for entry in pair))
    return F.coalesce(numeric, F.try_element_at(hours_by_name, F.upper(text)) * 60, F.lit(0))
