"""Types that a sample of texts suggests, as far as no text would lose anything in them; else the column is a string."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connectors.record_files.types import Description, described

_WHOLE = r"^\s*(?:0|-?[1-9][0-9]*)\s*$"
_FRACTION = r"^\s*-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?\s*$"
_NO_NUMBER = r"^\s*(?:[nN]a[nN]|[+-]?[iI]nf(?:inity)?)\s*$"
_TRUTH = r"^\s*(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$"
_DIGITS = 15
"""Those that a double holds, whatever they are."""
_BELOW_MILLISECONDS = r"\.[0-9]{3}0*[1-9]"


def exact_type(texts: pa.StringArray, suggested: pa.DataType) -> Description:
    """The type of a column. What may change is the way in which a value is written: `1.10`, ` 5`, `TRUE`, a time zone.

    :param texts: of the sample. :param suggested: a type to which they can be cast.
    """
    texts = texts.drop_null()
    if pa.types.is_integer(suggested):
        is_exact = _all(texts, _WHOLE)
    elif pa.types.is_floating(suggested):
        is_exact = _are_doubles(texts)
    elif pa.types.is_boolean(suggested):
        is_exact = _all(texts, _TRUTH)  # among these Arrow also takes 0 and 1
    elif pa.types.is_timestamp(suggested):
        is_exact = not pc.any(pc.match_substring_regex(texts, _BELOW_MILLISECONDS)).as_py()
    else:
        is_exact = True
    return described(suggested) if is_exact else "string"


def _are_doubles(texts: pa.StringArray) -> bool:
    numbers = texts.filter(pc.invert(pc.match_substring_regex(texts, _NO_NUMBER)))
    if not len(numbers) or not _all(numbers, _FRACTION):
        return False
    digits = pc.replace_substring_regex(numbers, r"[eE].*|[-.\s]", "")
    digits = pc.utf8_rtrim(pc.utf8_ltrim(digits, "0"), "0")
    if pc.max(pc.utf8_length(digits)).as_py() > _DIGITS:
        return False
    try:
        values = pc.utf8_trim_whitespace(numbers).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    is_lost = pc.and_(pc.equal(values, 0.0), pc.not_equal(digits, ""))
    return bool(pc.all(pc.and_(pc.is_finite(values), pc.invert(is_lost))).as_py())


def _all(texts: pa.StringArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())
