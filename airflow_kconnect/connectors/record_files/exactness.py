"""Types that a sample of texts suggests, as far as no text would lose anything in them; else the column is a string.

A later text that would is found, too: it must not become another value unnoticed. That all are usual is seen by their
beginnings and lengths, which takes a fraction of the time in which they are read.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connectors.record_files.types import Description, described

_WHOLE = r"^\s*(?:0|-?[1-9][0-9]*)\s*$"
_FRACTION = r"^\s*-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?\s*$"
_NO_NUMBER = r"^\s*(?:[nN]a[nN]|[+-]?[iI]nf(?:inity)?)\s*$"
_TRUTH = r"^\s*(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$"
_DIGITS = 15
"""Those that a double holds, whatever they are."""
_LARGE = 10.0**_DIGITS
"""What these digits alone do not exceed."""
_ODD = ("+", " ", "\t")
"""How numbers begin that are written in another way than usual."""
_BELOW_MILLISECONDS = r"\.[0-9]{3}0*[1-9]"


def exact_type(texts: pa.StringArray, suggested: pa.DataType) -> Description:
    """The type of a column. What may change is the way in which a value is written: `1.10`, ` 5`, `TRUE`, a time zone.

    :param texts: of the sample. :param suggested: a type to which they can be cast.
    """
    texts = texts.drop_null()
    if pa.types.is_floating(suggested) and _all(texts, _NO_NUMBER):
        return "string"
    try:
        is_exact = pc.all(_keeps(texts, suggested)).as_py()
    except pa.ArrowInvalid:
        is_exact = False
    return described(suggested) if is_exact else "string"


def lost(texts: pa.BinaryArray, values: pa.Array) -> np.ndarray:
    """Places of texts that have lost something in values of a type that a sample had suggested.

    :param texts: in UTF-8, where there is a value.
    """
    if _are_usual(texts, values.type) and (not pa.types.is_floating(values.type) or _are_of_size(texts, values)):
        return np.empty(0, np.int64)
    known = pc.if_else(values.is_valid(), texts, None).cast(pa.string())
    return np.flatnonzero(pc.invert(_keeps(known, values.type)).fill_null(False).to_numpy(zero_copy_only=False))


def _are_usual(texts: pa.BinaryArray, type_: pa.DataType) -> bool:
    """Whether it is seen at once that no text loses anything."""
    lengths = pc.min_max(pc.binary_length(texts)).as_py()
    if lengths["max"] is None:
        return True
    if pa.types.is_boolean(type_):
        return bool(lengths["min"] > 1)
    is_double = pa.types.is_floating(type_)
    if not is_double and not pa.types.is_integer(type_):
        return not pa.types.is_timestamp(type_)
    if (is_double and lengths["max"] > _DIGITS) or any(_begin(texts, odd) for odd in _ODD):
        return False
    fractions = _begin(texts, "0.") + _begin(texts, "-0.") if is_double else 0
    zeros = _begin(texts, "0") + _begin(texts, "-0")
    return zeros == fractions + (pc.sum(pc.equal(texts, b"0")).as_py() if zeros else 0)


def _are_of_size(texts: pa.BinaryArray, values: pa.DoubleArray) -> bool:
    """Whether short texts have values that no exponent has made too large for a double, or zero."""
    ends = pc.min_max(values).as_py()
    if ends["max"] is not None and max(-ends["min"], ends["max"]) > _LARGE:
        return False
    zeros = texts.filter(pc.equal(values, 0.0))
    return not pc.any(pc.match_substring(zeros, "e", ignore_case=True)).as_py()


def _begin(texts: pa.BinaryArray, start: str) -> int:
    return pc.sum(pc.starts_with(texts, start)).as_py() or 0


def _keeps(texts: pa.StringArray, type_: pa.DataType) -> pa.BooleanArray:
    """Whether each text keeps all that it says."""
    if pa.types.is_integer(type_):
        return pc.match_substring_regex(texts, _WHOLE)
    if pa.types.is_floating(type_):
        return pc.or_(pc.match_substring_regex(texts, _NO_NUMBER), _keep_digits(texts))
    if pa.types.is_boolean(type_):
        return pc.match_substring_regex(texts, _TRUTH)  # among these Arrow also takes 0 and 1
    if pa.types.is_timestamp(type_):
        return pc.invert(pc.match_substring_regex(texts, _BELOW_MILLISECONDS))
    return texts.is_valid()


def _keep_digits(texts: pa.StringArray) -> pa.BooleanArray:
    """:raises pa.ArrowInvalid: one is not a number."""
    digits = pc.replace_substring_regex(texts, r"[eE].*|[-.\s]", "")
    digits = pc.utf8_rtrim(pc.utf8_ltrim(digits, "0"), "0")
    values = pc.utf8_trim_whitespace(texts).cast(pa.float64())
    is_lost = pc.or_(
        pc.greater(pc.utf8_length(digits), _DIGITS), pc.and_(pc.equal(values, 0.0), pc.not_equal(digits, ""))
    )
    return pc.and_(pc.match_substring_regex(texts, _FRACTION), pc.and_not(pc.is_finite(values), is_lost))


def _all(texts: pa.StringArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())
