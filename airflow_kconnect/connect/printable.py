"""Text of others, before it is printed or becomes a part of a message."""

import re

# Control characters except the tab, line separators, marks that change the text direction, unpaired surrogates.
UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(line: str) -> str:
    """A line of a job's output without anything that could move a terminal's cursor or look like another line."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", line)
