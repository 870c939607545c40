"""The plug-in `kconnect.rough`: a source and a sink in Java that misbehave as their key `mode` says."""

from __future__ import annotations

from pathlib import Path

from tests.support.connect.java_plugins import SINKS, SOURCES, compiled_plugin


def rough_plugin(folder: Path) -> Path:
    """A folder for `plugin.path` with the compiled plug-in.

    :param folder: empty.
    """
    return compiled_plugin(folder, "rough", {SOURCES: "kconnect.rough.RoughSource", SINKS: "kconnect.rough.RoughSink"})
