"""Which classes do not mean the shortcuts that they inherit."""

from __future__ import annotations

import pytest

from airflow_kconnect.runtime.shortcuts import is_overridden


class Quick:
    def render(self) -> None: ...

    def batch_renderer(self) -> None: ...


class Same(Quick):
    """Has both of its parent."""


class Other(Quick):
    def render(self) -> None: ...


class OfOther(Other):
    """Has the method of one parent and the shortcut of another one."""


class Both(Other):
    def render(self) -> None: ...

    def batch_renderer(self) -> None: ...


@pytest.mark.parametrize(
    ("cls", "expected"), [(Quick, False), (Same, False), (Other, True), (OfOther, True), (Both, False), (int, False)]
)
def test_classes(cls: type, expected: bool) -> None:
    assert is_overridden(cls, {"render"}, {"batch_renderer"}) is expected
