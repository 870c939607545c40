"""Decimals in Connect's byte format, one by one: the unscaled value as ``BigInteger.toByteArray`` has it."""

from __future__ import annotations

import base64
from decimal import Context, Decimal

from airflow_kconnect.converters.types import MAX_PRECISION


def unscaled_bytes(unscaled: int) -> bytes:
    """The fewest bytes that hold a number and its sign, big-endian."""
    return unscaled.to_bytes((unscaled + (unscaled < 0)).bit_length() // 8 + 1, "big", signed=True)


def decimal_base64(value: Decimal, scale: int) -> str:
    """The bytes of a decimal as text, as in JSON."""
    unscaled = int(value.scaleb(scale, Context(prec=MAX_PRECISION * 2)))
    return base64.b64encode(unscaled_bytes(unscaled)).decode()
