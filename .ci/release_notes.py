"""The notes of a release: `release_notes.py v0.1.0` prints that version's section of CHANGELOG.md, with absolute links.

The exit code is 1 if the tag is not the version of pyproject.toml, or if the section, or its date, is missing.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def notes(tag: str, project: str, changelog: str) -> str:
    """The notes.

    :param project: the text of pyproject.toml.
    :raises ValueError: there are none, and why.
    """
    found = tomllib.loads(project)["project"]
    version = found["version"]
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but `version` in pyproject.toml is {version}: expected v{version}")
    section = re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if section is None:
        raise ValueError(f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`: rename [Unreleased]")
    target = f"]({found['urls']['Source']}/blob/{tag}/"
    return re.sub(r"\]\((?!https?://|#)", target, section[1].strip()) + "\n"


if __name__ == "__main__":
    try:
        texts = [(REPOSITORY / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CHANGELOG.md")]
        print(notes(sys.argv[1], *texts), end="")
    except ValueError as error:
        sys.exit(f"No release: {error}")
