"""Compiles the Java classes of this package, once per machine, by the compiler that comes with Spark."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import InternalError
from airflow_kconnect.hosted.jvm.jvm import HostJvm
from airflow_kconnect.hosted.jvm.libraries import CONNECT_VERSION
from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java
from airflow_kconnect.machine.spark_home import spark_home

PACKAGE = "airflow_kconnect"
"""Java's package of the classes."""

_SOURCES = (
    ("airflow_kconnect.hosted.interval", "OffsetFilter"),
    *(("airflow_kconnect.hosted.worker", name) for name in ("RunSecrets", "RunTokens", "SharedPlugins", "TopicGuard")),
)
_COMPILER = ("janino-*.jar", "commons-compiler-*.jar")
_DOING = "compiling the Java classes that runs of Java connectors need"


def own_jar(
    java: Java, class_path: Sequence[Path], folder: Path, progress: Callable[[str], None] | None = None
) -> Path:
    """The jar with the compiled classes: from the cache, or compiled now, which takes a second.

    :param class_path: of Connect's runtime.
    :param folder: private to the run; has the jar where the cache cannot be written.
    :param progress: called with a line of text before they are compiled.
    :raises SetupError: Spark has no Java compiler.
    """
    sources = {name: files(package).joinpath(f"{name}.java").read_text(encoding="utf-8") for package, name in _SOURCES}
    digest = hashlib.sha256("\n".join((CONNECT_VERSION, *sources.values())).encode()).hexdigest()
    cached = cache_folder() / "classes" / f"kconnect-{digest[:12]}.jar"
    if cached.is_file():
        return cached
    if progress is not None:
        progress(_DOING)
    made = folder / cached.name
    with zipfile.ZipFile(made, "w") as archive:
        for class_name, code in _compiled(java, class_path, folder, sources).items():
            archive.writestr(class_name.replace(".", "/") + ".class", code)
    return _kept(made, cached)


def _compiled(java: Java, class_path: Sequence[Path], folder: Path, sources: Mapping[str, str]) -> dict[str, bytes]:
    """Class files by the names of their classes."""
    own = folder / "compiling"
    own.mkdir()
    with HostJvm(
        java, class_path, own, memory="128m", appended=_compiler(), options=("-XX:TieredStopAtLevel=1",)
    ) as jvm:
        compiled: dict[str, bytes] = {}
        for name, source in sources.items():
            compiled |= _classes(jvm, name, source)
        return compiled


def _classes(jvm: HostJvm, name: str, source: str) -> dict[str, bytes]:
    from py4j.protocol import Py4JJavaError

    def compile_it() -> dict[str, bytes]:
        compiler: Any = jvm.view.org.codehaus.janino.SimpleCompiler()
        compiler.cook(source)
        entries = jvm.items(compiler.getBytecodes().entrySet())
        return {str(entry.getKey()): bytes(entry.getValue()) for entry in entries}

    try:
        return jvm.call(_DOING, compile_it)
    except Py4JJavaError as error:
        raise InternalError(f"{PACKAGE}.{name} cannot be compiled: {error.java_exception.toString()}") from None


def _compiler() -> list[Path]:
    home = spark_home()
    jars = [jar for pattern in _COMPILER for jar in sorted((home / "jars").glob(pattern))[-1:]] if home else []
    if len(jars) < len(_COMPILER):
        raise SetupError(
            f"No {' and '.join(_COMPILER)} were found in Spark's jars ({home}): runs of Java connectors need this"
            " compiler once. Install PySpark, or set SPARK_HOME to a whole Spark."
        )
    return jars


def _kept(made: Path, cached: Path) -> Path:
    """Put it into the cache, if that can be written. Two runs may do so at once."""
    part = cached.with_name(f"{cached.name}.{os.getpid()}")
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(made.read_bytes())
        part.rename(cached)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        return made
    return cached
