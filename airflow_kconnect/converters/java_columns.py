"""Numbers and times of Arrow columns as Java's toString() and Spark's to_json print them.

`java_text` does the same in Catalyst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7
"""Between them a double is written without an exponent."""
_NORMAL_FROM, _EXACT_TO = 2.3e-308, 2.0**53
_FRACTION_BITS = 2**52 - 1

DAY_S = 86_400
_FIRST_S, _LAST_S = -62_135_596_800, 253_402_300_799
"""From the year 1 to 9999."""
_WEEKDAYS = ("Thu ", "Fri ", "Sat ", "Sun ", "Mon ", "Tue ", "Wed ")
"""From the first day of the epoch on."""
_MONTHS = ("Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ", "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec ")
_DATE_PARTS = [
    ("weekday", "S4"), ("month", "S4"), ("day", "S2"), ("blank", "S1"),
    ("hour", "S2"), ("colon", "S1"), ("minute", "S2"), ("colon2", "S1"), ("second", "S2"),
    ("zone", "S5"), ("century", "S2"), ("year", "S2"),
]  # fmt: skip
_ISO_DATE = [("century", "S2"), ("year", "S2"), ("dash", "S1"), ("month", "S2"), ("dash2", "S1"), ("day", "S2")]
_ISO_INSTANT = [
    *_ISO_DATE, ("t", "S1"), ("hour", "S2"), ("colon", "S1"), ("minute", "S2"), ("colon2", "S1"), ("second", "S2"),
    ("point", "S1"), ("thousandths", "S3"), ("zone", "S1"),
]  # fmt: skip


def double_texts(values: pa.Array) -> pa.Array | None:
    """``Double.toString`` of each value.

    :param values: FLOAT64 without nulls.
    :returns: STRING; None if a text may depend on the version of Java: until 18 it had more digits than necessary for
        some numbers that are large, denormal, or small powers of two.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = values.to_numpy()
    sizes = np.abs(numbers)
    texts = values.cast(pa.string())
    plain = ((sizes >= _PLAIN_FROM) & (sizes < _PLAIN_TO)) | (sizes == 0)
    if plain.all():
        return _with_fraction(texts)
    if not (plain | _are_same_in_all(numbers, sizes)).all():
        return None
    others = pa.array(~plain)
    return pc.replace_with_mask(_with_fraction(texts), others, _with_exponent(texts.filter(others)))


