"""32-bit floats as Python's 64-bit ones, and floats as Java prints them."""

from __future__ import annotations

import math
import struct

from airflow_kconnect.java_text.json import canonical_json


def single_of(value: float) -> float:
    """The float with the fewest digits that has the same 32-bit value."""
    exact = exact_single(value)
    texts = (f"{exact:.{digits}g}" for digits in range(1, 10))
    return next((float(text) for text in texts if exact_single(float(text)) == exact), exact)


def exact_single(value: float) -> float:
    """The value rounded to 32 bits; infinite if it is too large."""
    try:
        rounded: float = struct.unpack(">f", struct.pack(">f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def float_text(value: float, *, single: bool) -> str:
    """``Double.toString``, or ``Float.toString``."""
    number = single_of(value) if single else value
    if math.isfinite(number):
        return canonical_json(number)
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
