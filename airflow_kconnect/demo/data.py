"""The demo's data: daily weather and share prices, generated, and the same each time."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta

_FIRST_DAY = date(2021, 1, 1)
_DAYS = 1461
_SYMBOLS = {"ALDER": 24.0, "BIRCH": 61.5, "CEDAR": 12.25, "HAZEL": 140.0, "ROWAN": 88.75}
_MONTHS = 112


def weather_lines() -> list[str]:
    """Lines of a CSV file, one per day of four years: date, rain in mm, highest and lowest temperature in C, sky."""
    chance = random.Random("weather").random
    return [_day(_FIRST_DAY + timedelta(days=number), chance(), chance(), chance()) for number in range(_DAYS)]


def _day(day: date, luck: float, warmth: float, wetness: float) -> str:
    summer = -math.cos(2 * math.pi * (day.timetuple().tm_yday - 20) / 365.25)
    highest = 13.5 + 9.5 * summer + 8 * (warmth - 0.5)
    lowest = highest - 4 - 6 * luck
    rain = 30 * wetness**3 if luck < 0.45 - 0.2 * summer else 0.0
    sky = "sun" if rain == 0 else "snow" if highest < 2 else "rain"
    return f"{day},{rain:.1f},{highest:.1f},{lowest:.1f},{sky}\n"


def stock_rows() -> list[dict[str, str | float]]:
    """Rows of a table, one per month and company: symbol, date, price."""
    chance = random.Random("stocks").random
    rows: list[dict[str, str | float]] = []
    for symbol, price in _SYMBOLS.items():
        for month in range(_MONTHS):
            price *= 1.007 + 0.14 * (chance() - 0.5)
            rows.append(
                {"symbol": symbol, "date": f"{2015 + month // 12}-{month % 12 + 1:02}-01", "price": round(price, 2)}
            )
    return rows