def _are_same_in_all(numbers: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which doubles have the same text in all versions of Java: the nearest one of those with the fewest digits."""
    import numpy as np

    small_powers_of_two = (sizes < _PLAIN_FROM) & (numbers.view(np.int64) & _FRACTION_BITS == 0)
    usual = (sizes >= _NORMAL_FROM) & (sizes < _EXACT_TO) & ~small_powers_of_two
    same: NDArray[np.bool_] = usual | ~np.isfinite(numbers)
    return same


def _with_fraction(texts: pa.Array) -> pa.Array:
    """Arrow writes whole numbers without a fraction."""
    import pyarrow.compute as pc

    has_fraction = pc.match_substring(texts, ".")
    if pc.all(has_fraction).as_py() is not False:
        return texts
    return pc.if_else(has_fraction, texts, pc.binary_join_element_wise(texts, ".0", ""))


def _with_exponent(texts: pa.Array) -> pa.Array:
    """Arrow's ``12345678.9``, ``0.00015`` and ``1e-7`` as ``1.23456789E7``, ``1.5E-4`` and ``1.0E-7``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(texts, r"^(?P<sign>-?)(?P<whole>\d+)\.?(?P<part>\d*)(?:e\+?(?P<power>-?\d+))?$")
    sign, whole, part, power = parts.flatten()
    all_digits = pc.binary_join_element_wise(whole, part, "")
    digits = pc.utf8_ltrim(all_digits, "0")
    zeros = pc.subtract(pc.binary_length(all_digits), pc.binary_length(digits))
    shift = pc.if_else(pc.equal(power, ""), "0", power).cast(pa.int32())
    exponent = pc.subtract(pc.add(pc.binary_length(whole), shift), pc.add(zeros, 1))
    rest = pc.utf8_rtrim(pc.utf8_slice_codeunits(digits, 1), "0")
    rest = pc.if_else(pc.equal(rest, ""), "0", rest)
    first = pc.utf8_slice_codeunits(digits, 0, 1)
    finite = pc.binary_join_element_wise(sign, first, ".", rest, "E", exponent.cast(pa.string()), "")
    return pc.coalesce(finite, pc.replace_substring(pc.replace_substring(texts, "inf", "Infinity"), "nan", "NaN"))


def date_texts(seconds: NDArray[np.int64]) -> pa.Array | None:
    """``java.util.Date.toString`` in a worker whose time zone is UTC.

    :param seconds: since the epoch.
    :returns: STRING; None if one is before the year 1 or after 9999.
    """
    import numpy as np

    if not _have_four_digits(seconds):
        return None
    day, second = np.divmod(seconds, DAY_S)
    made = np.empty(len(seconds), _DATE_PARTS)
    month = _fill_date(made, day)
    made["weekday"] = np.array(_WEEKDAYS, "S4")[day % len(_WEEKDAYS)]
    made["month"] = np.array(_MONTHS, "S4")[month]
    _fill_time(made, second)
    made["blank"], made["zone"] = b" ", b" UTC "
    return _texts(made)


def iso_dates(milliseconds: NDArray[np.int64]) -> pa.Array | None:
    """Dates as Spark's to_json writes them: ``2024-02-29``.

    :param milliseconds: since the epoch, at midnight.
    :returns: STRING; None if one is before the year 1 or after 9999.
    """
    import numpy as np

    if not _have_four_digits(milliseconds // 1000):
        return None
    made = np.empty(len(milliseconds), _ISO_DATE)
    made["month"] = _two_digits()[_fill_date(made, milliseconds // (DAY_S * 1000)) + 1]
    made["dash"] = made["dash2"] = b"-"
    return _texts(made)


def iso_instants(milliseconds: NDArray[np.int64]) -> pa.Array | None:
    """Instants as Spark's to_json writes them in UTC: ``2024-02-29T23:59:59.999Z``. As `iso_dates`."""
    import numpy as np

    if not _have_four_digits(milliseconds // 1000):
        return None
    day, rest = np.divmod(milliseconds, DAY_S * 1000)
    made = np.empty(len(milliseconds), _ISO_INSTANT)
    made["month"] = _two_digits()[_fill_date(made, day) + 1]
    made["dash"] = made["dash2"] = b"-"
    _fill_time(made, rest // 1000)
    made["thousandths"] = np.array([f"{number:03}" for number in range(1000)], "S3")[rest % 1000]
    made["t"], made["point"], made["zone"] = b"T", b".", b"Z"
    return _texts(made)


def _have_four_digits(seconds: NDArray[np.int64]) -> bool:
    """Whether the years of times have."""
    return not seconds.size or bool(seconds.min() >= _FIRST_S and seconds.max() <= _LAST_S)


def _two_digits() -> NDArray[np.bytes_]:
    import numpy as np

    return np.array([f"{number:02}" for number in range(100)], "S2")


def _fill_date(made: NDArray[np.void], day: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fill in the day and the year; returns the month, from 0 on.

    :param day: since the epoch.
    """
    import numpy as np

    date, numbers = day.view("datetime64[D]"), _two_digits()
    month = date.astype("datetime64[M]")
    year = date.astype("datetime64[Y]").view(np.int64) + 1970
    made["day"] = numbers[(date - month.astype("datetime64[D]")).view(np.int64) + 1]
    made["century"], made["year"] = numbers[year // 100], numbers[year % 100]
    of_year: NDArray[np.int64] = month.view(np.int64) % len(_MONTHS)
    return of_year


def _fill_time(made: NDArray[np.void], second: NDArray[np.int64]) -> None:
    """:param second: of the day."""
    numbers = _two_digits()
    made["hour"], made["minute"] = numbers[second // 3600], numbers[second // 60 % 60]
    made["second"], made["colon"], made["colon2"] = numbers[second % 60], b":", b":"


def _texts(made: NDArray[np.void]) -> pa.Array:
    """Rows of characters as texts."""
    import numpy as np
    import pyarrow as pa

    offsets = np.arange(len(made) + 1, dtype=np.int32) * np.int32(made.itemsize)
    return pa.Array.from_buffers(pa.string(), len(made), [None, pa.py_buffer(offsets), pa.py_buffer(made)])
