"""A release has the notes of its version, and none where tag, version and changelog differ."""

from __future__ import annotations

import runpy
import subprocess
import sys

import pytest

from tests.support.pages.markdown import REPOSITORY

SCRIPT = REPOSITORY / ".ci" / "release_notes.py"
notes = runpy.run_path(str(SCRIPT))["notes"]
PROJECT = '[project]\nversion = "1.2.0"\nurls = {Source = "https://example.org/r"}\n'
CHANGELOG = """# Changelog

## [Unreleased]

- Later.

## [1.2.0] - 2027-01-31

### Added

- [A page](docs/page.md), and [more](https://example.org/more).

## [1.1.0] - 2026-12-31

- Earlier.
"""


def test_they_are_the_section_with_absolute_links() -> None:
    page = "[A page](https://example.org/r/blob/v1.2.0/docs/page.md)"
    assert notes("v1.2.0", PROJECT, CHANGELOG) == f"### Added\n\n- {page}, and [more](https://example.org/more).\n"


@pytest.mark.parametrize("tag", ["v1.2.1", "1.2.0", "v1.2"])
def test_another_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match=f"the tag is {tag}, .* expected v1.2.0"):
        notes(tag, PROJECT, CHANGELOG)


@pytest.mark.parametrize("heading", ["## [1.2.0]", "## [1.2.0] - soon", "## [1.20] - 2027-01-31"])
def test_a_version_without_its_section_is_refused(heading: str) -> None:
    with pytest.raises(ValueError, match=r"no section `## \[1.2.0\] - YYYY-MM-DD`"):
        notes("v1.2.0", PROJECT, CHANGELOG.replace("## [1.2.0] - 2027-01-31", heading))


def test_the_command_says_why_there_is_no_release() -> None:
    ran = subprocess.run([sys.executable, str(SCRIPT), "v0.0.0"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and ran.stderr.startswith("No release: the tag is v0.0.0, but ")
