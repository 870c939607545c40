"""Time zones of `db.timezone`: those of the tz database, and the short names that the JDK has besides."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

# java.time.ZoneId.SHORT_IDS, but for those that are in the tz database.
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}


def zone_name(text: str) -> str:
    """The name in the tz database."""
    return _SHORT.get(text, text)


def zone_rule(name: str, value: Any) -> str | None:
    """For validators: why a text is not a time zone; None if it is one."""
    try:
        ZoneInfo(zone_name(value))
    except (KeyError, ValueError, OSError):
        return "is not a time zone; expected a name such as UTC or Europe/Berlin"
    return None
