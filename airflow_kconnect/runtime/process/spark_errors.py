"""What a Spark error says, in one line."""

from __future__ import annotations

import re

# Objects of one Spark version that another one cannot read.
_OTHER_VERSION = re.compile(r"InvalidClassException|local class incompatible|NoSuchMethodError|NoClassDefFoundError")
# A traceback of Python: its last line begins with the class of the error, whatever its name.
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)+([\w.]+: .*)")


def cause_of(text: str, version: str) -> str:
    """A one-line description of a Spark error.

    :param version: of the driver's Spark: named where executors or the master seem to have another one.
    """
    if not _OTHER_VERSION.search(text):
        return _cause(text)
    return f"{_cause(text)}. The driver has Spark {version}: master and executors must have the same version"


def _cause(text: str) -> str:
    """The lines of a Spark error that say what happened: a Python worker's last output, or the text of the innermost
    error, in Python or Java, preceded by that of a library that wrapped it.
    """
    if (words := _last_words(text)) is not None:
        return words
    lines = [line.strip().removeprefix(": ").removeprefix("Caused by: ") for line in text.splitlines() if line.strip()]
    in_python = set(_TRACEBACK.findall(text))
    named = (line for line in lines if line in in_python or re.match(r"[\w.]*(Error|Exception)\b.*: ", line))
    errors = list(dict.fromkeys(named))
    others = [line for line in errors if not line.startswith(("org.apache.spark.", "pyspark.", "py4j."))]
    if len(others) > 1 and errors[-1] == others[-1]:
        return f"{others[-2]} ({others[-1]})"
    return (errors or lines or ["no reason given"])[-1 if errors else 0]


def _last_words(text: str) -> str | None:
    """What a Python process of Spark wrote before it ended; None if that is not what happened.

    Spark's own error is that it could not read a number from that process.
    """
    match = re.search(r"Error from python worker:\n(.*?)\n\s*PYTHONPATH was:", text, re.DOTALL)
    lines = [line.strip() for line in match[1].splitlines() if line.strip()] if match else []
    if not lines:
        return None
    where = [line for line in lines if line.startswith("File ")]
    return f"a Python worker ended at its start: {lines[-1]}{f' ({where[-1]})' if where else ''}"
